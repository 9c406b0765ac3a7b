/** Exactly what is bundled for the worker. */
export { session } from './session.ts';
export { toolCall } from './tool-call.ts';
