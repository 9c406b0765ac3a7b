/** Whether a decision is what it says: made by an approver of now, on exactly this request. Pure; used where it is taken and again where it runs. */
import type { Decision } from '../protocol/approval.ts';
import {
  type Approver,
  type Asked,
  EMERGENCY,
  approverNamed,
  foldedName,
  hasEnded,
  mayDecide,
  nameProblem,
} from './approvers.ts';
import { decisionPayload } from './payload.ts';
import { isSignature, parsePublicKey } from './public-key.ts';

/** Clocks of approvers may be off by this much, in milliseconds. */
export const CLOCK_SKEW_MS = 5 * 60_000;

/** The request, as whoever verifies knows it by itself. */
export interface RequestFacts extends Asked {
  session: string;
  callId: string;
  /** Milliseconds since the epoch. */
  requestedAt: number;
  expiresAt: number;
}

export interface Subject {
  digest: string;
  request: RequestFacts;
}

export interface Refused {
  ok: false;
  code: 'bad_signature';
  reason: string;
  /** The configuration lists nobody of that name. */
  unlisted?: true;
}

export type Verified = { ok: true; approver: string; roles: readonly string[]; key: string } | Refused;

export interface SignatureSettings {
  signatures: 'required' | 'optional';
  approvers: readonly Approver[];
}

/** A decision that may count, and by whose hand. */
/** Whether a decision counts unsigned, in anybody's name. */
export const anybodyMay = ({ signatures, approvers }: SignatureSettings): boolean =>
  signatures === 'optional' && approvers.length === 0;

export interface CountedDecision {
  decision: Decision;
  verified: boolean;
  /** What makes approvers distinct: the key; for one who has none, the name. */
  identity: string;
  roles: readonly string[];
}

export type Admission = { ok: true; counted: CountedDecision } | Refused;

const bad = (reason: string): Refused => ({ ok: false, code: 'bad_signature', reason });

/**
 * What a person who acts is told to do about a refusal, behind its reason; empty where the reason says it all. `unsigned`: the same would
 * count here without a signature.
 */
export const wayOut = ({ unlisted }: Refused, unsigned: boolean): string =>
  unlisted
    ? ` Put the line that countersign approver init printed into the service’s configuration, under "approvals" (countersign approver list shows the key again)${unsigned ? ', or leave the signature out: --no-sign' : ''}.`
    : '';

const UNSIGNED =
  'The decision is not signed, and only signed ones count here: make a key with countersign approver init, have the line that it prints put into the service’s configuration, and decide again.';

/** Checks a signed decision. Never throws, whatever it is given. */
export function verifyDecision(
  decision: Decision,
  subject: Subject,
  approvers: readonly Approver[],
  now: number,
): Verified {
  try {
    const { signature, approver: name } = decision;
    if (signature === undefined) return bad(UNSIGNED);
    const approver = approverNamed(approvers, name);
    if (!approver) return notListed(name, approvers);
    const unfit = unfitness(decision, approver, subject, now);
    if (unfit !== undefined) return bad(unfit);
    if (decision.at === undefined) return bad('A signed decision says when it was made.');
    const key = approver.publicKey === undefined ? undefined : parsePublicKey(approver.publicKey);
    if (!key) return bad(`The configuration has no key for ${JSON.stringify(name)}.`);
    if (!isSignature(key, decisionPayload(decision), signature)) {
      return bad(`The signature is not that of ${JSON.stringify(name)} on this decision.`);
    }
    return { ok: true, approver: name, roles: approver.roles ?? [], key: approver.publicKey ?? '' };
  } catch {
    return bad('The decision could not be read.');
  }
}

/**
 * Checks a decision, signed or not. One that carries a signature must carry a good one, whatever the settings; one that carries
 * none counts only where signatures are optional, unverified, and in the name of a listed approver where any is listed.
 */
export function admitDecision(
  decision: Decision,
  subject: Subject,
  settings: SignatureSettings,
  now: number,
): Admission {
  const { signatures, approvers } = settings;
  if (decision.signature !== undefined || signatures === 'required') {
    const checked = verifyDecision(decision, subject, approvers, now);
    if (!checked.ok) return checked;
    return { ok: true, counted: { decision, verified: true, identity: checked.key, roles: checked.roles } };
  }
  if (decision.override) return bad('Only a signed decision overrides a quorum.');
  // Of a listed approver the configuration has seen to it.
  const unplain = nameProblem(decision.approver);
  if (unplain !== undefined) return bad(`The approver’s name is not what it seems: ${unplain}.`);
  const approver = approverNamed(approvers, decision.approver);
  if (!approver && approvers.length > 0) return notListed(decision.approver, approvers);
  const unfit = unfitness(decision, approver ?? { name: decision.approver }, subject, now);
  if (unfit !== undefined) return bad(unfit);
  const identity = approver?.publicKey ?? `name:${foldedName(decision.approver)}`;
  return { ok: true, counted: { decision, verified: false, identity, roles: approver?.roles ?? [] } };
}

/** Why this approver's decision does not fit this request, apart from its signature. */
function unfitness(
  decision: Decision,
  approver: Approver,
  { digest, request }: Subject,
  now: number,
): string | undefined {
  const { name } = approver;
  if (decision.digest !== digest || decision.session !== request.session || decision.callId !== request.callId) {
    return 'The decision is on something else than what waits.';
  }
  if (hasEnded(approver, now)) return `${JSON.stringify(name)} was an approver until ${approver.until ?? ''}.`;
  // To deny is always the safe side; who may approve one thing may still not deny another's request.
  if (!mayDecide(approver, request)) {
    return `${JSON.stringify(name)} may not decide on ${request.tool.name} (${request.tier}) of agent ${JSON.stringify(request.agent)}.`;
  }
  if (decision.override && !approver.roles?.includes(EMERGENCY))
    return `${JSON.stringify(name)} does not have the role ${EMERGENCY}.`;
  if (decision.at === undefined) return undefined;
  if (decision.at > now + CLOCK_SKEW_MS)
    return 'The decision says that it is made in the future; set the clock of the machine that signs.';
  if (decision.at < request.requestedAt - CLOCK_SKEW_MS)
    return 'The decision says that it was made before the request.';
  if (decision.at > request.expiresAt + CLOCK_SKEW_MS) return 'The decision was made after the request had expired.';
  return undefined;
}

export function notListed(name: string, approvers: readonly Approver[]): Refused {
  const alike = approvers.find((approver) => foldedName(approver.name) === foldedName(name));
  const hint = alike ? ` It looks like ${JSON.stringify(alike.name)}, and is another name.` : '';
  return { ...bad(`The configuration lists no approver ${JSON.stringify(name)}.${hint}`), unlisted: true };
}
