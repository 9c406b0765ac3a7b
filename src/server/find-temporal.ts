/**
 * Gets the Temporal server for development (the Temporal CLI): from PATH, from the user's cache, by download, and at
 * last by building it from its Go module, whose exact content temporal-server/go.sum pins.
 */
import { existsSync, readFileSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { CountersignError } from '../protocol/errors.ts';
import { waitForLock } from './lock.ts';
import { cacheDir, packageRoot } from './paths.ts';
import { which } from './processes.ts';

/** Oldest server that has all the switches that we set (eager workflow start, eager activities). */
const OLDEST_SERVER = [1, 29] as const;
const GO_PACKAGE = 'github.com/temporalio/cli/cmd/temporal';
const DOWNLOAD_HOST = 'https://temporal.download';

export interface FoundTemporal {
  path: string;
  /** As the program says it: `temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)`. */
  version: string;
  from: 'PATH' | 'cache' | 'download' | 'build';
}

/** Told what is being done, one line each; only where it takes more than a moment. */
export type Report = (line: string) => void;

/** The Temporal CLI's version that we run, named once, in temporal-server/go.mod. */
export function temporalVersion(): string {
  const mod = readFileSync(join(packageRoot(), 'temporal-server', 'go.mod'), 'utf8');
  const version = /github\.com\/temporalio\/cli v([\d.]+)/.exec(mod)?.[1];
  if (version === undefined) throw new CountersignError('internal', 'temporal-server/go.mod names no version');
  return version;
}

/** A server that is there already, without getting one. */
export async function findTemporal(): Promise<FoundTemporal | undefined> {
  const onPath = which('temporal');
  if (onPath !== undefined) {
    const version = await versionOf(onPath);
    if (version !== undefined && isRecent(version)) return { path: onPath, version, from: 'PATH' };
  }
  const path = cachedBinary();
  const version = existsSync(path) ? await versionOf(path) : undefined;
  return version === undefined ? undefined : { path, version, from: 'cache' };
}

/**
 * A server in any case. The first time on a machine this downloads or builds one: seconds or about five minutes.
 * @throws CountersignError `setup_incomplete` when neither is possible, saying what would help
 */
export async function getTemporal(report: Report = () => {}): Promise<FoundTemporal> {
  const found = await findTemporal();
  if (found) return found;

  const folder = join(cachedBinary(), '..');
  await mkdir(folder, { recursive: true });
  using _lock = await waitForLock(join(folder, 'lock'), () =>
    report('… Temporal server: another process is getting it, waiting'),
  );
  const meanwhile = await findTemporal();
  if (meanwhile) return meanwhile;
  // Unfinished files of builds that were killed; the lock says that nobody is making them.
  for (const name of await readdir(folder)) if (name.startsWith('temporal.')) await rm(join(folder, name));

  const tried: string[] = [];
  for (const [from, get] of [
    ['download', download],
    ['build', build],
  ] as const) {
    try {
      await get(report);
      const version = await versionOf(cachedBinary());
      if (version !== undefined) return { path: cachedBinary(), version, from };
      tried.push(`${from}: the program that came out does not run`);
    } catch (error) {
      tried.push(`${from}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new CountersignError(
    'setup_incomplete',
    `There is no Temporal server, and none could be got.\n  ${tried.join('\n  ')}\n` +
      'Install the Temporal CLI (https://docs.temporal.io/cli) or Go 1.21 or later, or set TEMPORAL_ADDRESS to a server of your own.',
  );
}

const cachedBinary = (): string => join(cacheDir(), 'temporal', temporalVersion(), 'temporal');

async function versionOf(path: string): Promise<string | undefined> {
  try {
    const { stdout } = await execa(path, ['--version'], { timeout: 10_000 });
    return stdout;
  } catch {
    return undefined;
  }
}

function isRecent(version: string): boolean {
  const [major, minor] = (/Server (\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number);
  if (major === undefined || minor === undefined) return false;
  return major > OLDEST_SERVER[0] || (major === OLDEST_SERVER[0] && minor >= OLDEST_SERVER[1]);
}

/** Moves a finished file into the cache in one step, so that nobody ever runs half of one. */
async function keep(file: string): Promise<void> {
  await chmod(file, 0o755);
  await rename(file, cachedBinary());
}

/** The SDK's own downloader. It has no "download only", so the server that it starts is ended at once. */
async function download(report: Report): Promise<void> {
  const version = temporalVersion();
  await fetch(DOWNLOAD_HOST, { method: 'HEAD', signal: AbortSignal.timeout(5_000) }).catch(() => {
    throw new Error(`${DOWNLOAD_HOST} cannot be reached`);
  });
  const since = Date.now();
  report(`… Temporal server: downloading ${version}`);
  const { Runtime } = await import('@temporalio/worker');
  const folder = await mkdtemp(join(tmpdir(), 'countersign-temporal-'));
  try {
    const runtime = Runtime.instance();
    const server = await runtime.createEphemeralServer({
      type: 'dev-server',
      exe: {
        type: 'cached-download',
        downloadDir: folder,
        version: `v${version}`,
        ttl: 86_400_000,
        sdkName: 'sdk-typescript',
        sdkVersion: version,
      },
      namespace: 'default',
      ip: '127.0.0.1',
      port: null,
      uiPort: null,
      dbFilename: null,
      ui: false,
      log: { format: 'pretty', level: 'error' },
      extraArgs: [],
    });
    await runtime.shutdownEphemeralServer(server);
    const file = (await readdir(folder)).find((name) => name.includes('temporal'));
    if (file === undefined) throw new Error('the download left no program');
    const copy = `${cachedBinary()}.${process.pid}`;
    await copyFile(join(folder, file), copy);
    await keep(copy);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  report(`✓ Temporal server: downloaded, ${elapsed(since)}`);
}

async function build(report: Report): Promise<void> {
  if (which('go') === undefined) throw new Error('Go is not installed');
  const since = Date.now();
  const version = temporalVersion();
  report(`… Temporal server: building ${version} from its Go module; once, about five minutes on two cores`);
  const output = `${cachedBinary()}.${process.pid}`;
  const flags = [
    '-mod=readonly',
    '-v',
    '-ldflags',
    `-s -w -X github.com/temporalio/cli/internal/temporalcli.Version=${version}`,
  ];
  let compiled = 0;
  const timer = setInterval(
    () => report(`  Temporal server: ${compiled} packages compiled, ${elapsed(since)} so far`),
    15_000,
  );
  try {
    await goBuild(['build', ...flags, '-o', output, GO_PACKAGE], (lines) => (compiled += lines));
    await keep(output);
  } finally {
    clearInterval(timer);
    await rm(output, { force: true });
  }
  report(`✓ Temporal server: built, ${elapsed(since)}`);
}

/** With `-v`, Go prints the name of each package that it compiles. */
async function goBuild(args: string[], onPackages: (count: number) => void): Promise<void> {
  const go = execa('go', args, {
    cwd: join(packageRoot(), 'temporal-server'),
    env: { GOWORK: 'off' },
    stdin: 'ignore',
    stdout: 'ignore',
    buffer: false,
    reject: false,
  });
  let tail = '';
  for await (const line of go.iterable({ from: 'stderr' })) {
    onPackages(1);
    tail = `${tail}${line}\n`.slice(-2_000);
  }
  const { exitCode, failed, originalMessage = '' } = await go;
  if (failed) throw new Error(`go build failed (${exitCode ?? originalMessage})\n${tail.trim()}`);
}

const elapsed = (since: number): string => `${Math.round((Date.now() - since) / 1000)} s`;
