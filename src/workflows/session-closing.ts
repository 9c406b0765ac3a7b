/** The end of a session: its children are told, its calls ended, until nothing of it runs. */
import {
  condition,
  getExternalWorkflowHandle,
  proxyActivities,
  sleep,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { sessionWorkflowId } from '../protocol/ids.ts';
import { SEARCH_ATTRIBUTE } from '../protocol/names.ts';
import { signalIfThere } from './external.ts';
import { closeSignal } from './messages.ts';
import type { Session } from './session-state.ts';

const { endCalls } = proxyActivities<Activities>({
  startToCloseTimeout: '60s',
  retry: { initialInterval: '1s', maximumInterval: '10s' },
  summary: 'end the calls that still run',
});

/** Facts about sessions are cached by workers for this long; a call judged by such a fact shows up in the second list. */
const CACHE_LIFE_MS = 5_000;
/** Children that have not reported their end by then are named in the result instead of awaited. */
const CHILDREN_MS = 60_000;

/** Waits until the session is told to close, then ends its children and its calls. */
export async function closing(self: Session): Promise<void> {
  await condition(() => self.state === 'closing');
  upsertSearchAttributes({ [SEARCH_ATTRIBUTE.state]: ['closing'] });
  const reason = `its parent closed: ${self.closeReason ?? ''}`.slice(0, 200);
  for (let empty = 0; empty < 2;) {
    await tellChildren(self, reason);
    const count = await endCalls(self.facts.id);
    self.callsEnded += count;
    empty = count === 0 ? empty + 1 : 0;
    if (empty < 2) await sleep(count === 0 ? CACHE_LIFE_MS : 500, { summary: 'see whether calls still run' });
  }
  await condition(() => self.children.size === 0, CHILDREN_MS, { summary: 'children end' });
}

/** In each round, for a child may have been in the making when the closing began. */
async function tellChildren(self: Session, reason: string): Promise<void> {
  await Promise.all(
    [...self.children.keys()].map(async (id) => {
      const there = await signalIfThere(getExternalWorkflowHandle(sessionWorkflowId(id)), closeSignal, reason);
      if (!there) self.children.delete(id);
    }),
  );
}
