/** `countersign grant`: "always allow", as an act of its own, with an end. */
import type { Command } from 'commander';
import { safeLine } from '../../approval/render/safe-text.ts';
import { CountersignError } from '../../protocol/errors.ts';
import type { Grant, GrantPattern } from '../../protocol/grant.ts';
import { type Signing, deciderOf, signing } from '../calls/decider.ts';
import { type Common, defineCommand, defineGroup, onAction } from '../command.ts';
import { parseArguments } from '../io/input.ts';
import { duration, personName } from '../io/options.ts';
import { note, print, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';
import { type AnyCountersign, withService } from '../service/with-service.ts';
import { findSession } from '../sessions/find-session.ts';
import { mainSession } from '../sessions/main-session.ts';
import { STATUS, type Status } from '../status.ts';

interface Place extends Common {
  session?: string;
}

interface Adding extends Place, Signing {
  for: number;
  glob?: Record<string, string>;
  agent?: string;
  id?: string;
}

interface Revoking extends Place {
  as?: string;
}

const EXAMPLES = `
countersign grant add delete '{"path":"/tmp/build","recursive":true}' --for 8h
countersign grant add shell '{"sandbox":false,"reason":"release"}' --glob 'command=mkdir -p /srv/builds/*' --for 1h
countersign grant list
countersign grant revoke 5f0c              its id, or the beginning of it

A grant covers calls of one tool whose arguments are those given (exactly, or by --glob), in this main session and those below
it, or of one agent below it. It always has an end, 30 days away at most. Deny rules still win. Commands that run other programs or
text (git, npm, make, interpreters) are asked about each time; outside of the sandbox, so is every program that is not known to
run nothing but its words (ls, cp, mkdir and their like are).`;

export function command(ended: Ended): Command {
  const group = defineGroup('grant', 'Remembered approvals: made on purpose, exact, ending, revocable.', EXAMPLES);
  const one = (name: string, description: string): Command =>
    defineCommand(name, description, EXAMPLES).option(
      '--session <id>',
      'the main session (default: that of this folder)',
    );
  const adding = one('add', 'Lets calls like these run without asking.')
    .argument('<tool>', 'the tool')
    .argument('[arguments]', 'exact values by argument, as JSON', '{}')
    .option('--glob <name=pattern>', 'an argument by pattern: * any text, ? one character; may be repeated', collect)
    .option('--agent <name>', 'for all sessions of this agent below the main session')
    .option('--id <id>', 'a name for it')
    .requiredOption('--for <duration>', 'how long it holds, 30d at most', duration);
  group.addCommand(onAction(signing(adding), ended, add));
  group.addCommand(onAction(one('list', 'Lists the grants that hold now.'), ended, list));
  const revoking = one('revoke', 'Takes a grant back for good; anybody may.')
    .argument('<id>', 'its id, or the beginning of it where no other listed one begins so')
    .option(
      '--as <name>',
      'who takes it back (default: your name on this machine); it is recorded, and not verified',
      personName,
    );
  group.addCommand(onAction(revoking, ended, revoke));
  return group;
}

function collect(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new CountersignError('invalid_usage', `--glob takes NAME=PATTERN, as in --glob 'path=docs/*'`);
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

async function add(
  tool: string,
  exact: string,
  { session, agent, id, glob = {}, json, for: forMs, ...who }: Adding,
): Promise<void> {
  const values = Object.entries(parseArguments(exact, 'the arguments'));
  const patterns: Record<string, GrantPattern> = Object.fromEntries([
    ...values.map(([name, value]) => [name, { exact: value }]),
    ...Object.entries(glob).map(([name, pattern]) => [name, { glob: pattern }]),
  ]);
  const { approver, signer } = await deciderOf(who);
  await withMain(session, async (countersign, main) => {
    const grant = await countersign.grants(main).add({
      tool,
      arguments: patterns,
      forMs,
      by: approver,
      ...(id !== undefined && { id }),
      ...(agent !== undefined && { scope: { agent } }),
      ...(signer && { signer }),
    });
    if (json) return printJson(grant);
    print(`granted ${grant.id}${signer ? ', signed' : ', unsigned'}`);
    print(`  ${describe(grant)}`);
    print(
      `  Take it back: countersign grant revoke ${grant.id}${session === undefined ? '' : ` --session ${session}`}`,
    );
  });
}

async function list({ session, json }: Place): Promise<void> {
  await withMain(session, async (countersign, main) => {
    const grants = await countersign.grants(main).list();
    if (json) return void grants.forEach((grant) => printJson(grant));
    if (grants.length === 0) note('No grant holds in this session.');
    for (const grant of grants) print(`${grant.id}  ${describe(grant)}`);
  });
}

async function revoke(named: string, { session, as: by, json }: Revoking): Promise<Status> {
  return withMain(session, async (countersign, main) => {
    const grants = countersign.grants(main);
    const ids = (await grants.list()).map(({ id }) => id);
    const id = meant(named, ids);
    const revoked = await grants.revoke(id, by);
    if (json) printJson({ id, revoked: revoked.listed, ...revoked });
    else if (revoked.listed) print(safeLine(`${id} is revoked, on record as by ${revoked.by} (unverified).`));
    else await sayUnlisted(id, ids);
    return revoked.listed ? STATUS.done : STATUS.otherwise;
  });
}

/** The listed grant of that id, or the only one whose id begins so. An id that is not listed stands for itself. */
function meant(named: string, ids: readonly string[]): string {
  if (named === '' || ids.includes(named)) return named;
  const begun = ids.filter((id) => id.startsWith(named));
  if (begun.length > 1) {
    throw new CountersignError(
      'ambiguous_name',
      `Several grants begin so: ${begun.join(', ')}. Give more of its id: countersign grant revoke ID`,
    );
  }
  return begun[0] ?? named;
}

/** Whoever gave a wrong id must learn that the grant they mean still holds. */
async function sayUnlisted(id: string, ids: readonly string[]): Promise<void> {
  const { nearestNames } = await import('../../tools/index.ts');
  const [near] = nearestNames(id, ids);
  const hint = near === undefined ? 'See what holds: countersign grant list' : `Did you mean ${near}?`;
  note(safeLine(`No grant ${id} is listed here; those that are listed still hold. ${hint}`));
  note(
    'Should there be a grant of exactly this id elsewhere, it lets nothing run any more, and the id is not used again.',
  );
}

/** Grants are kept by main sessions; a child's name means the one above it. */
function withMain<T>(
  session: string | undefined,
  work: (countersign: AnyCountersign, main: string) => Promise<T>,
): Promise<T> {
  return withService(async (countersign) => {
    const main =
      session === undefined
        ? (await mainSession(countersign)).id
        : (await findSession(countersign, session)).facts.main;
    return work(countersign, main);
  });
}

function describe({ tool, arguments: patterns, scope, place, by, expiresAt, signature }: Grant): string {
  const named = Object.entries(patterns).map(([name, pattern]) =>
    'exact' in pattern ? `${name}=${JSON.stringify(pattern.exact)}` : `${name}~${pattern.glob}`,
  );
  const whose = 'agent' in scope ? `agent ${scope.agent}` : `session ${scope.session}`;
  const where = `${whose} in ${place.workspace}`;
  const signed = signature === undefined ? 'unsigned' : 'signed';
  return safeLine(
    `${tool} ${named.join(' ')}  ${where}  by ${by} (${signed})  until ${new Date(expiresAt).toISOString()}`,
  );
}
