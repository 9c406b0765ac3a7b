/** Pure decisions about calls, and what is told about them. */
export { judge } from './judge.ts';
export { availability } from './availability.ts';
export { compileRules, defaultRules, hashOf, type Rules } from './rules.ts';
export { fileOperands, isRememberable, preparePolicy, safeCommand, type SafeCommand } from './shell/index.ts';
export { LAYERS } from './layers.ts';
export type * from './types.ts';
export type * from './settings.ts';
