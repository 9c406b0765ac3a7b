/** Requests for the inbox's tests, and keys as people press them. */
import type { OpenRequest } from '../../../src/client/index.ts';
import type { Key } from '../../../src/cli/inbox/keys.ts';
import { type Effect, type Event, type Row, type Shown, type State, firstState } from '../../../src/cli/inbox/state.ts';
import { step } from '../../../src/cli/inbox/step.ts';
import { shortCode } from '../../../src/protocol/approval.ts';
import type { JsonObject } from '../../../src/protocol/json.ts';

/** 2026-01-02 03:04:05 UTC. */
export const NOW = 1_767_323_045_000;

/** The code of `b` is #BBBBBB. */
const digestOf = (name: string): string =>
  `sha256:${((name.codePointAt(0) ?? 0) - 97).toString(16).padStart(2, '0').repeat(32)}`;

export const row = (name: string, more: Partial<Row> = {}): Row => ({
  id: `call/s1/${name}`,
  digest: digestOf(name),
  code: shortCode(digestOf(name)),
  tool: 'delete',
  tier: 'elevated',
  route: ['s1'],
  summary: `delete: /tmp/${name}`,
  since: NOW - 12_300,
  expiresAt: NOW + 3_540_000,
  ...more,
});

export function shown(
  name: string,
  args: JsonObject = { path: `/tmp/${name}` },
  more: Partial<OpenRequest> = {},
): Shown {
  const { id, digest, code, tool, expiresAt } = row(name);
  const open: OpenRequest = {
    id,
    code,
    request: {
      session: 's1',
      callId: name,
      runId: 'run-1',
      tool,
      digest,
      tier: 'elevated',
      requestedAt: NOW - 12_300,
      expiresAt,
      route: ['s1'],
    },
    arguments: args,
    workspace: '/srv/site',
    agent: 'default',
    fingerprint: 'f',
    tier: 'elevated',
    tierReasons: [],
    rule: 'risk.delete_outside',
    reason: `/tmp/${name} is outside of the workspace`,
    requestedAt: NOW - 12_300,
    required: 1,
    approvers: [],
    route: ['s1'],
    ...more,
  };
  return { open };
}

/** Request b, which ada approves, with these arguments in place of its own where there are any. */
export function withOthers(edit?: JsonObject): Shown {
  const { request } = shown('b').open;
  const { session, callId, digest } = request;
  const decision = {
    session,
    callId,
    digest,
    decision: 'approve',
    approver: 'ada',
    ...(edit && { arguments: edit }),
  } as const;
  return shown('b', undefined, { required: 2, collected: [{ decision, takenAt: NOW - 1_000 }] });
}

const NAMES = {
  '⏎': 'enter',
  '⎋': 'escape',
  '⌫': 'backspace',
  '↑': 'up',
  '↓': 'down',
  '⇟': 'page_down',
  '⇞': 'page_up',
  '⇱': 'home',
  '⇲': 'end',
} as const;

/** One key a character: `y⏎` is y and Enter, `⎋` Escape, `⌫` Backspace. */
export const keysOf = (text: string): Key[] =>
  Array.from(text).map((character): Key =>
    Object.hasOwn(NAMES, character)
      ? { name: NAMES[character as keyof typeof NAMES] }
      : { name: 'text', text: character },
  );

/** Where the events lead, and all that was to be done on the way. */
export function after(from: State, ...events: (Event | string)[]): { state: State; effects: Effect[] } {
  const effects: Effect[] = [];
  let state = from;
  for (const event of events.flatMap((one) =>
    typeof one === 'string' ? keysOf(one).map((key): Event => ({ on: 'key', key })) : [one],
  )) {
    const [next, effect] = step(state, event);
    state = next;
    if (effect) effects.push(effect);
  }
  return { state, effects };
}

export const listing = (...names: string[]): Event => ({ on: 'listed', rows: names.map((name) => row(name)) });

export const size = { columns: 80, rows: 24 };

/** Looking at request b of a, b, c. */
export function looking(at: Shown = shown('b')): State {
  return after(firstState(size, { grants: true }), listing('a', 'b', 'c'), '↓⏎', { on: 'opened', shown: at }).state;
}
