/**
 * Everything that a fresh clone lacks: the dependencies (Node 24 is one of them), the shell sandbox, the Temporal server.
 * Each step looks first, so that a machine that has it all spends a few milliseconds here.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheDir } from '../bin/folders.mjs';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const MODULES = join(ROOT, 'node_modules');
const NODE_MAJOR = 24;
const OLDEST_NODE = 20;

/** @param {{ server: boolean }} what - whether the task needs a Temporal server */
export async function setUp({ server }) {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < OLDEST_NODE)
    throw new Error(`Node ${OLDEST_NODE} or later is needed to set up; this is ${process.version}.`);
  await dependencies();
  await sandbox();
  if (server && !process.env.TEMPORAL_ADDRESS && !temporalIsAtHand()) await temporalServer();
}

/** Node 24: the one that came with the dependencies, so that everybody runs the same. */
export function nodeBinary() {
  const own = join(MODULES, 'node', 'bin', 'node');
  if (existsSync(own)) return own;
  if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR) return process.execPath;
  throw new Error(
    `Node ${NODE_MAJOR} did not come with the dependencies. Are install scripts switched off (npm config get ignore-scripts)? ` +
      `Node ${NODE_MAJOR} on PATH serves as well.`,
  );
}

// --- Dependencies ------------------------------------------------------------------------------------------------

async function dependencies() {
  const stamp = join(MODULES, '.countersign-set-up');
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  const wanted = createHash('sha256').update(`${process.platform} ${process.arch}\n${lock}`).digest('hex');
  if (read(stamp) === wanted) return;
  if (!isInstalled(JSON.parse(lock))) {
    const hadNode = existsSync(join(MODULES, 'node', 'bin', 'node'));
    if (!hadNode) await step('dependencies (npm ci)', () => npm(['ci'], process.execPath));
    // npm passes over optional packages that want a newer Node than its own, and says nothing. Run by Node 24 it gets
    // them: native halves of packages are such.
    if (nodeBinary() !== process.execPath || hadNode) {
      await step('what needs Node 24 (npm install)', () => npm(['install', '--no-save'], nodeBinary()));
    }
  }
  checkNativeBinding();
  writeFileSync(stamp, wanted);
}

/** True when node_modules holds what the lock file names, leaving out what is for other platforms. */
function isInstalled(lock) {
  const hidden = read(join(MODULES, '.package-lock.json'));
  if (hidden === undefined) return false;
  const present = JSON.parse(hidden).packages;
  return Object.entries(lock.packages).every(
    ([path, wanted]) => path === '' || !isForUs(wanted) || present[path]?.version === wanted.version,
  );
}

function isForUs(entry) {
  if (entry.optional && entry.peer) return false;
  // Temporal's native bridge is built for glibc alone, so musl is no case.
  const libc = !entry.libc || entry.libc.includes('glibc');
  return (
    libc &&
    (entry.os ?? [process.platform]).includes(process.platform) &&
    (entry.cpu ?? [process.arch]).includes(process.arch)
  );
}

/** The worker's native half comes in the package; a system that it does not run on is told so now, not at the first call. */
function checkNativeBinding() {
  const { status, stderr } = spawnSync(nodeBinary(), ['-e', "require('@temporalio/core-bridge')"], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`Temporal's native bridge does not load (it needs glibc).\n${stderr.trim()}`);
}

/** npm, run by the given Node, its output shown only when it fails. */
async function npm(args, node) {
  const bin = dirname(node);
  const cli = process.env.npm_execpath?.endsWith('.js') ? process.env.npm_execpath : undefined;
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ''}` };
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  await run(cli ? node : 'npm', [...(cli ? [cli] : []), ...args, ...quiet], { cwd: ROOT, env });
}

// --- Sandbox -----------------------------------------------------------------------------------------------------

const PACKAGE_MANAGERS = [
  { name: 'apt-get', refresh: ['update'], install: ['install', '-y', '--no-install-recommends', 'bubblewrap'] },
  { name: 'dnf', install: ['install', '-y', 'bubblewrap'] },
  { name: 'pacman', refresh: ['-Sy'], install: ['-S', '--noconfirm', 'bubblewrap'] },
  { name: 'zypper', install: ['--non-interactive', 'install', 'bubblewrap'] },
];

/** Installs bubblewrap where we may; where not, says how and goes on: the shell tool is then not offered. */
async function sandbox() {
  if (process.platform !== 'linux' || which('bwrap')) return;
  const manager = PACKAGE_MANAGERS.find(({ name }) => which(name));
  const root = process.getuid?.() === 0;
  const command = manager && `${root ? '' : 'sudo '}${manager.name} ${manager.install.join(' ')}`;
  const say = (why) =>
    note(`shell sandbox: ${why}; the shell tool is not offered. To get it: ${command ?? 'install bubblewrap'}`);

  const may = root || spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0;
  if (!manager || !may) return say('bubblewrap is missing');
  const withRights = (args) =>
    run(root ? manager.name : 'sudo', root ? args : ['-n', manager.name, ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  try {
    await step('shell sandbox (bubblewrap)', async () => {
      await withRights(manager.install).catch(async (error) => {
        if (!manager.refresh) throw error;
        await withRights(manager.refresh);
        await withRights(manager.install);
      });
    });
  } catch (error) {
    say(`bubblewrap could not be installed (${error.message.split('\n').at(-1)})`);
  }
}

// --- Temporal server ---------------------------------------------------------------------------------------------

/** A look without starting anything; whether that server is recent enough is for src/server to say. */
function temporalIsAtHand() {
  if (which('temporal')) return true;
  const version = /github\.com\/temporalio\/cli v([\d.]+)/.exec(
    readFileSync(join(ROOT, 'temporal-server', 'go.mod'), 'utf8'),
  )?.[1];
  return version !== undefined && existsSync(join(cacheDir(), 'temporal', version, 'temporal'));
}

/** Downloads or builds it. Shows its own progress, since a build takes minutes. */
function temporalServer() {
  return new Promise((resolve, reject) => {
    const child = spawn(nodeBinary(), [join(ROOT, 'scripts', 'get-temporal.ts')], { stdio: ['ignore', 2, 'inherit'] });
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error('set-up stopped'))));
  });
}

// --- Small things ------------------------------------------------------------------------------------------------

/** Says what is being done, and then how long it took; while it lasts, every 15 seconds that it still does. */
async function step(what, work) {
  const since = Date.now();
  const seconds = () => `${((Date.now() - since) / 1000).toFixed(1)} s`;
  note(`… ${what}`);
  const timer = setInterval(() => note(`  ${what}: ${seconds()} so far`), 15_000);
  try {
    await work();
    note(`✓ ${what}, ${seconds()}`);
  } finally {
    clearInterval(timer);
  }
}

function note(line) {
  process.stderr.write(`${line}\n`);
}

/** Runs a program to its end; throws with all its output when it fails. */
function run(program, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${program} ${args.join(' ')} failed (${code})\n${output.trim()}`)),
    );
  });
}

function which(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
