#!/usr/bin/env node
// The `countersign` command: the built program where there is one, the sources in a clone.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const inClone = existsSync(path('../src/cli/main.ts'));

if (Number(process.versions.node.split('.')[0]) >= 24) {
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
