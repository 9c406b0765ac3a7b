#!/usr/bin/env node
// The `countersign` command: the built program where there is one, the sources in a clone.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheDir } from './folders.mjs';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const inClone = existsSync(path('../src/cli/main.ts'));

// A service lives long and has two heaps. Left alone, V8 lets the young half of each grow to over 100 MB on a machine with much memory,
// and the C library keeps an arena for each thread; see "Memory" in docs/performance.md.
const YOUNG = '--max-semi-space-size=16';

if (Number(process.versions.node.split('.')[0]) >= 24) {
  if (process.argv[2] === 'start') startFrugally();
  // Before anything else is loaded: Temporal's client alone is a hundred files, and sources are stripped of their types only once. In the
  // user's own cache, for who can write there can have us run what they like.
  // (Not imported above: an older Node, which this file sends on, does not have it.)
  const { enableCompileCache } = await import('node:module');
  enableCompileCache(join(cacheDir(), 'compile'));
  await import(inClone ? '../src/cli/main.ts' : '../dist/cli/main.js');
} else if (existsSync(path('../node_modules/node/bin/node'))) {
  const child = spawn(path('../node_modules/node/bin/node'), process.argv.slice(1), { stdio: 'inherit' });
  // At a terminal Ctrl-C reaches the child without us; a second copy would mean "at once".
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
} else {
  console.error(
    `countersign needs Node 24 or later; this is ${process.version}.` +
      (inClone ? ' In a clone, `npm start` once gets everything that is needed.' : ''),
  );
  process.exitCode = 70;
}

/** Becomes the same program with these settings, which can only be made at the start of one; where Node cannot do that, goes on without. */
function startFrugally() {
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].some((flag) => flag.includes('semi-space'));
  if (given || typeof process.execve !== 'function' || process.platform === 'win32') return;
  const args = [process.execPath, YOUNG, ...process.execArgv, ...process.argv.slice(1)];
  process.execve(process.execPath, args, { MALLOC_ARENA_MAX: '2', ...process.env });
}
