/** Pure decisions about calls, and what is told about them. */
export { availability } from './availability.ts';
export { type CaseAnswer, type CaseResult, type CaseSession, type PolicyCase, runPolicyCases } from './cases.ts';
export { contradictions, type Contradiction } from './contradictions.ts';
export { policyDiff, type PolicyChange, type RecordedCall } from './diff.ts';
export { judge } from './judge.ts';
export { LAYERS, type Layer } from './scopes.ts';
export { argumentsOverLimit, type LimitProblem, toolOverLimit } from './limits.ts';
export { type PromptTool, describedFor, toolsPrompt } from './prompt.ts';
export { compileRules, defaultRules, hashOf, type Rules } from './rules.ts';
export {
  fileOperands,
  hasSecondParser,
  isRememberable,
  preparePolicy,
  safeCommand,
  type SafeCommand,
  unknownProgram,
} from './shell/index.ts';
export type * from './settings.ts';
export type * from './types.ts';
