/** Of a call's history: whether what ran is what was asked, and whether a grant covers it. Pure but for links in the workspace. */
import { matchGrant, verifyGrant } from '../../approval/grants.ts';
import type { Config } from '../../config/index.ts';
import { resolveSubjects } from '../../context/index.ts';
import type { ToolFacts } from '../../policy/index.ts';
import type { BoundCommand } from '../../protocol/approval.ts';
import type { Grant, GrantPlace } from '../../protocol/grant.ts';
import { type JsonObject, isSameJson } from '../../protocol/json.ts';
import type { Ask } from '../../protocol/outcome.ts';
import type { SessionFacts } from '../../protocol/session.ts';
import type { Tier } from '../../protocol/tool.ts';
import { type Tool, fingerprint, validateArguments } from '../../tools/index.ts';

/** Approvers, their keys and what they may decide on. */
export type VerifySettings = Pick<Config, 'approvals' | 'groups'>;

/** The whole tool where this program has it; of another, what is assumed. */
export type VerifyTool = Tool | ToolFacts;

const isWhole = (tool: VerifyTool): tool is Tool => 'parameters' in tool;

/** Whether what was handed over comes to the arguments that were asked about. A tool of now that is another says nothing of its defaults of then. */
export function comesTo(tool: VerifyTool, ask: Ask, given: JsonObject): boolean {
  if (!isWhole(tool) || fingerprint(tool) !== ask.fingerprint) return true;
  const validated = validateArguments(tool, given);
  return validated.ok && isSameJson(validated.arguments, ask.arguments);
}

export interface GrantUse {
  grant: Grant;
  tool: VerifyTool;
  /** As the call has them. */
  arguments: JsonObject;
  tier: Tier;
  agent: string;
  /** The call's session and those above it, nearest first; empty where Temporal no longer keeps them. */
  sessions: readonly Pick<SessionFacts, 'id' | 'workspace'>[];
  /** Where it must be made for, as far as that is known. */
  place: Partial<GrantPlace>;
  /** Where the call was asked about. */
  bound?: BoundCommand | undefined;
  /** Of the use, in milliseconds since the epoch. */
  at: number;
}

/** A history holds what is bound only of what was asked about; the worker that let it run saw to the rest. */
const UNKNOWN_BOUND: BoundCommand = { executables: [], cwd: '', envHash: '', scripts: [], partly: false, unbound: [] };

/** Whether it is its maker's and covers the call. What it is revoked by stands in no history. */
export async function checkGrantUse(
  use: GrantUse,
  { approvals, groups }: VerifySettings,
): Promise<{ ok: true; verified: boolean } | { ok: false; reason: string }> {
  const { grant, tool, tier, agent, place, sessions, at } = use;
  const asked = { tool, tier, agent, place, ...(groups && { groups }) };
  const checked = verifyGrant(grant, asked, approvals, at);
  if (!checked.ok) return checked;
  const [own, ...above] = sessions;
  if (!own) return { ok: false, reason: 'Temporal no longer keeps its session, so what it covers cannot be told.' };
  const validated = isWhole(tool) ? validateArguments(tool, use.arguments) : undefined;
  const args = validated?.ok ? validated.arguments : use.arguments;
  const subjects = isWhole(tool) && validated?.ok ? await resolveSubjects(tool.subjects(args), own) : [];
  const call = {
    ...asked,
    place: grant.place,
    facts: { tool, arguments: args, subjects },
    session: own.id,
    ancestors: above.map(({ id }) => id),
    // A request that needs several is refused the grant where it waits; see the quorum.
    required: 1,
    bound: use.bound ?? UNKNOWN_BOUND,
  };
  return matchGrant([grant], call, at) ? checked : { ok: false, reason: 'It does not cover this call.' };
}
