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
/** A call that has not ended by then is left to itself: who starts a workflow in the name of a call that no worker takes keeps no session open. */
const CALLS_MS = 30_000;
const FIRST_PAUSE_MS = 500;
/** Children that have not reported their end by then are named in the result instead of awaited. */
const CHILDREN_MS = 60_000;

/** Waits until the session is told to close, then ends its children and its calls. */
export async function closing(self: Session): Promise<void> {
  await condition(() => self.state === 'closing');
  upsertSearchAttributes({ [SEARCH_ATTRIBUTE.state]: ['closing'] });
  const reason = `its parent closed: ${self.closeReason ?? ''}`.slice(0, 200);
  await endOwnCalls(self, () => tellChildren(self, reason));
  await condition(() => self.children.size === 0, CHILDREN_MS, { summary: 'children end' });
}

/** Tells them to end until listings have had none twice, each time telling the children first. */
async function endOwnCalls(self: Session, tellBelow: () => Promise<void>): Promise<void> {
  const until = Date.now() + CALLS_MS;
  let most = 0;
  let pause = FIRST_PAUSE_MS;
  for (let empty = 0; ;) {
    await tellBelow();
    const open = await endCalls(self.facts.id);
    most = Math.max(most, open);
    empty = open === 0 ? empty + 1 : 0;
    const late = Date.now() > until;
    if (empty === 2 || (open > 0 && late)) {
      self.callsEnded = most - open;
      self.callsLeft = open;
      return;
    }
    await sleep(open === 0 ? CACHE_LIFE_MS : pause, { summary: 'see whether calls still run' });
    pause = Math.min(pause * 2, CACHE_LIFE_MS);
  }
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
