/** What tools are given, how it is confined, and what is kept of it. */
export { openArtifacts } from './state/artifacts.ts';
export { claimTry, readClaim, recordExecution, type Claim, type Claimed } from './state/claims.ts';
export { forgetHalt, readHalt, recordHalt } from './state/halt-record.ts';
export { stateId } from './state/state-id.ts';
export { sweepState } from './state/sweep.ts';
export { isRevoked, revokeGrant } from './state/revoked-grants.ts';
export { spendApproval, useApproval } from './state/used-approvals.ts';
export { fitResult } from './output/output.ts';
export {
  forgetSandboxStatus,
  sandboxStatus,
  type SandboxOptions,
  type SandboxStatus,
} from './processes/sandbox-status.ts';
export { canonicalPath } from './files/canonical.ts';
export { resolveSubjects } from './files/subjects.ts';
export { bindCommand, type CommandBinding, type CommandSubject } from './processes/bind-command.ts';
export { preparePipes } from './processes/pipes.ts';
export { wasWritable } from './processes/writable.ts';
export { sealCommand, type SealedCommand } from './processes/seal.ts';
export { sessionProtection } from './files/protected.ts';
export { missingHandles, openToolContext, type ShellBackend, type ToolContextOptions } from './tool-context.ts';
export { addTrustedRoot, canonicalWorkspace, listTrustedRoots, removeTrustedRoot } from './files/trusted-roots.ts';
