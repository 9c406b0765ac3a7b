/** Workflows of a stranger under the names of a call and a session, who answer and return what a terminal would obey. */
import { condition, defineQuery, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';

/** Every text of it is obeyed by a terminal that is given it as it stands. */
const paint = '\u001b[2J\u009b2Jpainted';
const painted = {
  code: paint,
  message: paint,
  status: paint,
  answer: paint,
  state: paint,
  opened: false,
  accepted: false,
};

function answerAll(): void {
  for (const name of ['approval', 'view', 'pending', 'standing', 'grants'])
    setHandler(defineQuery<unknown>(name), () => [painted]);
  for (const name of ['decide', 'opened', 'openChild', 'close', 'addGrant', 'revokeGrant', 'settle', 'amend'])
    setHandler(defineUpdate<unknown, []>(name), () => painted);
}

async function until(): Promise<void> {
  let over = false;
  setHandler(defineSignal('finish'), () => void (over = true));
  await condition(() => over);
}

export async function session(): Promise<unknown> {
  answerAll();
  await until();
  return { reason: paint, callsEnded: paint, callsLeft: paint, childrenLeft: [paint] };
}

export async function toolCall(): Promise<unknown> {
  answerAll();
  await until();
  return { status: 'completed', error: painted, artifacts: [{ hash: paint, bytes: paint }], approval: { approver: 1 } };
}
