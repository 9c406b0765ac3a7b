/** What tools are given, how it is confined, and what is kept of it. */
export { openArtifacts } from './artifacts.ts';
export { claimTry, readClaim, recordExecution, sweepClaims, type Claim, type Claimed } from './claims.ts';
export { fitResult } from './output.ts';
export { forgetSandboxStatus, sandboxStatus, type SandboxOptions, type SandboxStatus } from './sandbox.ts';
export { canonicalPath, resolveSubjects } from './subjects.ts';
export { missingHandles, openToolContext, type ShellBackend, type ToolContextOptions } from './tool-context.ts';
export { addTrustedRoot, canonicalWorkspace, listTrustedRoots, removeTrustedRoot } from './trusted-roots.ts';
