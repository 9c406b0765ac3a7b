/** Exactly what is bundled for the worker. */
export { control } from './control.ts';
export { explain } from './explain.ts';
export { session } from './session.ts';
export { toolCall } from './tool-call.ts';
