/** `countersign pending`: the calls that wait for somebody. */
import type { Command } from 'commander';
import type { WaitingCall } from '../../client/index.ts';
import { type Common, defineCommand, onAction } from '../command.ts';
import { limit } from '../io/options.ts';
import { note, paint, print, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';
import { safeLine } from '../../approval/render/safe-text.ts';
import { haltedWarning } from '../render/halted.ts';
import { table } from '../render/table.ts';
import { span } from '../render/time.ts';
import { withService } from '../service/with-service.ts';

interface Options extends Common {
  all?: boolean;
  session?: string;
  limit?: number;
}

/** Nobody reads more, and ten thousand take the server seconds. */
const SHOWN = 100;

const EXAMPLES = `
countersign pending
countersign pending --all              calls that wait for corrected arguments, too
countersign pending --limit 20         the newest twenty
countersign pending --json | jq -r .id`;

export function command(ended: Ended): Command {
  const pending = defineCommand('pending', 'Lists the calls that wait for an approval, newest first.', EXAMPLES)
    .option('--all', 'also those that wait for corrected arguments')
    .option('--session <id>', 'only those of this session itself')
    .option('--limit <n>', `no more than so many, the newest (default: ${SHOWN}; with --json all)`, limit);
  return onAction(pending, ended, run);
}

async function run({ all = false, session, json, limit: most = json ? undefined : SHOWN }: Options): Promise<void> {
  await withService(async (countersign) => {
    const of = session === undefined ? {} : { session };
    const [calls, halt] = await Promise.all([
      countersign.approvals.pending({ all, ...of, ...(most !== undefined && { limit: most }) }),
      countersign.control.halted(),
    ]);
    if (halt) note(paint('yellow', haltedWarning(halt), process.stderr));
    if (calls.length === 0) {
      if (!json) note('Nothing waits.');
      return;
    }
    const rows = calls.map(describe);
    if (json) rows.forEach(printJson);
    else printTable(rows);
    if (json || calls.length !== most) return;
    const waiting = await countersign.approvals.count(of);
    if (waiting > most) note(newestText(most, waiting, all));
  });
}

/** The server counts without telling apart what is waited for. */
const newestText = (shown: number, waiting: number, all: boolean): string =>
  `These are the newest ${shown.toLocaleString('en-US')} of ${waiting.toLocaleString('en-US')}${all ? '' : ' that wait, for an approval or a correction'}. --limit N shows more.`;

interface WaitingLine extends Omit<WaitingCall, 'waiting'> {
  tool: string;
  waitingFor: 'approval' | 'correction';
  tier?: string;
  /** Session ids, from the call's own up to main. */
  route: string[];
  /** ISO 8601. */
  since: string;
  expiresAt: string;
  error?: object;
}

function describe(call: WaitingCall): WaitingLine {
  const { waiting, ...name } = call;
  const line = { ...name, tool: waiting.tool, waitingFor: waiting.for, since: new Date(waiting.since).toISOString() };
  if (waiting.for === 'correction') {
    const { until, error } = waiting;
    const { code, message } = error;
    return { ...line, route: [call.session], expiresAt: new Date(until).toISOString(), error: { code, message } };
  }
  const { request, route, summary } = waiting;
  return { ...line, summary, tier: request.tier, route, expiresAt: new Date(request.expiresAt).toISOString() };
}

function printTable(rows: readonly WaitingLine[]): void {
  const now = Date.now();
  const cells = rows.map((row) => [
    row.code ?? '(correction)',
    safeLine(row.tool),
    row.tier ?? '',
    span(now - Date.parse(row.since)),
    span(Date.parse(row.expiresAt) - now),
    safeLine(row.route.join(' → ')),
    safeLine(row.summary ?? row.id),
  ]);
  for (const line of table(['CODE', 'TOOL', 'TIER', 'WAITS', 'EXPIRES IN', 'SESSION', 'CALL'], cells)) print(line);
  const asks = rows.find(({ code }) => code !== undefined);
  if (asks) return note(`\nLook at one: countersign show '${asks.code}'`);
  const [first] = rows;
  if (first)
    note(`\nCorrect one: countersign amend ${first.id} '{…}'   (what is wrong: countersign result ${first.id})`);
}
