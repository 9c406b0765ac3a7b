/** Whether a grant covers a call, and whether it is its maker's. Pure; deny rules have spoken before anybody asks here. */
import { matchText } from '../policy/paths.ts';
import { compilePattern } from '../policy/patterns.ts';
import { isRememberable, safeCommand, unknownProgram } from '../policy/shell/index.ts';
import type { CallFacts } from '../policy/types.ts';
import type { BoundCommand } from '../protocol/approval.ts';
import { type Grant, type GrantPattern, type GrantPlace, isGrant } from '../protocol/grant.ts';
import type { JsonObject } from '../protocol/json.ts';
import type { Tier } from '../protocol/tool.ts';
import { type Approver, type Asked, approverNamed, hasEnded, mayDecide } from './approvers.ts';
import { grantPayload } from './payload.ts';
import { isSignature, parsePublicKey } from './public-key.ts';
import { CLOCK_SKEW_MS, type Refused, type SignatureSettings, notListed } from './verify.ts';

/** What a grant is checked for. `place`: of the call's main session, as far as it is known; an audit may know a part. */
export interface AskedHere extends Asked {
  place: Partial<GrantPlace>;
}

/** A call that policy asks about, as far as it matters for grants. */
export interface GrantableCall extends AskedHere {
  place: GrantPlace;
  facts: CallFacts;
  session: string;
  /** Sessions above it. */
  ancestors: readonly string[];
  /** Approvers that it needs; more than one can't be stood in for. */
  required: number;
  /** For a command. */
  bound?: BoundCommand | undefined;
}

/**
 * Whether the grant may be used at this time and place on calls like this: its form, its maker, the maker's signature as the settings want it.
 * With `required` an unsigned grant is none; one with a bad signature never is.
 */
export function verifyGrant(
  grant: Grant,
  asked: AskedHere,
  { signatures, approvers }: SignatureSettings,
  now: number,
): { ok: true; verified: boolean } | Refused {
  const bad = (reason: string) => ({ ok: false, code: 'bad_signature', reason }) as const;
  try {
    if (!isGrant(grant)) return bad('This is no grant.');
    if (grant.expiresAt <= now) return bad(`Grant ${grant.id} has expired.`);
    if (grant.at > now + CLOCK_SKEW_MS) return bad(`Grant ${grant.id} says that it is made in the future.`);
    if (!isFor(grant.place, asked.place)) return bad(`Grant ${grant.id} is made for another service or workspace.`);
    const approver = approverNamed(approvers, grant.by);
    if (!approver && (approvers.length > 0 || signatures === 'required' || grant.signature !== undefined))
      return notListed(grant.by, approvers);
    if (approver && hasEnded(approver, now)) return bad(`${JSON.stringify(grant.by)} is no longer an approver.`);
    if (approver && !mayDecide(approver, asked))
      return bad(`${JSON.stringify(grant.by)} may not decide on such a call.`);
    if (grant.signature === undefined)
      return signatures === 'required' ? bad(`Grant ${grant.id} is not signed.`) : { ok: true, verified: false };
    return hasSigned(grant, approver)
      ? { ok: true, verified: true }
      : bad(`The signature of grant ${grant.id} is not that of ${JSON.stringify(grant.by)}.`);
  } catch {
    return bad('The grant could not be read.');
  }
}

const isFor = (made: GrantPlace, { namespace = made.namespace, workspace = made.workspace }: Partial<GrantPlace>) =>
  made.namespace === namespace && made.workspace === workspace;

function hasSigned(grant: Grant, approver: Approver | undefined): boolean {
  const key = approver?.publicKey === undefined ? undefined : parsePublicKey(approver.publicKey);
  return key !== undefined && grant.signature !== undefined && isSignature(key, grantPayload(grant), grant.signature);
}

/** The first grant that covers the call. Who made it and whether it was revoked is another question: see {@link verifyGrant}. */
export function matchGrant(grants: readonly Grant[], call: GrantableCall, now: number): Grant | undefined {
  if (call.required > 1 || !canBeRemembered(call)) return undefined;
  return grants.find(
    (grant) => isGrant(grant) && grant.expiresAt > now && isInScope(grant, call) && covers(grant, call.facts),
  );
}

const isInScope = ({ scope }: Grant, { session, ancestors, agent }: GrantableCall): boolean =>
  'session' in scope ? scope.session === session || ancestors.includes(scope.session) : scope.agent === agent;

/** Never what runs other text or programs; and, outside of the sandbox, only what is known to run nothing but its words. */
const canBeRemembered = (call: GrantableCall): boolean => notRemembered(call) === undefined;

/** Why no grant stands in for a person on such a call, in words that end no sentence; undefined where one may. */
function notRemembered({ facts, tier, bound }: GrantableCall): string | undefined {
  for (const subject of commands(facts)) {
    if (!isRememberable(subject.command)) return 'it runs other programs or text, or cannot be read';
    if (isInside(subject, tier)) continue;
    if (bound === undefined || bound.partly)
      return `outside of the sandbox ${bound?.unbound[0] ?? 'it is not bound to its programs'}`;
    if (bound.scripts.length > 0) return 'outside of the sandbox it runs files of the workspace';
  }
  return undefined;
}

const commands = ({ subjects }: CallFacts) => subjects.filter((subject) => subject.kind === 'command');

const isInside = ({ sandbox }: { sandbox: boolean }, tier: Tier): boolean => tier !== 'elevated' && sandbox;

/** Why a grant could never be used, as far as its arguments alone tell; undefined where it may be. */
export function neverUsed({ arguments: patterns }: Grant, commandArgument: string): string | undefined {
  const pattern = Object.hasOwn(patterns, commandArgument) ? patterns[commandArgument] : undefined;
  if (!pattern || ('exact' in pattern && typeof pattern.exact !== 'string')) return undefined;
  if ('exact' in pattern) return isRememberable(String(pattern.exact)) ? undefined : NEVER;
  const program = PROGRAM.exec(pattern.glob)?.[0].trim();
  if (program === undefined) return 'a pattern of commands begins with the name of a program, in full';
  return isRememberable(program) ? undefined : NEVER;
}

const NEVER =
  'what runs other programs or text, as git, npm, make and interpreters do, or cannot be read, is asked about each time';

/** A program named in full, at the beginning of a glob. */
const PROGRAM = /^[^\s*?]+( |$)/;

/** Why no grant stands in where several approvers have to agree; undefined where one is enough. */
export const needsSeveral = (required: number): string | undefined =>
  required > 1 ? `such calls need ${required} approvers, and a grant is the word of one` : undefined;

/** A call that the grant covers: as it is spelled out, or with a letter in the place of each star; undefined where a glob is not that simple. */
export function exampleCall({ arguments: patterns }: Grant): { arguments: JsonObject; exact: boolean } | undefined {
  const all = Object.entries(patterns);
  if (all.some(([, pattern]) => 'glob' in pattern && /[{}[\]\\]/.test(pattern.glob))) return undefined;
  const values = all.map(([name, pattern]) => [
    name,
    'exact' in pattern ? pattern.exact : pattern.glob.replace(/\*+|\?/g, 'x'),
  ]);
  return {
    arguments: Object.fromEntries(values) as JsonObject,
    exact: all.every(([, pattern]) => 'exact' in pattern),
  };
}

/** Why no grant stands in on calls like this one, whatever stands in the place of its stars; undefined where one may. */
export function neverCovered({ facts, tier, required }: GrantableCall): string | undefined {
  const outside = commands(facts).filter((subject) => !isInside(subject, tier));
  const program = outside.map(({ command }) => unknownProgram(command)).find((name) => name !== undefined);
  return (
    needsSeveral(required) ??
    (program === undefined ? undefined : `outside of the sandbox ${program} may run more than its words say`)
  );
}

/** Of a grant that names one call exactly: why that call would be asked about all the same; undefined where it would not. */
export function notCovered(grant: Grant, call: GrantableCall, now: number): string | undefined {
  return (
    needsSeveral(call.required) ??
    notRemembered(call) ??
    (matchGrant([grant], call, now) ? undefined : 'it does not fit the call that it spells out')
  );
}

function covers({ tool, arguments: patterns }: Grant, facts: CallFacts): boolean {
  if (tool !== facts.tool.name) return false;
  if (Object.keys(facts.arguments).some((name) => !Object.hasOwn(patterns, name))) return false;
  return Object.entries(patterns).every(([name, pattern]) => matches(name, pattern, facts));
}

function matches(argument: string, pattern: GrantPattern, facts: CallFacts): boolean {
  const command = facts.subjects.find((subject) => subject.kind === 'command' && subject.argument === argument);
  if (command?.kind === 'command' && 'glob' in pattern) return commandMatches(pattern.glob, command.command);
  if ('glob' in pattern && pattern.glob === '*') return true;
  // A long text against a pattern of many stars takes time by the product of both.
  const value = Object.hasOwn(facts.arguments, argument) ? facts.arguments[argument] : undefined;
  if ('glob' in pattern && JSON.stringify(value ?? null).length > LONGEST_BY_GLOB) return false;
  return compilePattern(argument, pattern)(facts, 'permit');
}

/** Characters of an argument that a glob other than `*` can cover. */
const LONGEST_BY_GLOB = 10_000;

/** The glob has to name the program in full, and to fit every simple command of the line, each for itself. */
function commandMatches(glob: string, command: string): boolean {
  if (!PROGRAM.test(glob)) return false;
  const patterns = glob.split(' ').filter((pattern) => pattern !== '');
  const parts = safeCommand(command)?.parts ?? [];
  const fits = (argv: readonly string[]): boolean =>
    argv.length === patterns.length && argv.every((word, at) => wordMatches(patterns[at] ?? '', word));
  return parts.length > 0 && parts.every(({ argv }) => fits(argv));
}

/** Word by word, so that a star stands for no further word, no option and no way up: `cp build.tar /srv/*` is not `cp build.tar /srv/x -t /etc`. */
function wordMatches(pattern: string, word: string): boolean {
  if (pattern === word) return true;
  const more = (word.startsWith('-') && !pattern.startsWith('-')) || waysUp(word) > waysUp(pattern);
  return !more && matchText(pattern, word);
}

/** Also behind an option that it is the value of. */
const waysUp = (word: string): number => word.match(/(?:^-?\w*|[/=:,])\.\.(?=\/|$)/g)?.length ?? 0;
