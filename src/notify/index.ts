/** How people are told that a request waits. */
export { type Notice, noticeText, withoutSecrets } from './notice.ts';
export { NotTold, type Notifier, type Surroundings } from './notifier.ts';
export { openNotifier, tellAll } from './tell.ts';
