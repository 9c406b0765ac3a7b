/** A main session as its workflow's memo tells it, for tests that need no session but its facts. */
import type { SessionFacts } from '../../src/protocol/session.ts';

export const MAIN_FACTS: SessionFacts = {
  id: 's',
  kind: 'main',
  main: 's',
  depth: 0,
  workspace: '/w',
  agent: 'default',
  channel: null,
};
