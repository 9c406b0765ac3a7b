/** What a call would do, from its arguments and the files as they are now. Pure but for what it is given to read with. */
import { structuredPatch } from 'diff';
import type { Json, JsonObject } from '../protocol/json.ts';
import type { CommandStep, Preview } from '../protocol/preview.ts';
import { commandSteps } from './command-steps.ts';
import { excerpt, jsonCost } from './excerpt.ts';
import { redact } from './redact.ts';

export interface PreviewSurroundings {
  /** A file's text; undefined where there is no such file. What it throws means: nobody can say. */
  readText(path: string): Promise<string | undefined>;
  /** Where sandboxed commands run (`shell.backend`). Default: sandbox. */
  backend?: 'sandbox' | 'host' | 'disabled';
}

/** Bytes of a preview as JSON: it stands in the history of each call that asks. */
export const PREVIEW_BYTES = 8 * 1024;

/**
 * The preview of a call, or undefined where there is nothing to say beyond the arguments. Never throws, and is never larger
 * than {@link PREVIEW_BYTES}. Nothing is bound by it.
 */
export async function previewOf(
  tool: string,
  args: JsonObject,
  surroundings: PreviewSurroundings,
): Promise<Preview | undefined> {
  try {
    const preview = await previewBy(tool, args, surroundings);
    return preview === undefined || jsonBytes(preview) <= PREVIEW_BYTES ? preview : undefined;
  } catch {
    return undefined;
  }
}

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

async function previewBy(
  tool: string,
  args: JsonObject,
  surroundings: PreviewSurroundings,
): Promise<Preview | undefined> {
  const path = text(args, 'path');
  const command = text(args, 'command');
  if (tool === 'write' && path !== undefined) return writePreview(path, text(args, 'content') ?? '', surroundings);
  if (tool === 'edit' && path !== undefined) return editPreview(path, args, surroundings);
  if (tool === 'delete' && path !== undefined)
    return { kind: 'delete', path: short(path), recursive: own(args, 'recursive') === true };
  if (tool === 'shell' && command !== undefined) return commandPreview(command, args, surroundings);
  return messagePreview(args) ?? webPreview(args);
}

// ── files ───────────────────────────────────────────────────────────────────

/** Longer texts are not compared. */
const COMPARED_CHARACTERS = 500_000;
/** A worker does nothing else meanwhile. */
const COMPARE_MS = 100;

async function writePreview(path: string, content: string, { readText }: PreviewSurroundings): Promise<Preview> {
  const present = await readText(path).catch(() => null);
  if (present === null) return { ...diffOf(path, '', content), change: 'unknown' };
  return diffOf(path, present, content);
}

async function editPreview(path: string, args: JsonObject, { readText }: PreviewSurroundings): Promise<Preview> {
  const [oldText = '', newText = ''] = [text(args, 'oldText'), text(args, 'newText')];
  const present = await readText(path).catch(() => null);
  // Without the file, the texts themselves say what would change.
  if (present === null) return { ...diffOfPieces(path, oldText, newText), change: 'unknown' };
  const pieces = oldText === '' ? [] : (present ?? '').split(oldText);
  const fits = pieces.length === 2 || (pieces.length > 2 && own(args, 'replaceAll') === true);
  if (!fits) return { ...diffOfPieces(path, oldText, newText), change: 'refused' };
  return diffOf(path, present, pieces.join(newText));
}

type Diff = Extract<Preview, { kind: 'diff' }> & Preview;

const diffOf = (path: string, before: string | undefined, after: string): Diff =>
  diffBy(diffLines(before ?? '', after), path, before, after);

/** Of texts that are no whole files, so that their ends are no ends of a file. */
const diffOfPieces = (path: string, before: string, after: string): Diff => {
  const lines = diffLines(before, after).filter((line) => !line.startsWith('\\'));
  return diffBy(lines, path, before, after);
};

function diffBy(lines: readonly string[], path: string, before: string | undefined, after: string): Diff {
  const starting = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
  const diff = lines.join('\n');
  const size = PREVIEW_BYTES - 2 * jsonBytes(short(path)) - 400;
  return {
    kind: 'diff',
    path: short(path),
    change: before === undefined ? 'create' : before === after ? 'none' : 'change',
    added: starting('+'),
    removed: starting('-'),
    diff: excerpt(diff, { lines: 200, size, costOf: jsonCost }),
    ...(redact(diff) !== diff && { secret: true as const }),
  };
}

/** Lines of a unified diff, without its file names. Every line but the `@@` ones begins with a blank, `+`, `-` or `\`. */
function diffLines(before: string, after: string): string[] {
  const [start, end] = before === after ? [0, 0] : commonEnds(before, after);
  const [old, now] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  if (before !== '' && after !== '' && old.length + now.length <= COMPARED_CHARACTERS) {
    const patch = structuredPatch('', '', old, now, '', '', {
      context: CONTEXT_LINES,
      maxEditLength: 2_000,
      timeout: COMPARE_MS,
    });
    const above = before.slice(0, start).split('\n').length - 1;
    if (patch !== undefined) return patch.hunks.flatMap((hunk) => hunkLines(hunk, above, end > 0));
  }
  const signed = (sign: string, content: string): string[] =>
    content === ''
      ? []
      : content
          .replace(/\n$/, '')
          .split('\n')
          .map((line) => sign + line);
  return [...signed('-', before), ...signed('+', after)];
}

const CONTEXT_LINES = 3;

/** How much of both texts is the same at the start and at the end, in whole lines and less those that are shown around a change. */
function commonEnds(before: string, after: string): [number, number] {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  for (let i = 0; i <= CONTEXT_LINES && start > 0; i += 1)
    start = start < 2 ? 0 : before.lastIndexOf('\n', start - (i === 0 ? 1 : 2)) + 1;
  let from = before.length - end;
  for (let i = 0; i <= CONTEXT_LINES && from < before.length; i += 1)
    from = before.indexOf('\n', from) + 1 || before.length;
  return [start, before.length - from];
}

function hunkLines(
  hunk: ReturnType<typeof structuredPatch>['hunks'][number],
  above: number,
  goesOn: boolean,
): string[] {
  const lines = goesOn ? hunk.lines.filter((line) => !line.startsWith('\\')) : hunk.lines;
  return [`@@ -${hunk.oldStart + above},${hunk.oldLines} +${hunk.newStart + above},${hunk.newLines} @@`, ...lines];
}

// ── commands ────────────────────────────────────────────────────────────────

const SHOWN_STEPS = 30;

function commandPreview(command: string, args: JsonObject, { backend = 'sandbox' }: PreviewSurroundings): Preview {
  const { steps, plain } = commandSteps(command);
  const outside = own(args, 'sandbox') === false;
  const where = backend === 'disabled' ? 'nowhere' : outside || backend === 'host' ? 'host' : 'sandbox';
  const env = own(args, 'env');
  const shown = fitting(steps.slice(0, SHOWN_STEPS));
  return {
    kind: 'command',
    steps: shown,
    more: steps.length - shown.length,
    plain,
    where,
    network: where === 'host',
    cwd: short(text(args, 'cwd') ?? '.'),
    env: typeof env === 'object' && env !== null ? Object.keys(env).slice(0, 20) : [],
    ...(redact(command) !== command && { secret: true as const }),
  };
}

/** As many steps as fit, each cut to some hundred characters. */
function fitting(steps: readonly CommandStep[]): CommandStep[] {
  let left = PREVIEW_BYTES - 4_000;
  const fit: CommandStep[] = [];
  for (const step of steps) {
    const cut = { ...step, text: short(step.text) };
    left -= jsonBytes(cut) + 1;
    if (left < 0) break;
    fit.push(cut);
  }
  return fit;
}

// ── messages and the web ────────────────────────────────────────────────────

const ADDRESSEES = ['to', 'recipient', 'recipients', 'channel', 'cc', 'bcc'] as const;
const MESSAGES = ['message', 'text', 'body', 'content'] as const;

/** Of any tool that has an addressee and a text. */
function messagePreview(args: JsonObject): Preview | undefined {
  const to = ADDRESSEES.flatMap((name) => texts(own(args, name)));
  const message = MESSAGES.map((name) => text(args, name)).find((value) => value !== undefined);
  if (to.length === 0 || message === undefined) return undefined;
  const size = PREVIEW_BYTES - 4_000;
  return {
    kind: 'message',
    to: to
      .slice(0, 5)
      .map(short)
      .concat(to.length > 5 ? [`… ${to.length - 5} more`] : []),
    text: excerpt(message, { lines: 100, size, costOf: jsonCost }),
    ...(redact(message) !== message && { secret: true as const }),
  };
}

function webPreview(args: JsonObject): Preview | undefined {
  const url = text(args, 'url');
  return url === undefined || URL.parse(url) === null ? undefined : { kind: 'web', url: short(url) };
}

// ── arguments ───────────────────────────────────────────────────────────────

const own = (args: JsonObject, name: string): Json | undefined => (Object.hasOwn(args, name) ? args[name] : undefined);

const text = (args: JsonObject, name: string): string | undefined => {
  const value = own(args, name);
  return typeof value === 'string' ? value : undefined;
};

const texts = (value: Json | undefined): string[] =>
  (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string');

/** At most 500 bytes, with both ends. */
function short(value: string): string {
  const { head, tail, left } = excerpt(value, { lines: 50, size: 480, costOf: jsonCost });
  return left === undefined ? head : `${head} … ${tail ?? ''}`;
}
