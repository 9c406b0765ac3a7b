/** Tells its own terminal of a request; run under a pseudo-terminal by tell.test.ts. */
import { openNotifier, tellAll } from '../../src/notify/index.ts';
import { noticeOf, silent } from './support.ts';

const notice = noticeOf();
const hostile = { ...notice, request: { ...notice.request, tool: 'a\u001b[2J\nb' } };
process.stdout.write(`${JSON.stringify(await tellAll([openNotifier({ type: 'terminal' }, silent)], hostile))}\n`);
