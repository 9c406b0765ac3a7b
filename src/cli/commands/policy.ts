/** `countersign policy`: what rules would say, before they are the rules. */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { parseCases } from '../../config/index.ts';
import {
  type CaseAnswer,
  type CaseResult,
  type JudgedSession,
  type PolicyChange,
  type PolicyCase,
  runPolicyCases,
} from '../../policy/index.ts';
import { CountersignError } from '../../protocol/errors.ts';
import type { CallError } from '../../protocol/outcome.ts';
import { parseCallWorkflowId } from '../../protocol/ids.ts';
import { safeLine } from '../../approval/render/safe-text.ts';
import { type Common, defineCommand, defineGroup, onAction } from '../command.ts';
import { forEachAtMost } from '../../common/at-most.ts';
import { isErrno } from '../../common/errno.ts';
import { concurrency, duration } from '../io/options.ts';
import { note, paint, print, printJson } from '../io/output.ts';
import { type LocalJudge, folderFacts, localJudge } from '../judge/local-judge.ts';
import { callsSince, recordedCall, sessionsKnown } from '../judge/recorded-calls.ts';
import type { Ended } from '../program.ts';
import { withSpinner } from '../render/spinner.ts';
import { table } from '../render/table.ts';
import { withService } from '../service/with-service.ts';
import { STATUS, type Status } from '../status.ts';
import { logCommand } from './policy-log.ts';

const EXAMPLES = `
countersign policy test cases.jsonc
countersign policy dry-run --since 7d --config strict.jsonc
countersign policy log

What a single call would meet: countersign explain TOOL ARGS_JSON`;

const TEST_EXAMPLES = `
countersign policy test cases.jsonc
countersign policy test cases.jsonc --config strict.jsonc --json

A file of cases is a list in JSON with comments, each a call and what is expected of it:
  [{ "name": "nobody reads secrets", "session": { "agent": "coder", "kind": "branch" },
     "tool": "read", "arguments": { "path": "secrets/key.pem" },
     "expect": { "verdict": "deny", "rule": "rules \\"no secrets\\"" } }]
Of expect, verdict (run, ask, deny, invalid) is needed; rule, tier and code are compared where they are given.
Of session, kind, agent, channel, provider, group, owner and workspace may be said; a case of an agent, channel or owner that the
configuration does not declare fails, as a service would refuse its session.
Needs no service. Exit status 1 when a case differs.`;

const DRY_RUN_EXAMPLES = `
countersign policy dry-run --since 7d
countersign policy dry-run --since 24h --config strict.jsonc --json | jq -r .id

Judges the arguments that each call had by the rules of now, in the sessions that made them, and lists the calls whose verdict would be
another. Paths are looked up as they are today. Nothing runs.`;

interface TestOptions extends Common {
  config?: string;
  workspace: string;
}

interface DryRunOptions extends Common {
  since: number;
  config?: string;
  concurrency: number;
}

export function command(ended: Ended): Command {
  const group = defineGroup('policy', 'Tests rules: by cases of your own, or on the calls of the last days.', EXAMPLES);
  const test = defineCommand(
    'test',
    'Runs cases (a call and the verdict expected of it) against the rules.',
    TEST_EXAMPLES,
  )
    .argument('<file>', 'the cases')
    .option('--config <file>', 'the configuration to judge by')
    .option('--workspace <dir>', 'the folder that the calls are made in', '.');
  group.addCommand(onAction(test, ended, runTest));
  const dryRun = defineCommand(
    'dry-run',
    'Judges recorded calls by the rules of now, and lists what would change.',
    DRY_RUN_EXAMPLES,
  )
    .requiredOption('--since <duration>', 'calls that were started in this time, as 7d or 12h', duration)
    .option('--config <file>', 'the configuration to judge by')
    .option('--concurrency <n>', 'histories that are read at a time', concurrency, 8);
  group.addCommand(onAction(dryRun, ended, runDryRun));
  group.addCommand(logCommand(ended));
  return group;
}

// ── test ────────────────────────────────────────────────────────────────────

async function runTest(file: string, { config, workspace, json }: TestOptions): Promise<Status> {
  const cases = parseCases(await readCases(file), file);
  const [judge, folder] = await Promise.all([localJudge(config), folderFacts(workspace)]);
  const results = await runPolicyCases(cases, (one) => answerTo(judge, one, judge.session(folder, one.session)));
  const failed = results.filter(({ passed }) => !passed);
  if (json) results.forEach(printJson);
  else printResults(results, failed, judge.config);
  return failed.length === 0 ? STATUS.done : STATUS.otherwise;
}

async function readCases(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const message = `No cases can be read from ${file}: ${unreadable(error)}. What a file of cases looks like: countersign policy test --help`;
    throw new CountersignError('invalid_usage', message, { cause: error });
  }
}

function unreadable(error: unknown): string {
  if (isErrno(error, 'ENOENT')) return 'there is no such file';
  if (isErrno(error, 'EISDIR')) return 'it is a folder';
  return error instanceof Error ? error.message : String(error);
}

async function answerTo(
  judge: LocalJudge,
  { tool, arguments: args }: PolicyCase,
  session: JudgedSession,
): Promise<CaseAnswer> {
  const judged = await judge.judge(session, { tool, arguments: args });
  if (judged.ok) return judged.judgement;
  const { kind, code, message, field } = judged.error;
  if (kind !== 'ValidationError') throw new CountersignError(code, message);
  // With its code, for cases that expect one.
  const invalid = { verdict: 'invalid' as const, code, reason: `${code}${field ? ` at ${field}` : ''}: ${message}` };
  return invalid;
}

function printResults(results: readonly CaseResult[], failed: readonly CaseResult[], by: string): void {
  const rows = failed.flatMap(({ name, differences }) =>
    differences.map((difference, i) => [i === 0 ? safeLine(name) : '', safeLine(difference)]),
  );
  if (rows.length > 0) for (const line of table(['CASE', 'DIFFERENCE'], rows)) print(line);
  const passed = results.length - failed.length;
  const said =
    failed.length === 0
      ? paint('green', `${counted(passed, 'case')} as expected`)
      : paint('red', `${failed.length} of ${counted(results.length, 'case')} otherwise than expected`);
  print(`${rows.length > 0 ? '\n' : ''}${said}\n${paint('dim', `judged by ${safeLine(by)}`)}`);
}

// ── dry-run ─────────────────────────────────────────────────────────────────

type Changed = Omit<PolicyChange, 'now'> & {
  now: PolicyChange['now'] | { verdict: 'invalid' | 'deny'; code: string; reason: string };
};

interface Tally {
  judged: number;
  /** Calls without a judgement, or of sessions that are no longer known. */
  skipped: number;
  changes: Changed[];
}

async function runDryRun({ since, config, concurrency: limit, json }: DryRunOptions): Promise<void> {
  const judge = await localJudge(config);
  await withService(async (countersign) => {
    const tally: Tally = { judged: 0, skipped: 0, changes: [] };
    await withSpinner('read calls', async (spinner) => {
      const sessionOf = await sessionsKnown(countersign);
      await forEachAtMost(callsSince(countersign, new Date(Date.now() - since)), limit, async (id) => {
        const session = sessionOf(parseCallWorkflowId(id)?.session ?? '');
        const recorded = session && (await recordedCall(countersign, id));
        if (!session || !recorded) return void (tally.skipped += 1);
        tally.judged += 1;
        spinner.say(`${tally.judged}`);
        const now = await judge.change({ id, session, ...recorded });
        if (now === undefined) return;
        const change = 'direction' in now ? now : refused(id, recorded, now);
        if (change === undefined) return;
        tally.changes.push(change);
        if (json) printJson(change);
      });
    });
    if (!json) printChanges(tally);
    note(paint('dim', `${tallyLine(tally)}\njudged by ${safeLine(judge.config)}`, process.stderr));
  });
}

/** A call that would not even be judged now: its tool is gone, or takes other arguments. One that was denied stays so. */
function refused(
  id: string,
  { tool, before }: { tool: string; before: PolicyChange['before'] },
  { kind, code, message }: CallError,
): Changed | undefined {
  const verdict = kind === 'ValidationError' ? 'invalid' : 'deny';
  if (before.verdict === verdict) return undefined;
  return { id, tool, before, now: { verdict, code, reason: message }, direction: 'stricter' };
}

function printChanges({ changes }: Tally): void {
  if (changes.length === 0) return;
  const rows = changes.map(({ id, tool, before, now, direction }) => [
    direction,
    safeLine(tool),
    `${before.verdict} → ${now.verdict}`,
    id,
    safeLine(`${'rule' in now ? now.rule : now.code}: ${now.reason}`),
  ]);
  for (const line of table(['IS NOW', 'TOOL', 'VERDICT', 'CALL', 'BECAUSE'], rows)) print(line);
}

const tallyLine = ({ judged, skipped, changes }: Tally): string =>
  `${counted(judged, 'call')} judged, ${changes.length} would change` +
  (skipped > 0 ? `; ${skipped} left out (never judged, or their session is no longer on record)` : '');

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
