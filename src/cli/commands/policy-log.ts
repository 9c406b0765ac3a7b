/** `countersign policy log`: which worker took up which rules, and when. */
import { type Command, InvalidArgumentError } from 'commander';
import { safeLine } from '../../approval/render/safe-text.ts';
import type { ConfigRecord, PlaceChange } from '../../protocol/config-change.ts';
import { type Common, defineCommand, onAction } from '../command.ts';
import { note, paint, print, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';
import { clock } from '../render/time.ts';
import { withService } from '../service/with-service.ts';

interface Options extends Common {
  limit: number;
}

const EXAMPLES = `
countersign policy log
countersign policy log --limit 500 --json | jq 'select(.hash == "sha256:…")'

Newest first: changes that workers took up, at a start or while they ran, and files that they refused. The hash is the one that a call's
audit shows with each judgement. Kept in Temporal, as long as the namespace keeps closed workflows.`;

export function logCommand(ended: Ended): Command {
  const log = defineCommand(
    'log',
    'Lists the changes of the configuration: who, when, what, which hash.',
    EXAMPLES,
  ).option('--limit <n>', 'how many, the newest first', limit, 50);
  return onAction(log, ended, run);
}

function limit(text: string): number {
  const number = Number(text);
  if (!/^\d{1,5}$/.test(text) || number < 1) throw new InvalidArgumentError('It is a number from 1 to 99999.');
  return number;
}

async function run({ limit: most, json }: Options): Promise<void> {
  await withService(async (countersign) => {
    const { configLog } = await import('../../client/config-log.ts');
    const records = await configLog(countersign.temporal, most);
    for (const record of records) {
      if (json) printJson({ ...record, at: new Date(record.at).toISOString() });
      else for (const line of linesOf(record)) print(line);
    }
    if (records.length === 0) note('No configuration is on record.');
  });
}

function linesOf(record: ConfigRecord): string[] {
  const { at, worker, file, hash } = record;
  const head = `${clock(at)}  ${safeLine(hash)}  ${safeLine(worker)}  ${safeLine(file ?? '(no file: the defaults)')}`;
  if (record.kind === 'refused')
    return [head, `  ${paint('red', 'refused, these rules were kept')}: ${safeLine(record.error)}`];
  const { before, on, changes, more } = record;
  const since = before === null ? 'the first on record' : `instead of ${safeLine(before)}`;
  return [
    head,
    `  ${paint('bold', on === 'start' ? 'a worker started' : 'the file changed')}, ${since}`,
    ...changesInWords(changes).map((words) => `  ${safeLine(words)}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

/** A list or section that comes or goes empty says nothing where its members are told of. */
export const changesInWords = (changes: readonly PlaceChange[]): string[] =>
  changes
    .filter((change) => !isEmptied(change) || !changes.some(({ place }) => isBelow(place, change.place)))
    .map(inWords);

const isEmptied = ({ before, after }: PlaceChange): boolean =>
  before === undefined || after === undefined ? ['', '{}'].includes(before ?? after ?? '') : false;

/** As `approvals.approvers "ann"` or `agents.coder` is. */
const isBelow = (place: string, above: string): boolean => [' ', '.'].some((mark) => place.startsWith(above + mark));

/** `deny: shell → shell, write`; `rules "x" added: …`. */
function inWords({ place, before, after }: PlaceChange): string {
  if (before === undefined) return `${place} added: ${valueInWords(after)}`;
  if (after === undefined) return `${place} removed, was: ${valueInWords(before)}`;
  return `${place}: ${valueInWords(before)} → ${valueInWords(after)}`;
}

const valueInWords = (value: string | undefined): string => value || 'nothing';
