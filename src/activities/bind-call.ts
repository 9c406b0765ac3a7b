/** What of a call an approval is bound to besides its arguments: what its command would run. */
import { cancellationSignal } from '@temporalio/activity';
import { type CommandBinding, type CommandSubject, bindCommand, sessionProtection } from '../context/index.ts';
import type { Dependencies } from './dependencies.ts';
import type { Judged } from './judge-call.ts';
import type { KnownSession } from './session-reader.ts';

/** Undefined for a call without a command. */
export async function bindCall(
  { settings, stateDir, protectedPaths }: Dependencies,
  { facts }: KnownSession,
  { subjects }: Pick<Extract<Judged, { ok: true }>, 'subjects'>,
): Promise<CommandBinding | undefined> {
  const [command, ...others] = subjects.filter((subject): subject is CommandSubject => subject.kind === 'command');
  if (!command) return undefined;
  const { backend, sandbox } = settings().config.shell;
  const binding = await bindCommand(command, {
    root: facts.workspace,
    protection: sessionProtection(facts.workspace, [stateDir, ...protectedPaths]),
    sandboxed: backend === 'sandbox',
    sandbox,
    signal: cancellationSignal(),
  });
  if (others.length === 0) return binding;
  const unbound = [...binding.bound.unbound, `${others.length} further command(s) are bound by their words alone`];
  return { ...binding, bound: { ...binding.bound, partly: true, unbound } };
}
