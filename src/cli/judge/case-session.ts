/** The session that a policy case speaks of: what it says, and for the rest a main session of the default agent. */
import { resolve } from 'node:path';
import type { CaseSession, JudgedSession } from '../../policy/index.ts';
import type { SessionFacts } from '../../protocol/session.ts';

/** @param main what a main session of the folder would be; relative workspaces are meant from its own */
export function caseSession(
  main: SessionFacts,
  { kind = 'main', workspace, channel, ...said }: CaseSession = {},
): JudgedSession {
  const top: SessionFacts = {
    ...main,
    ...said,
    ...(workspace !== undefined && { workspace: resolve(main.workspace, workspace) }),
    ...(channel !== undefined && { channel }),
  };
  if (kind === 'main') return top;
  // A child has no channel of its own; the one that is named is its main session's, which holds for it too.
  return { ...top, id: 'child', kind, parent: top.id, depth: 1, channel: null, above: [top] };
}
