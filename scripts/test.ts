/**
 * All that must hold before a change is good: types, lint, format, tests. `--checks` leaves the tests out. Any other
 * argument goes to vitest, which then runs alone. The last line is always `N passed, N failed`.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

interface Result {
  name: string;
  passed: number;
  failed: number;
  skipped: number;
  seconds: number;
}

const CHECKS: [name: string, program: string, ...args: string[]][] = [
  ['types', 'tsc', '--noEmit', '--pretty', 'false'],
  ['lint', 'oxlint', '--type-aware', '--deny-warnings'],
  ['format', 'oxfmt', '--check'],
];

const args = process.argv.slice(2);
const onlyChecks = args[0] === '--checks';
const results: Result[] = [];

if (args.length === 0 || onlyChecks) for (const check of CHECKS) results.push(await runCheck(check));
if (!onlyChecks) results.push(await runTests(args));

console.log('');
for (const { name, passed, failed, skipped, seconds } of results) {
  const counts =
    name === 'tests' ? `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}` : '';
  console.log(`${failed > 0 ? '✗' : '✓'} ${name.padEnd(8)}${counts.padEnd(36)}${seconds.toFixed(1).padStart(7)} s`);
}
const sum = (of: 'passed' | 'failed'): number => results.reduce((total, result) => total + result[of], 0);
console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
process.exitCode = sum('failed') > 0 ? 1 : 0;

async function runCheck([name, program, ...programArgs]: (typeof CHECKS)[number]): Promise<Result> {
  const since = Date.now();
  const failed = (await run(program, programArgs)) === 0 ? 0 : 1;
  return { name, passed: 1 - failed, failed, skipped: 0, seconds: (Date.now() - since) / 1000 };
}

async function runTests(filters: string[]): Promise<Result> {
  const since = Date.now();
  const folder = await mkdtemp(join(tmpdir(), 'countersign-results-'));
  const file = join(folder, 'results.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
    const status = await run('vitest', ['run', ...reporters, ...filters]);
    return { name: 'tests', ...count(file, status), seconds: (Date.now() - since) / 1000 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The parts of vitest's JSON report that count. */
interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

function count(file: string, status: number): Pick<Result, 'passed' | 'failed' | 'skipped'> {
  if (!existsSync(file)) return { passed: 0, failed: status === 0 ? 0 : 1, skipped: 0 };
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
  // A file that does not even load has no tests to fail, and counts as one.
  const brokenFiles = report.testResults.filter(
    (result) => result.status === 'failed' && !result.assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const failed = report.numFailedTests + brokenFiles;
  return {
    passed: report.numPassedTests,
    // Vitest also fails a run for what no test is to blame for: an unhandled rejection, a set-up that threw.
    failed: status !== 0 && failed === 0 ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/** Runs a program of node_modules/.bin with our output; its exit status. Ctrl-C reaches it without us. */
function run(program: string, programArgs: string[]): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [binary(program), ...programArgs], { cwd: ROOT, stdio: ['ignore', 1, 2] });
    const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
    const ignore = (): void => {};
    process.on('SIGINT', ignore).on('SIGTERM', forward);
    child.on('error', (error) => {
      console.error(String(error));
      resolve(127);
    });
    child.on('close', (code) => {
      process.off('SIGINT', ignore).off('SIGTERM', forward);
      resolve(code ?? 1);
    });
  });
}

function binary(program: string): string {
  return join(ROOT, 'node_modules', '.bin', program);
}
