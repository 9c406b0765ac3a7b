/** Grants: remembered approvals, each made by an act of its own. */
import type { ErrorCode } from './errors.ts';
import { isBoundedGlob } from './glob.ts';
import { isSessionId } from './ids.ts';
import { type Json, isJsonObject } from './json.ts';

/** Where a main session's memo holds its grants: a list of {@link Grant}. Read by describing it, which needs no worker. */
export const GRANTS_MEMO = 'countersignGrants';

/** `glob`: `*` any text, `?` one character, on paths within a segment (`**` spans them), on commands within a word that is no option unless the pattern is, without further `..`;
 * `*` alone is any value, or none. Bounded by GLOB_LIMITS. */
export type GrantPattern = { exact: Json } | { glob: string };

/** Where a grant holds: elsewhere, a service may list the same approver. */
export interface GrantPlace {
  /** Temporal's. */
  namespace: string;
  /** Canonical folder of the main session that it is made in. */
  workspace: string;
}

export interface Grant {
  /** 1 to 64 of `A-Z a-z 0-9 . _ -`; never reused. */
  id: string;
  /** A tool's exact name. */
  tool: string;
  /** Argument → pattern. A call with an argument that is not named here is not covered. */
  arguments: Record<string, GrantPattern>;
  /** The session and those below it, or all sessions of an agent. */
  scope: { session: string } | { agent: string };
  place: GrantPlace;
  /** Milliseconds since the epoch. */
  expiresAt: number;
  /** The approver who made it. */
  by: string;
  /** When it was made, in milliseconds since the epoch. */
  at: number;
  /** Ed25519 by the approver's key over the canonical JSON of all of the above with `v` and `kind`: see grantPayload. */
  signature?: string;
}

export const GRANT_LIMITS = {
  /** Grants that one main session holds. */
  count: 100,
  /** Longest life, in milliseconds. */
  lifeMs: 30 * 86_400_000,
  /** Named arguments of one grant. */
  arguments: 30,
  /** Its canonical JSON, in bytes. */
  bytes: 4_096,
} as const;

/** True for a grant in the form that sessions take; who made it is checked by activities. */
export function isGrant(value: unknown): value is Grant {
  if (!isJsonObject(value)) return false;
  const { id, tool, arguments: patterns, scope, place, expiresAt, by, at, signature } = value;
  return (
    Object.keys(value).every((key) => KEYS.has(key)) &&
    isSessionId(id) &&
    isText(tool, 200) &&
    isText(by, 200) &&
    isTime(at) &&
    isTime(expiresAt) &&
    expiresAt > at &&
    expiresAt - at <= GRANT_LIMITS.lifeMs &&
    isScope(scope) &&
    isPlace(place) &&
    isJsonObject(patterns) &&
    Object.keys(patterns).length <= GRANT_LIMITS.arguments &&
    Object.values(patterns).every(isPattern) &&
    JSON.stringify(value).length <= GRANT_LIMITS.bytes &&
    (signature === undefined || (typeof signature === 'string' && /^[A-Za-z0-9_-]{86}$/.test(signature)))
  );
}

const KEYS: ReadonlySet<string> = new Set([
  'id',
  'tool',
  'arguments',
  'scope',
  'place',
  'expiresAt',
  'by',
  'at',
  'signature',
]);

const isText = (value: Json | undefined, most: number): boolean =>
  typeof value === 'string' && value.length > 0 && value.length <= most;
const isTime = (value: Json | undefined): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

const isScope = (value: Json | undefined): boolean =>
  isJsonObject(value) &&
  Object.keys(value).length === 1 &&
  (isSessionId(value['session']) || isSessionId(value['agent']));

const isPlace = (value: Json | undefined): boolean =>
  isJsonObject(value) &&
  Object.keys(value).length === 2 &&
  isText(value['namespace'], 255) &&
  isText(value['workspace'], GRANT_LIMITS.bytes);

const isPattern = (value: Json): boolean =>
  isJsonObject(value) && Object.keys(value).length === 1 && (Object.hasOwn(value, 'exact') || isGlob(value['glob']));

const isGlob = (value: Json | undefined): boolean =>
  typeof value === 'string' && value.length > 0 && isBoundedGlob(value);

/** A grant that stands in for a person. */
export interface StandingGrant {
  grant: Grant;
  /** True where its maker's signature was checked. */
  verified: boolean;
}

/** What `addGrant` and `revokeGrant` answer. `unlisted`: the session did not list what it revoked. */
export type GrantAnswer = { accepted: true; unlisted?: true } | { accepted: false; code: ErrorCode; message: string };

export interface Revocation {
  id: string;
  /** Who takes it back; unverified, for to revoke is always the safe side. */
  by: string;
}

export const isRevocation = (value: unknown): value is Revocation =>
  isJsonObject(value) && isSessionId(value['id']) && isText(value['by'], 200);
