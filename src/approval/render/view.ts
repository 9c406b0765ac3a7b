/** A request for approval as data: everything that its approver should know, raw. The renderers make it safe to look at. */
import {
  type ApprovalDetails,
  type BoundCommand,
  type CollectedDecision,
  type RoleAsked,
  longCode,
  shortCode,
} from '../../protocol/approval.ts';
import { type Json, type JsonObject, isJsonObject } from '../../protocol/json.ts';
import type { Preview } from '../../protocol/preview.ts';
import { sha256 } from '../digest.ts';
import { type HostView, type SightMark, hostsIn, sightMarks } from './look-alikes.ts';

/** Arguments, and what in them is not what it seems. */
export interface ArgumentsView {
  /** In the order of canonical JSON (RFC 8785). */
  arguments: JsonObject;
  hosts: HostView[];
  sights: { argument: string; marks: SightMark[] }[];
}

/** Who has approved so far where several have to agree, as the session that holds the request says. */
export interface ApprovedView {
  by: {
    approver: string;
    reason?: string;
    signed: boolean;
    /** Milliseconds since the epoch. */
    takenAt: number;
    agoMs: number;
  }[];
  /** What all of them would have run in place of what was asked for; `digest` names it. */
  edited?: ArgumentsView & { digest: string };
}

/** A role that the ladder asks, and who of it may decide. */
export interface RoleView extends RoleAsked {
  /** Until it is asked; 0 where it has been. */
  inMs: number;
}

export interface RequestView extends ArgumentsView {
  /** `call/<session>/<call id>`. */
  call: string;
  /** `#` and six letters. */
  code: string;
  /** `#` and 24 letters: a signed decision that gives it is on what is shown here, or on nothing. */
  longCode: string;
  digest: string;
  runId: string;
  tool: string;
  tier: string;
  agent: string;
  session: string;
  /** From the call's own session up to the one that holds the request. */
  route: string[];
  workspace: string;
  preview?: Preview;
  reason: string;
  tierReasons: string[];
  rule: string;
  /** Milliseconds since the epoch. */
  requestedAt: number;
  expiresAt: number;
  ageMs: number;
  /** 0 where it is over. */
  leftMs: number;
  /** How many have to agree, and who may; nobody named means anybody. */
  mayDecide: { required: number; approvers: string[]; roles?: RoleView[] };
  /** Absent where one approver is enough, or nothing is known of it. */
  approved?: ApprovedView;
  binding: Binding;
}

/** `full`: what was approved is all that can run. `partly`: it runs more than could be fixed, as listed. */
export interface Binding {
  extent: 'full' | 'partly';
  unbound: string[];
  executables: BoundCommand['executables'];
  scripts: BoundCommand['scripts'];
}

export interface ViewExtra {
  preview?: Preview;
  /** From the call's own session up to main. */
  route: readonly string[];
  /** Milliseconds since the epoch. */
  now: number;
  /** Names or roles; what the call itself said, where absent. */
  mayDecide?: readonly string[];
  /** Approvals that count so far, all of them of the same. */
  collected?: readonly CollectedDecision[];
}

/** Texts in which URLs are data: what is written into a file reaches no host. */
const CONTENTS = new Set(['content', 'oldText', 'newText']);

export function describeRequest(details: ApprovalDetails, extra: ViewExtra): RequestView {
  const { preview, route, now, mayDecide, collected } = extra;
  const { request, bound, required = 1, approvers = [], roles } = details;
  return {
    call: `call/${request.session}/${request.callId}`,
    code: shortCode(request.digest),
    longCode: longCode(request.digest),
    digest: request.digest,
    runId: request.runId,
    tool: request.tool,
    tier: details.tier,
    agent: details.agent,
    session: request.session,
    route: [...route],
    workspace: details.workspace,
    ...argumentsView(isJsonObject(details.arguments) ? details.arguments : {}),
    ...(preview && { preview }),
    reason: details.reason,
    tierReasons: [...details.tierReasons],
    rule: details.rule,
    requestedAt: details.requestedAt,
    expiresAt: request.expiresAt,
    ageMs: Math.max(0, now - details.requestedAt),
    leftMs: Math.max(0, request.expiresAt - now),
    mayDecide: {
      required,
      approvers: [...(mayDecide ?? approvers)],
      ...(roles && { roles: roles.map((asked) => ({ ...asked, inMs: Math.max(0, asked.at - now) })) }),
    },
    ...(required > 1 && collected && { approved: approvedView(collected, now) }),
    binding: {
      extent: bound?.partly ? 'partly' : 'full',
      unbound: [...(bound?.unbound ?? [])],
      executables: [...(bound?.executables ?? [])],
      scripts: [...(bound?.scripts ?? [])],
    },
  };
}

const argumentsView = (args: JsonObject): ArgumentsView => ({
  arguments: canonicalOrder(args) as JsonObject,
  hosts: hostsIn(Object.entries(args).flatMap(([name, value]) => (CONTENTS.has(name) ? [] : textsIn(value)))),
  sights: Object.entries(args).flatMap(([name, value]) => sightOf(name, value)),
});

function approvedView(collected: readonly CollectedDecision[], now: number): ApprovedView {
  const edited = collected.at(-1)?.decision.arguments;
  return {
    by: collected.map(({ decision: { approver, reason, signature }, takenAt }) => ({
      approver,
      ...(reason !== undefined && { reason }),
      signed: signature !== undefined,
      takenAt,
      agoMs: Math.max(0, now - takenAt),
    })),
    ...(edited && { edited: { ...argumentsView(edited), digest: sha256(edited) } }),
  };
}

function sightOf(name: string, value: Json): RequestView['sights'] {
  const marks = [...new Set([name, ...textsIn(value)].flatMap(sightMarks))];
  return marks.length === 0 ? [] : [{ argument: name, marks }];
}

/** Every text in a value, names of members too. Iterative: how deep a value goes is not for it to decide. */
function textsIn(value: Json): string[] {
  const found: string[] = [];
  const open: Json[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'string') found.push(next);
    else if (Array.isArray(next)) for (const item of next) open.push(item);
    else if (isJsonObject(next ?? null))
      for (const [name, item] of Object.entries(next as JsonObject)) open.push(name, item);
  }
  return found;
}

/** Members sorted by UTF-16 code units, as RFC 8785 has them. */
function canonicalOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map(canonicalOrder);
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value).sort((a, b) => (a < b ? -1 : 1));
  return Object.fromEntries(names.map((name) => [name, canonicalOrder(value[name] ?? null)]));
}
