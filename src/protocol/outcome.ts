/** How calls are judged and how they end. */
import type { BoundCommand, LadderStep, RoleAsked } from './approval.ts';
import type { Preview } from './preview.ts';
import type { StandingGrant } from './grant.ts';
import type { Json, JsonObject } from './json.ts';
import type { ErrorCode, ErrorKind } from './errors.ts';
import type { Effect, Tier, ToolLimits } from './tool.ts';

/** How a call ended. `unknown`: its worker was lost while a `once` tool ran, so nobody can say whether it happened. */
export const OUTCOME_STATUSES = [
  'completed',
  'failed',
  'invalid',
  'denied',
  'expired',
  'timed_out',
  'cancelled',
  'unknown',
] as const;
export type OutcomeStatus = (typeof OUTCOME_STATUSES)[number];

/** An error as callers, models and people see it. */
export interface CallError {
  kind: ErrorKind;
  code: ErrorCode;
  /** What is wrong and what to do about it. */
  message: string;
  /** JSON pointer (RFC 6901) to the failing argument; only with ValidationError. */
  field?: string;
  /** The tool's JSON Schema; only with ValidationError of a known tool. */
  schema?: JsonObject;
}

/** A file or record that a call made, or output too large for the model, by content hash. */
export interface Artifact {
  /** `sha256:` and 64 hexadecimal digits. */
  hash: string;
  bytes: number;
  mediaType: string;
  /** Path inside the workspace, where the artifact is a file there. */
  path?: string;
  /** What it is, for people: `stdout`, `full output`, a file's name. */
  name?: string;
}

/** What a tool gives back, already cut to its limits. */
export interface ToolResult {
  /** For the model. */
  output: Json;
  /** For people; plain text. */
  display?: string;
  artifacts?: Artifact[];
}

/** How a call came to be allowed by a person or a grant. */
export interface ApprovalRecord {
  approver: string;
  /** False until a signature by the approver's key was checked. */
  verified: boolean;
  decision: 'approve' | 'deny';
  reason?: string;
  /** Id of the grant that stood in for a person. */
  grant?: string;
  /** All who decided, where more than one had to agree. */
  approvers?: string[];
  /** True where one emergency approver stood in for the others. */
  override?: true;
  /** True where the approver changed the arguments; the model is told. */
  edited?: true;
  /** Then: what the approver put in the place of the arguments asked for. */
  arguments?: JsonObject;
}

export interface Outcome {
  status: OutcomeStatus;
  output?: Json;
  display?: string;
  artifacts?: Artifact[];
  error?: CallError;
  /** Sets of arguments seen (1 to 3). */
  attempts: number;
  /** Executions started. */
  tries: number;
  approval?: ApprovalRecord;
}

/** One rule that had something to say, in the order in which the layers speak. */
export interface TraceStep {
  layer: string;
  rule: string;
  effect: 'allow' | 'ask' | 'deny' | 'raise' | 'none';
  reason: string;
}

/** What is recorded about why a call may or may not run. */
export interface Judgement {
  verdict: 'run' | 'ask' | 'deny';
  /** The call's tier, raised by its own risk where that applies. */
  tier: Tier;
  /** The deciding rule, named as in the trace. */
  rule: string;
  /** Why, in one line for models and people. */
  reason: string;
  trace: TraceStep[];
  /** What raised the tier above the tool's own, one line each; empty where nothing did. */
  tierReasons: string[];
  /** With verdict `deny`: what kind of refusal it is. */
  code?: DenyCode;
  /**
   * With verdict `run` of a command outside of the sandbox that nobody was asked about: the command line rebuilt from what was
   * judged, every word quoted. It runs instead of the model's text, so that what was judged is what runs.
   */
  command?: string;
  /** Hash of the rule set that judged. */
  policy: string;
}

/** The refusals that policy makes. */
export type DenyCode = Extract<
  ErrorCode,
  'policy_denied' | 'policy_failed' | 'tool_unavailable' | 'missing_capability' | 'outside_workspace' | 'protected_path'
>;

/** What the workflow needs to know of the tool to run it; recorded, so later changes to the tool change nothing here. */
export interface Plan {
  effect: Effect;
  limits: ToolLimits;
}

/** What preparation says of one attempt. */
export type Prepared =
  /** `correctionMs`: how long the call waits for other arguments; 0 where none can help. */
  | { verdict: 'invalid'; error: CallError; correctionMs: number }
  | { verdict: 'deny'; judgement?: Judgement; error: CallError }
  | { verdict: 'ask'; judgement: Judgement; plan: Plan; ask: Ask }
  /** `grant`: policy asked, and a grant stands in for a person. */
  | { verdict: 'run'; judgement: Judgement; plan: Plan; result?: Execution; grant?: StandingGrant };

/** What is bound and shown when a person has to decide. */
export interface Ask {
  /** Digest over the exact content; see src/approval/digest.ts. */
  digest: string;
  runId: string;
  /** Milliseconds since the epoch. */
  requestedAt: number;
  /** Milliseconds since the epoch. */
  expiresAt: number;
  /** The arguments that would run, normalised. */
  arguments: JsonObject;
  /** Hash of the tool's name, schema and version. */
  fingerprint: string;
  workspace: string;
  agent: string;
  /** For a command: what of it is bound besides its words. */
  bound?: BoundCommand;
  /** Approvers that have to agree. */
  required: number;
  /** Names of those who may decide, the first 50; empty where anybody may. */
  approvers: string[];
  /** What is done while nobody decides, in order of time. */
  ladder: LadderStep[];
  /** Of the ladder's roles, who may decide; absent where it asks none before the request expires. */
  roles?: RoleAsked[];
  /** Ids of the sessions from the call's own up to main. */
  route: string[];
  preview?: Preview;
  /** One line that names the call. */
  summary: string;
  /** The request as Markdown, for the call's page in the Temporal UI. */
  markdown: string;
}

/** How one execution ended, as the activity reports it. */
export type Execution =
  | ({ status: 'completed' } & ToolResult)
  /** Nothing ran: the service is halted. */
  | { status: 'held'; error: CallError }
  /** Nothing ran: the decision or the grant that should let the call run does not hold. Another one may. */
  | { status: 'refused'; error: CallError }
  | { status: 'failed' | 'denied' | 'timed_out' | 'unknown'; error: CallError; artifacts?: Artifact[] };

/** What `explain` answers: the verdict on a call that is not run. */
export interface Explanation {
  verdict: 'run' | 'ask' | 'deny' | 'invalid';
  /** null where the call came to no rule: its tool or its arguments are wrong. */
  tier: Tier | null;
  /** What of this call raises its tier. */
  tierReasons: string[];
  /** What decided, and why. */
  rule: string | null;
  reason: string | null;
  trace: TraceStep[];
  error?: CallError;
}
