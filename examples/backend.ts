/**
 * A backend that runs an agent's tool calls, from the first connection to the last outcome.
 *
 *   npm start                      in one terminal, in a clone
 *   npx node examples/backend.ts   in another one, in the same folder
 *
 * In a project of your own, import from 'countersign' instead of '../src/client/index.ts'.
 */
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  Countersign,
  CountersignError,
  type JsonObject,
  type Outcome,
  type SessionHandle,
} from '../src/client/index.ts';

// Finds the service of this machine, or the Temporal server that TEMPORAL_ADDRESS names.
await using countersign = await Countersign.connect();

// A workspace must lie in a folder that the worker trusts: as a rule the one where the service was started.
await mkdir('.countersign', { recursive: true });
const workspace = await realpath(await mkdtemp(join('.countersign', 'example-')));

// One session for each conversation. The same id with the same start data attaches to the open one.
const session = await countersign.openSession({ workspace });
try {
  await typedCalls(session);
  await callsOfAModel(session);
  await branchAndApproval(session);
} catch (error) {
  // What is wrong with the call itself is thrown, with a stable code; docs/errors.md lists them.
  if (!(error instanceof CountersignError)) throw error;
  console.error(`${error.code}: ${error.message}`);
  process.exitCode = 1;
} finally {
  // Waiting calls are denied, running ones cancelled, child sessions closed.
  const { callsEnded } = await session.close('the example is over');
  console.log(`session closed, ${callsEnded} call(s) were still open`);
  await rm(workspace, { recursive: true, force: true });
}

/** Arguments are checked by the compiler, and again by the service. Each outcome comes back as a value, whatever it is. */
async function typedCalls(main: SessionHandle): Promise<void> {
  // With an id of your own a repeated start is the same call: safe after a crash of this program.
  const written = await main.call('write', { path: 'notes.md', content: '# Notes\n' }, { callId: 'first-note' });
  report('write', written);
  const again = await main.call('write', { path: 'notes.md', content: '# Notes\n' }, { callId: 'first-note' });
  report('write again, which ran nothing', again);
}

/** A model's calls: names and arguments are known only now, and may be wrong. The model gets two corrections. */
async function callsOfAModel(main: SessionHandle): Promise<void> {
  const call = await main.startUntyped('write', { path: 'plan.md', text: 'one, two, three\n' });
  let seen = 0;
  for (;;) {
    const settled = await call.settled(seen);
    if (settled.state === 'done') return report('write, corrected', settled.outcome);
    seen = settled.seq;
    const { waiting } = settled;
    if (waiting.for === 'approval') continue;
    console.log(
      `attempt ${waiting.attempt}: ${waiting.error.code} at ${waiting.error.field ?? '?'}: ${waiting.error.message}`,
    );
    await call.amend(askTheModel(waiting.error.schema), waiting.attempt);
  }
}

/** Stands in for a model that is shown the error and the tool's schema. */
function askTheModel(_schema: JsonObject | undefined): JsonObject {
  return { path: 'plan.md', content: 'one, two, three\n' };
}

/** A sub-agent works in a child session. What it may not decide goes up to the main session's people. */
async function branchAndApproval(main: SessionHandle): Promise<void> {
  const branch = await main.branch();
  report('shell, in the sandbox', await branch.call('shell', { command: 'wc -l *.md' }));

  const elevated = { command: 'git --version', sandbox: false, reason: 'which git does this machine have' };
  const call = await branch.start('shell', elevated);
  const settled = await call.settled();
  if (settled.state === 'done') return report('shell, outside of the sandbox', settled.outcome);

  // What follows is an approver's program: another process, with a person in front of it.
  const pending = await countersign.approvals.pending({ session: branch.id });
  console.log(`${pending.length} request waits: ${pending.map(({ code }) => code).join(' ')}`);
  const request = await countersign.approvals.show(call.id);
  console.log(
    `${request.code}: ${request.request.tool} ${JSON.stringify(request.arguments)}, because ${request.reason}`,
  );
  const { answer, message } = await countersign.approvals.approve(request, { approver: 'ann', reason: 'only reads' });
  console.log(`${answer}: ${message}`);

  report('shell, outside of the sandbox', await call.outcome());
}

function report(what: string, { status, display, error, approval }: Outcome): void {
  const by = approval ? ` (${approval.decision} by ${approval.approver})` : '';
  console.log(`${what}: ${status}${by}  ${error?.message ?? display?.trim().replaceAll('\n', ' · ') ?? ''}`);
}
