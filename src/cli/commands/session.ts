/** `countersign session`: opens, lists, shows and closes sessions. */
import { type Command, Option } from 'commander';
import type { SessionClosed, SessionFacts, SessionState, SessionView } from '../../client/index.ts';
import { readSessionClosed, readSessionView } from '../../protocol/answers.ts';
import { CountersignError } from '../../protocol/errors.ts';
import { sessionWorkflowId } from '../../protocol/ids.ts';
import { SESSION_MESSAGE } from '../../protocol/names.ts';
import { SESSION_KINDS, type SessionKind } from '../../protocol/session.ts';
import { type Common, defineCommand, defineGroup, onAction } from '../command.ts';
import { realFolder } from '../sessions/main-session.ts';
import { note, print, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';
import { sessionText } from '../render/session.ts';
import { safeLine } from '../../approval/render/safe-text.ts';
import { withSpinner } from '../render/spinner.ts';
import { table } from '../render/table.ts';
import { type AnyCountersign, withService } from '../service/with-service.ts';
import { findSession } from '../sessions/find-session.ts';

const EXAMPLES = `
countersign session open --workspace . --id build-17
countersign session open --kind branch --parent build-17 --id tests
countersign session list --all
countersign session close build-17`;

interface OpenOptions extends Common {
  kind?: SessionKind;
  parent?: string;
  workspace?: string;
  agent?: string;
  channel?: string;
  id?: string;
}

export function command(ended: Ended): Command {
  const group = defineGroup('session', 'Opens, lists, shows and closes sessions.', EXAMPLES);
  const one = (name: string, description: string): Command => defineCommand(name, description, EXAMPLES);
  const opened = one('open', 'Opens a session, or finds the open one of that id.')
    .addOption(
      new Option(
        '--kind <kind>',
        'main reaches a person; branch and worker are children (default: main, with --parent branch)',
      ).choices(SESSION_KINDS),
    )
    .option('--parent <id>', 'the session above, for branch and worker')
    .option('--workspace <dir>', 'the folder to work in (default: this one, or the parent’s)')
    .option('--agent <id>', 'the agent, as the configuration declares it')
    .option('--channel <name>', 'where requests for approval are shown; none: nowhere (default: inbox)')
    .option('--id <id>', 'the session’s id; made up unless given');
  group.addCommand(onAction(opened, ended, open));
  group.addCommand(
    onAction(one('list', 'Lists sessions, newest first.').option('--all', 'those that have ended, too'), ended, list),
  );
  group.addCommand(onAction(one('show', 'Shows a session.').argument('<id>', 'the session'), ended, show));
  const closing = one(
    'close',
    'Closes a session: its waiting calls are denied, running ones cancelled, its children closed.',
  );
  group.addCommand(onAction(closing.argument('<id>', 'the session'), ended, close));
  return group;
}

async function open(options: OpenOptions): Promise<void> {
  const { kind = options.parent === undefined ? 'main' : 'branch', json } = options;
  checkOpen(kind, options);
  await withService(async (countersign) => {
    const facts = await withSpinner('open session', () =>
      kind === 'main' ? openMain(countersign, options) : openChild(countersign, kind, options),
    );
    if (json) printJson({ ...facts, state: 'open' });
    else print(sessionText({ ...facts, state: 'open' }));
  });
}

function checkOpen(kind: SessionKind, { parent, channel }: OpenOptions): void {
  if (kind === 'main' && parent !== undefined)
    throw new CountersignError(
      'invalid_usage',
      'a main session has no parent; leave out --parent, or use --kind branch',
    );
  if (kind !== 'main' && parent === undefined)
    throw new CountersignError('invalid_usage', `a ${kind} session needs --parent ID`);
  if (kind !== 'main' && channel !== undefined)
    throw new CountersignError('invalid_usage', `a ${kind} session asks through its parent; leave out --channel`);
}

async function openMain(
  countersign: AnyCountersign,
  { workspace = '.', agent, channel, id }: OpenOptions,
): Promise<SessionFacts> {
  const session = await countersign.openSession({
    workspace: await realFolder(workspace),
    ...(id !== undefined && { id }),
    ...(agent !== undefined && { agent }),
    ...(channel !== undefined && { channel: channel === 'none' ? null : channel }),
  });
  return session.facts;
}

async function openChild(
  countersign: AnyCountersign,
  kind: 'branch' | 'worker',
  { parent = '', workspace, agent, id }: OpenOptions,
): Promise<SessionFacts> {
  const above = await countersign.session(parent);
  const child = await above.branch({
    kind,
    ...(id !== undefined && { id }),
    ...(agent !== undefined && { agent }),
    ...(workspace !== undefined && { workspace: await realFolder(workspace) }),
  });
  return child.facts;
}

async function list({ all = false, json }: Common & { all?: boolean }): Promise<void> {
  await withService(async (countersign) => {
    const sessions = await countersign.sessions({ all });
    if (json) return sessions.forEach(({ facts, state }) => printJson({ ...facts, state }));
    if (sessions.length === 0) return note('No session is open. Open one: countersign session open');
    const rows = sessions.map(({ facts, state }) => [
      facts.id,
      facts.kind,
      state,
      facts.parent ?? '',
      safeLine(facts.agent),
      safeLine(facts.channel ?? ''),
      safeLine(facts.workspace),
    ]);
    for (const line of table(['ID', 'KIND', 'STATE', 'PARENT', 'AGENT', 'CHANNEL', 'WORKSPACE'], rows)) print(line);
  });
}

async function show(id: string, { json }: Common): Promise<void> {
  await withService(async (countersign) => {
    const view = await viewOf(countersign, id);
    if (json) printJson(view);
    else print(sessionText(view));
  });
}

/** What the session says of itself; of a closed one, its record. */
async function viewOf(
  countersign: AnyCountersign,
  id: string,
): Promise<SessionView | (SessionFacts & { state: SessionState })> {
  const { facts, state } = await findSession(countersign, id);
  const { above: _, ...own } = facts;
  if (state === 'closed') return { ...own, state };
  const view = await countersign.temporal.workflow.getHandle(sessionWorkflowId(id)).query(SESSION_MESSAGE.view);
  return readSessionView(view, { facts: own, state });
}

async function close(id: string, { json }: Common): Promise<void> {
  await withService(async (countersign) => {
    const { state } = await findSession(countersign, id);
    const closed =
      state === 'closed' ? undefined : await withSpinner(`close ${id}`, () => closeSession(countersign, id, state));
    if (json)
      return printJson({
        id,
        state: 'closed',
        ...(closed ?? { reason: 'it was closed before', callsEnded: 0, callsLeft: 0, childrenLeft: [] }),
      });
    if (!closed) return print(`Session ${id} was closed before.`);
    const calls = closed.callsEnded === 0 ? 'no call was open' : `${closed.callsEnded} open call(s) ended`;
    print(`Session ${id} is closed; ${calls}.`);
    if (closed.callsLeft > 0)
      print(`${closed.callsLeft} call(s) were told to end and have not yet: countersign audit '${id}'`);
    if (closed.childrenLeft.length > 0)
      print(`Children that have not reported their end: ${closed.childrenLeft.join(', ')}`);
  });
}

/** One that closes already is waited for. */
async function closeSession(countersign: AnyCountersign, id: string, state: SessionState): Promise<SessionClosed> {
  if (state === 'open') return (await countersign.session(id)).close();
  return readSessionClosed(await countersign.temporal.workflow.getHandle(sessionWorkflowId(id)).result());
}
