/**
 * The inbox as a machine: (state, event) → state, and at most one thing to do. It knows no terminal, no clock and no service.
 *
 *   list ──Enter──▶ opening ──▶ request ──y──▶ confirm ──Enter──▶ decided ──▶ list
 *
 * A decision is made on the request page only, and always carries the very object that the page shows. So a list that moves, a
 * request that is replaced and an answer that comes late can't make a person decide on another request than the one they look at.
 */
import { callContent } from '../../approval/digest.ts';
import { durationMs } from '../../config/duration.ts';
import { isCountersignError } from '../../protocol/errors.ts';
import { parseArguments } from '../io/input.ts';
import { documentHeight } from './document.ts';
import type { Key } from './keys.ts';
import {
  type Asking,
  type Event,
  type Notice,
  type RequestPage,
  type Shown,
  type Size,
  type State,
  type Step,
  GONE,
  bodyHeight,
  isTooSmall,
  othersEdit,
  rowsPerPage,
  selectedIndex,
  stillWaits,
} from './state.ts';

/** Characters of a reason. */
const REASON_LIMIT = 2_000;
const GRANT_LIMIT = 20;

export function step(state: State, event: Event): Step {
  switch (event.on) {
    case 'key':
      return onKey(state, event.key);
    case 'resized':
      return [resized(state, event.size), { do: 'repaint' }];
    case 'listed':
      return [listed(state, event)];
    case 'unlisted':
      return [{ ...state, problem: event.problem }];
    case 'opened':
      // One that was asked for before something else was is not wanted any more.
      if (state.page.at !== 'opening' || state.page.id !== event.shown.open.id) return [state];
      return [{ ...state, page: pageOf(state, event.shown) }];
    case 'not_opened':
      if (state.page.at !== 'opening' || state.page.id !== event.id) return [state];
      return [
        { ...state, page: { at: 'list' }, notice: { tone: 'bad', text: 'Not shown:', foreign: event.problem } },
        { do: 'refresh' },
      ];
    case 'edited':
      return [edited(idle(state), event.shown, event.text)];
    case 'answered':
      return answered(idle(state), event);
    case 'granted':
      return [
        {
          ...backToList(idle(state)),
          notice: {
            tone: 'good',
            text: `${event.shown.open.code} is granted until ${new Date(event.until).toISOString().slice(0, 16).replace('T', ' ')} UTC; it goes on by itself.`,
          },
        },
        { do: 'refresh' },
      ];
    case 'failed':
      return [{ ...idle(state), notice: { tone: 'bad', text: 'That did not work:', foreign: event.problem } }];
  }
}

// ── keys ────────────────────────────────────────────────────────────────────

function onKey(state: State, key: Key): Step {
  if (key.name === 'ctrl') {
    if (key.letter === 'c') return [state, { do: 'quit', interrupted: true }];
    if (key.letter === 'l') return [state, { do: 'repaint' }];
    if (key.letter === 'z') return [state, { do: 'suspend' }];
  }
  if (isTooSmall(state.size)) return isText(key, 'q') ? [state, { do: 'quit', interrupted: false }] : [state];
  if (state.help) return isText(key, 'q') ? [state, { do: 'quit', interrupted: false }] : [{ ...state, help: false }];
  const { page } = state;
  if (page.at === 'request' && page.asking) return onAnswer(state, page, page.asking, key);
  if (isText(key, 'q')) return [state, { do: 'quit', interrupted: false }];
  if (isText(key, '?')) return [{ ...state, help: true }];
  switch (page.at) {
    case 'list':
      return onListKey(state, key);
    case 'opening':
      return key.name === 'escape' || key.name === 'left' ? [backToList(state)] : [state];
    case 'request':
      return onRequestKey(withoutNotice(state), page, key);
  }
}

function onListKey(given: State, key: Key): Step {
  const state = withoutNotice(given);
  const per = rowsPerPage(state.size);
  const row = state.rows[selectedIndex(state)];
  switch (key.name) {
    case 'up':
      return [selectedBy(state, -1)];
    case 'down':
      return [selectedBy(state, 1)];
    case 'page_up':
      return [selectedBy(state, -per)];
    case 'page_down':
      return [selectedBy(state, per)];
    case 'home':
      return [selectedBy(state, -state.rows.length)];
    case 'end':
      return [selectedBy(state, state.rows.length)];
    case 'enter':
    case 'right':
      return row
        ? [
            { ...state, selected: row.id, page: { at: 'opening', id: row.id } },
            { do: 'open', id: row.id },
          ]
        : [state];
    case 'text':
      break;
    default:
      return [state];
  }
  switch (key.text) {
    case 'k':
      return [selectedBy(state, -1)];
    case 'j':
      return [selectedBy(state, 1)];
    case 'r':
      return [state, { do: 'refresh' }];
    case 'y':
    case 'n':
    case 'e':
    case 'g':
      return row ? [{ ...state, notice: { tone: 'plain', text: 'Look at it first: Enter.' } }] : [state];
    default:
      return [state];
  }
}

function onRequestKey(state: State, page: RequestPage, key: Key): Step {
  const scrolled = scrollBy(state, key);
  if (scrolled) return [scrolled];
  if (key.name === 'escape' || key.name === 'left') return [backToList(state), { do: 'refresh' }];
  if (key.name !== 'text') return [state];
  const { shown } = page;
  if (key.text === 'r')
    return [
      { ...state, page: { at: 'opening', id: shown.open.id } },
      { do: 'open', id: shown.open.id },
    ];
  if (!'ynegsu'.includes(key.text) || state.busy !== undefined) return [state];
  if (!stillWaits(state, shown)) {
    return [{ ...state, notice: GONE }];
  }
  const ask = (asking: Asking): Step => [{ ...state, page: { ...page, asking } }];
  switch (key.text) {
    case 'y':
      return ask({ for: 'approve' });
    case 'n':
      return ask({ for: 'deny', text: '' });
    case 'e':
      return [
        { ...state, busy: 'in the editor' },
        { do: 'edit', shown },
      ];
    case 'g':
      if (!state.grants) return [{ ...state, notice: { tone: 'plain', text: 'This service takes no grants.' } }];
      return shown.edited
        ? [{ ...state, notice: { tone: 'plain', text: 'A grant is for what was asked; u drops your changes.' } }]
        : ask({ for: 'grant', text: '1h' });
    case 's': {
      const edit = othersEdit(shown);
      if (!edit) return [{ ...state, notice: { tone: 'plain', text: 'Nobody has approved it with other arguments.' } }];
      return [{ ...state, page: pageOf(state, { ...unedited(shown), edited: edit }), notice: CHANGED }];
    }
    default:
      return [{ ...state, page: pageOf(state, unedited(shown)) }];
  }
}

/** While a question stands at the foot. */
function onAnswer(state: State, page: RequestPage, asking: Asking, key: Key): Step {
  const { shown } = page;
  const closed: State = { ...withoutNotice(state), page: unasked(page) };
  if (key.name === 'escape') return [closed];
  if (asking.for === 'approve') {
    if (key.name !== 'enter') return [scrollBy(state, key) ?? state];
    return [
      { ...closed, busy: 'approving' },
      { do: 'approve', shown, ...(shown.edited && { arguments: shown.edited }) },
    ];
  }
  const typed = (text: string): Step => [{ ...withoutNotice(state), page: { ...page, asking: { ...asking, text } } }];
  if (key.name !== 'enter')
    return typed(typedText(asking.text, key, asking.for === 'deny' ? REASON_LIMIT : GRANT_LIMIT));
  if (asking.for === 'deny') {
    const reason = asking.text.trim();
    if (reason === '')
      return [{ ...state, notice: { tone: 'bad', text: 'Say why: the model is told, and it is kept for audit.' } }];
    return [
      { ...closed, busy: 'denying' },
      { do: 'deny', shown, reason },
    ];
  }
  const forMs = /^\d{1,5}(m|h|d)$/.test(asking.text) ? durationMs(asking.text) : 0;
  if (forMs === 0) return [{ ...state, notice: { tone: 'bad', text: 'For how long? As 30m, 8h or 7d.' } }];
  return [
    { ...closed, busy: 'granting' },
    { do: 'grant', shown, forMs },
  ];
}

function typedText(text: string, key: Key, limit: number): string {
  switch (key.name) {
    case 'text':
      return (text + key.text).slice(0, limit);
    case 'paste':
      return (text + key.text.replace(/\s+/g, ' ')).slice(0, limit);
    case 'backspace':
      return Array.from(text).slice(0, -1).join('');
    case 'ctrl':
      return key.letter === 'u' ? '' : key.letter === 'w' ? text.replace(/\S+\s*$/, '') : text;
    default:
      return text;
  }
}

const isText = (key: Key, text: string): boolean => key.name === 'text' && key.text === text;

// ── what happens to the state ───────────────────────────────────────────────

function scrollBy(state: State, key: Key): State | undefined {
  const page = bodyHeight(state.size) - 1;
  switch (key.name) {
    case 'up':
      return scrolledTo(state, -1, 'by');
    case 'down':
      return scrolledTo(state, 1, 'by');
    case 'page_up':
      return scrolledTo(state, -page, 'by');
    case 'page_down':
      return scrolledTo(state, page, 'by');
    case 'home':
      return scrolledTo(state, 0, 'to');
    case 'end':
      return scrolledTo(state, Infinity, 'to');
    case 'text':
      if (key.text === ' ') return scrolledTo(state, page, 'by');
      if (key.text === 'j') return scrolledTo(state, 1, 'by');
      return key.text === 'k' ? scrolledTo(state, -1, 'by') : undefined;
    default:
      return undefined;
  }
}

function scrolledTo(state: State, lines: number, how: 'by' | 'to'): State {
  const { page, size } = state;
  if (page.at !== 'request') return state;
  const last = Math.max(0, documentHeight(page.shown, size.columns) - bodyHeight(size));
  const wanted = how === 'to' ? lines : page.scroll + lines;
  const scroll = Math.min(last, Math.max(0, wanted));
  return { ...state, page: { ...page, scroll, seen: Math.max(page.seen, scroll + bodyHeight(size)) } };
}

/** Lines are others at another width: what was read of them before does not count. */
function resized(state: State, size: Size): State {
  const { page } = state;
  return scrolledTo({ ...state, size, ...(page.at === 'request' && { page: { ...page, seen: 0 } }) }, 0, 'by');
}

/** A request from its first line. */
const pageOf = ({ size }: State, shown: Shown): RequestPage => ({
  at: 'request',
  shown,
  scroll: 0,
  seen: bodyHeight(size),
});

function unasked({ asking: _, ...page }: RequestPage): RequestPage {
  return page;
}

function unedited({ draft: _, edited: __, ...shown }: Shown): Shown {
  return shown;
}

function selectedBy(state: State, rows: number): State {
  const index = Math.min(state.rows.length - 1, Math.max(0, selectedIndex(state) + rows));
  return selected(state, state.rows[index]?.id);
}

function selected({ selected: _, ...state }: State, id: string | undefined): State {
  return { ...state, ...(id !== undefined && { selected: id }) };
}

function listed(state: State, { rows, waiting, halted }: Extract<Event, { on: 'listed' }>): State {
  const { problem: _, halted: __, waiting: ___, ...rest } = state;
  const index = selectedIndex(state);
  const stays = rows.some(({ id }) => id === state.selected);
  const next: State = {
    ...rest,
    rows,
    listed: true,
    ...(waiting !== undefined && { waiting }),
    ...(halted && { halted }),
  };
  // Of one that is gone, its neighbour takes the place; nothing is decided from the list.
  return stays ? next : selected(next, rows[Math.min(index, rows.length - 1)]?.id);
}

function edited(state: State, shown: Shown, text: string): State {
  const { page } = state;
  if (page.at !== 'request' || page.shown !== shown) return state;
  const { edited: _, ...before } = shown;
  const keep = (kept: Shown, notice: Notice): State => ({ ...state, page: pageOf(state, kept), notice });
  try {
    const args = parseArguments(text, 'What you wrote');
    const { tool } = shown.open.request;
    if (callContent(tool, args) === callContent(tool, shown.open.arguments)) {
      const { draft: __, ...unchanged } = before;
      return keep(unchanged, { tone: 'plain', text: 'Nothing is changed.' });
    }
    return keep({ ...before, draft: text, edited: args }, CHANGED);
  } catch (error) {
    const problem = isCountersignError(error) ? error.message : String(error);
    return keep({ ...before, draft: text }, { tone: 'bad', text: 'e goes on where you were:', foreign: problem });
  }
}

const CHANGED: Notice = {
  tone: 'plain',
  text: 'Changed. y approves it with your arguments; e changes them again, u drops them.',
};

function answered(state: State, { shown, decision, answer: given }: Extract<Event, { on: 'answered' }>): Step {
  const { answer, message, field, agreed } = given;
  const { code } = shown.open;
  const taken = answer === 'accepted' || answer === 'already_decided';
  const held = state.halted && decision === 'approve' && answer === 'accepted' && !agreed;
  const notice: Notice = {
    tone: taken ? 'good' : 'bad',
    text: `${code} ${answer}${field ? ` at ${field.slice(0, 60)}` : ''}${held ? '; held until countersign resume' : ''}`,
    foreign: message,
  };
  const stays = answer === 'invalid_edit' || answer === 'bad_signature';
  const here = state.page.at === 'request' && state.page.shown === shown;
  return [{ ...(stays || !here ? state : backToList(state)), notice }, { do: 'refresh' }];
}

const backToList = (state: State): State => ({ ...withoutNotice(state), page: { at: 'list' } });

function idle({ busy: _, ...state }: State): State {
  return state;
}

function withoutNotice({ notice: _, ...state }: State): State {
  return state;
}
