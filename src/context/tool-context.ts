/** Builds the hands that a tool gets, by the kind of its session and by what was approved. A handle that is not built cannot be misused. */
import type { ProtectedPaths } from '../policy/protected.ts';
import type { ResolvedSubject } from '../policy/types.ts';
import type { SessionFacts } from '../protocol/session.ts';
import type { Tool } from '../tools/define-tool.ts';
import type { HandleName, ToolContext } from '../tools/tool-context.ts';
import { openArtifacts } from './state/artifacts.ts';
import { openElevated } from './processes/elevated.ts';
import { openJournal } from './state/journal.ts';
import { hostProcesses, sandboxProcesses } from './processes/processes.ts';
import { throttledProgress } from './progress.ts';
import { sessionProtection } from './files/protected.ts';
import { judgedPaths } from './files/subjects.ts';
import type { SandboxOptions } from './processes/sandbox-status.ts';
import { openSearcher } from './search/searcher.ts';
import { openReader, openWriter } from './files/workspace.ts';

/** Where `shell` runs: in bubblewrap, plainly on the host (approvals then bind only with signatures), or not at all. */
export type ShellBackend = 'sandbox' | 'host' | 'disabled';

export interface ToolContextOptions {
  facts: SessionFacts;
  /** The sessions above this one, up to main: they may read the artifacts that it makes, and what is guarded in their workspaces is guarded here. */
  ancestors: readonly Pick<SessionFacts, 'id' | 'workspace'>[];
  callId: string;
  /** Countersign's own state folder; protected like `protectedPaths`. */
  stateDir: string;
  backend: ShellBackend;
  /** True only for a call that was approved as elevated. */
  allowElevated: boolean;
  /** Further paths that no tool may touch: configuration, keys. */
  protectedPaths: readonly string[];
  sandbox?: SandboxOptions;
  /** Of the call, as policy judged it: what its paths lead to must not have changed since. */
  subjects?: readonly ResolvedSubject[];
  /** Copies of approved scripts, to show in the sandbox. */
  sealed?: readonly { path: string; inside: string }[];
  /** What of the workspace commands in the sandbox may not change; what is built in, unless given. */
  guarded?: ProtectedPaths;
  /** Largest file that is read or written; 100 MB unless given. */
  maxFileBytes?: number;
  signal: AbortSignal;
  /** Hears at most four notices a second. */
  progress?(text: string): void;
}

export async function openToolContext(options: ToolContextOptions): Promise<ToolContext> {
  const {
    facts,
    ancestors,
    callId,
    stateDir,
    backend,
    allowElevated,
    maxFileBytes,
    signal,
    sandbox = {},
    sealed = [],
    subjects = [],
    guarded,
  } = options;
  const protection = sessionProtection(facts.workspace, [stateDir, ...options.protectedPaths]);
  const judged = judgedPaths(subjects);
  const place = {
    root: facts.workspace,
    protection,
    signal,
    judged,
    ...(maxFileBytes !== undefined && { maxFileBytes }),
  };
  const common = {
    session: facts,
    callId,
    signal,
    progress: throttledProgress((text) => options.progress?.(text), signal),
    files: openReader(place),
    searcher: openSearcher({ ...place, backend, sandbox }),
    artifacts: openArtifacts(
      stateDir,
      facts.id,
      ancestors.map(({ id }) => id),
    ),
  };
  if (facts.kind === 'worker') return common;
  return {
    ...common,
    writer: openWriter({ ...place, journal: openJournal(stateDir, facts.id, callId) }),
    ...(backend === 'sandbox'
      ? {
          shell: sandboxProcesses(
            { ...place, sealed, ...(guarded && { guarded }), above: ancestors.map(({ workspace }) => workspace) },
            sandbox,
          ),
        }
      : {}),
    ...(backend === 'host' ? { shell: hostProcesses(place) } : {}),
    ...(allowElevated ? { elevated: openElevated(place) } : {}),
  };
}

/** Handles that the tool cannot do without and this context does not have. */
export const missingHandles = (tool: Pick<Tool, 'needs'>, context: ToolContext): HandleName[] =>
  tool.needs.filter((name) => context[name] === undefined);
