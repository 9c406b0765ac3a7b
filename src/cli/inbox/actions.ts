/** What the inbox asks of the service. */
import { previewHere } from '../../approval/preview-here.ts';
import type { DecisionAnswer, WaitingCall } from '../../client/index.ts';
import type { Halt } from '../../protocol/control.ts';
import type { GrantPattern } from '../../protocol/grant.ts';
import { isSessionId } from '../../protocol/ids.ts';
import type { JsonObject } from '../../protocol/json.ts';
import type { Decider } from '../calls/decider.ts';
import { findSession } from '../sessions/find-session.ts';
import type { AnyCountersign } from '../service/with-service.ts';
import { LISTED, type Row, type Shown } from './state.ts';

export interface Listing {
  rows: Row[];
  /** By the server's count, where there are more than are listed. */
  waiting?: number;
  halted?: Halt;
}

export interface Actions {
  list(): Promise<Listing>;
  open(id: string): Promise<Shown>;
  approve(shown: Shown, args: JsonObject | undefined): Promise<DecisionAnswer>;
  deny(shown: Shown, reason: string): Promise<DecisionAnswer>;
  /** Lets calls exactly like this one run in its session without asking; until when. Absent where the service takes no grants. */
  grant?(shown: Shown, forMs: number): Promise<number>;
}

/** @param decider who decides, asked anew for each decision: a key may have a passphrase */
export function actionsOf(countersign: AnyCountersign, decider: () => Promise<Decider>): Actions {
  const { approvals, control } = countersign;
  return {
    async list() {
      const [calls, halted] = await Promise.all([approvals.pending({ limit: LISTED }), control.halted()]);
      const waiting = calls.length < LISTED ? undefined : await approvals.count();
      return { rows: calls.flatMap(rowOf), ...(waiting !== undefined && { waiting }), ...(halted && { halted }) };
    },
    async open(id) {
      const open = await approvals.show(id);
      const preview = await previewHere(open);
      return { open, ...(preview && { preview }) };
    },
    approve: async ({ open }, args) =>
      approvals.approve(open, { ...(args && { arguments: args }), ...(await decider()) }),
    deny: async ({ open }, reason) => approvals.deny(open, { reason, ...(await decider()) }),
    async grant({ open }, forMs) {
      const { tool, session } = open.request;
      const patterns = Object.entries(open.arguments).map(([name, value]): [string, GrantPattern] => [
        name,
        { exact: value },
      ]);
      const [{ facts }, { approver, signer }] = [await findSession(countersign, session), await decider()];
      const { expiresAt } = await countersign.grants(facts.main).add({
        tool,
        arguments: Object.fromEntries(patterns),
        scope: { session },
        forMs,
        by: approver,
        ...(signer && { signer }),
      });
      return expiresAt;
    },
  };
}

/** Listings are written by whoever runs calls in the namespace; `pending` has looked at the request's own form. */
function rowOf({ id, code, agent, summary = '', waiting }: WaitingCall): Row[] {
  if (waiting.for !== 'approval' || code === undefined) return [];
  const { request, tool, since } = waiting;
  const { digest, tier, expiresAt, session } = request;
  const route = Array.isArray(waiting.route) && waiting.route.every(isSessionId) ? waiting.route : [session];
  return [
    {
      id,
      digest,
      code,
      tool: String(tool),
      tier,
      route,
      summary,
      since: Number(since),
      expiresAt,
      ...(agent !== undefined && { agent }),
    },
  ];
}
