/** What a terminal sends in raw mode, as keys. Pasted text comes as one piece, so that a newline in it confirms nothing. */

export type Key =
  | { name: 'text'; text: string }
  | { name: 'paste'; text: string }
  | { name: 'up' | 'down' | 'left' | 'right' | 'page_up' | 'page_down' | 'home' | 'end' }
  | { name: 'enter' | 'escape' | 'backspace' | 'tab' | 'delete' }
  | { name: 'ctrl'; letter: string };

/** Asks the terminal to mark what is pasted; the marks are `ESC [ 200 ~` and `ESC [ 201 ~`. */
const PASTE_START = '\u001b[200~';
const PASTE_END = '\u001b[201~';
/** Characters of one paste that are kept. */
const PASTE_LIMIT = 10_000;

const SEQUENCES: Readonly<Record<string, Exclude<Key['name'], 'text' | 'paste' | 'ctrl'>>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
  '1~': 'home',
  '3~': 'delete',
  '4~': 'end',
  '5~': 'page_up',
  '6~': 'page_down',
  '7~': 'home',
  '8~': 'end',
};

/** A control sequence (ECMA-48: parameters, intermediates, one final) or an SS3 one; and one that has only begun. */
// oxlint-disable-next-line no-control-regex
const SEQUENCE = /^\u001b(?:\[([0-?]*[ -/]*[@-~])|O([@-~]))/;
// oxlint-disable-next-line no-control-regex
const BEGUN = /^\u001b(?:\[[0-?]*[ -/]*|O)?$/;

export class KeyReader {
  #rest = '';
  #pasted: string | undefined;

  /** Keys in the order in which they came; what has only begun is kept for the next time. */
  read(chunk: string): Key[] {
    this.#rest += chunk;
    const keys: Key[] = [];
    while (this.#rest !== '') {
      if (this.#pasted !== undefined) {
        if (!this.#endPaste(keys)) break;
        continue;
      }
      if (this.#rest.startsWith(PASTE_START)) {
        this.#rest = this.#rest.slice(PASTE_START.length);
        this.#pasted = '';
        continue;
      }
      if (BEGUN.test(this.#rest)) break;
      keys.push(...this.#one());
    }
    return keys;
  }

  /** True where something has begun that may be a key by itself, if nothing follows soon. */
  get waits(): boolean {
    return this.#rest !== '' && this.#pasted === undefined;
  }

  /** Nothing followed: what has begun was the Escape key. */
  flush(): Key[] {
    if (!this.waits) return [];
    this.#rest = '';
    return [{ name: 'escape' }];
  }

  #endPaste(keys: Key[]): boolean {
    const end = this.#rest.indexOf(PASTE_END);
    // The mark of the end may come in two pieces.
    const safe = end >= 0 ? end : Math.max(0, this.#rest.length - PASTE_END.length + 1);
    this.#pasted = `${this.#pasted ?? ''}${this.#rest.slice(0, safe)}`.slice(0, PASTE_LIMIT);
    this.#rest = this.#rest.slice(end >= 0 ? end + PASTE_END.length : safe);
    if (end < 0) return false;
    keys.push({ name: 'paste', text: this.#pasted });
    this.#pasted = undefined;
    return true;
  }

  #one(): Key[] {
    const sequence = SEQUENCE.exec(this.#rest);
    if (sequence) {
      this.#rest = this.#rest.slice(sequence[0].length);
      const name = known(sequence[1] ?? sequence[2] ?? '');
      return name === undefined ? [] : [{ name }];
    }
    const [character = ''] = this.#rest;
    this.#rest = this.#rest.slice(character.length);
    return single(character);
  }
}

const known = (code: string): (typeof SEQUENCES)[string] | undefined =>
  Object.hasOwn(SEQUENCES, code) ? SEQUENCES[code] : undefined;

function single(character: string): Key[] {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x1b) return [{ name: 'escape' }];
  if (code === 0x0d || code === 0x0a) return [{ name: 'enter' }];
  if (code === 0x09) return [{ name: 'tab' }];
  if (code === 0x7f || code === 0x08) return [{ name: 'backspace' }];
  if (code < 0x20) return code === 0 ? [] : [{ name: 'ctrl', letter: String.fromCharCode(code + 0x60) }];
  return [{ name: 'text', text: character }];
}
