/** What the inbox knows and shows, what happens to it, and what it wants done. */
import type { Decision, DecisionAnswer, OpenRequest } from '../../client/index.ts';
import type { Halt } from '../../protocol/control.ts';
import type { JsonObject } from '../../protocol/json.ts';
import type { Preview } from '../../protocol/preview.ts';
import type { Key } from './keys.ts';

/** Requests that the list holds, the newest: it is asked for each second, and ten thousand take the server seconds. */
export const LISTED = 200;

/** One request of the list. */
export interface Row {
  /** `call/<session>/<call id>`. */
  id: string;
  digest: string;
  code: string;
  tool: string;
  tier: string;
  agent?: string;
  /** From the call's own session up to main. */
  route: string[];
  /** The one line that the call's starter wrote of it. */
  summary: string;
  /** Milliseconds since the epoch. */
  since: number;
  expiresAt: number;
}

/** A request as its page shows it. */
export interface Shown {
  open: OpenRequest;
  /** Made here, as far as that can be; see actions.ts. */
  preview?: Preview;
  /** What the person wrote in the editor last, valid or not. */
  draft?: string;
  /** The draft, where it is other arguments than those asked for. */
  edited?: JsonObject;
}

export type Asking = { for: 'approve' } | { for: 'deny'; text: string } | { for: 'grant'; text: string };

export interface RequestPage {
  at: 'request';
  shown: Shown;
  /** Lines above the window. */
  scroll: number;
  /** Lines that have been in the window, from the first. */
  seen: number;
  asking?: Asking;
}

export type Page = { at: 'list' } | { at: 'opening'; id: string } | RequestPage;

export interface Notice {
  tone: 'good' | 'bad' | 'plain';
  /** Our own words. */
  text: string;
  /** Somebody else's: shown after ours, behind a gutter. */
  foreign?: string;
}

export const GONE: Notice = {
  tone: 'bad',
  text: 'It does not wait any more in this form. r looks again, Esc goes back.',
};

export interface Size {
  columns: number;
  rows: number;
}

export interface State {
  size: Size;
  rows: Row[];
  /** How many calls wait by the server's count, where the list holds the newest only. */
  waiting?: number;
  /** False until the first listing has come. */
  listed: boolean;
  /** A call's id, so that the selection stays with its request while the list moves. */
  selected?: string;
  page: Page;
  help: boolean;
  /** What is under way; until it is over nothing else is decided. */
  busy?: string;
  notice?: Notice;
  /** Why the list is not of now. */
  problem?: string;
  halted?: Halt;
  /** True where the service takes grants. */
  grants: boolean;
}

export type Event =
  | { on: 'key'; key: Key }
  | { on: 'resized'; size: Size }
  | { on: 'listed'; rows: Row[]; waiting?: number; halted?: Halt }
  | { on: 'unlisted'; problem: string }
  | { on: 'opened'; shown: Shown }
  | { on: 'not_opened'; id: string; problem: string }
  | { on: 'edited'; shown: Shown; text: string }
  | { on: 'answered'; shown: Shown; decision: Decision['decision']; answer: DecisionAnswer }
  | { on: 'granted'; shown: Shown; until: number }
  | { on: 'failed'; problem: string };

/** What the machine wants done. Each comes back as an event. */
export type Effect =
  | { do: 'refresh' }
  | { do: 'open'; id: string }
  | { do: 'approve'; shown: Shown; arguments?: JsonObject }
  | { do: 'deny'; shown: Shown; reason: string }
  | { do: 'grant'; shown: Shown; forMs: number }
  | { do: 'edit'; shown: Shown }
  | { do: 'repaint' }
  | { do: 'suspend' }
  | { do: 'quit'; interrupted: boolean };

export type Step = [State, Effect?];

/** Smaller windows show nothing that could be decided on. */
export const SMALLEST: Size = { columns: 60, rows: 12 };

export const firstState = (size: Size, { grants = false } = {}): State => ({
  size,
  rows: [],
  listed: false,
  page: { at: 'list' },
  help: false,
  grants,
});

export const isTooSmall = ({ columns, rows }: Size): boolean => columns < SMALLEST.columns || rows < SMALLEST.rows;

/** Lines at the bottom in which the inbox speaks. */
export const FOOT_HEIGHT = 2;

/** Lines between the bar and the rule; below that are the foot and the keys. */
export const bodyHeight = ({ rows }: Size): number => Math.max(1, rows - 3 - FOOT_HEIGHT);

/** Each request takes two lines of the list. */
export const ROW_HEIGHT = 2;
export const rowsPerPage = (size: Size): number => Math.max(1, Math.floor(bodyHeight(size) / ROW_HEIGHT));

export const selectedIndex = ({ rows, selected }: State): number =>
  Math.max(
    0,
    rows.findIndex(({ id }) => id === selected),
  );

/** The requests that the list page shows: the page of them that has the selected one. */
export function visibleRows(state: State): Row[] {
  const count = rowsPerPage(state.size);
  const from = Math.floor(selectedIndex(state) / count) * count;
  return state.rows.slice(from, from + count);
}

/** The arguments that others approve in place of those asked for. */
export const othersEdit = ({ open }: Shown): JsonObject | undefined => open.collected?.at(-1)?.decision.arguments;

/** True while the request that is shown stands in the listing, unchanged. */
export const stillWaits = ({ rows }: State, { open }: Shown): boolean =>
  rows.some(({ id, digest }) => id === open.id && digest === open.request.digest);
