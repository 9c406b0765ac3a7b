#!/usr/bin/env node
/**
 * Behind `npm start`, `npm test`, `npm run demo` and `npm run bench`: sets up what is missing, then runs the task on
 * Node 24. Plain JavaScript without dependencies, since it runs before there are any, on Node 20 or later.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { ROOT, nodeBinary, setUp } from './set-up.mjs';

/** Task → the arguments for Node 24, before the user's own. */
const TASKS = {
  start: ['bin/countersign.mjs', 'start'],
  test: ['scripts/test.ts'],
  check: ['scripts/test.ts', '--checks'],
  demo: ['scripts/demo.ts'],
  bench: ['test/bench/main.ts'],
  build: ['scripts/build.ts'],
};

const [task, ...rest] = process.argv.slice(2);
if (task === undefined || !Object.hasOwn(TASKS, task)) {
  console.error(`usage: node scripts/run.mjs ${Object.keys(TASKS).join('|')} [arguments]`);
  process.exit(2);
}

try {
  await setUp({ server: task !== 'check' && task !== 'build' });
} catch (error) {
  console.error(`✗ ${error.message}`);
  process.exit(1);
}

const [file, ...fixed] = TASKS[task];
become(nodeBinary(), [join(ROOT, file), ...fixed, ...rest]);

/** Hands this process over to another program: by exec where Node can do that, else by a child that gets our signals. */
function become(program, args) {
  const env = { ...process.env, PATH: `${join(ROOT, 'node_modules', '.bin')}:${process.env.PATH ?? ''}` };
  if (typeof process.execve === 'function' && process.platform !== 'win32') {
    process.execve(program, [program, ...args], env);
  }

  const child = spawn(program, args, { stdio: 'inherit', env });
  // At a terminal Ctrl-C reaches the child without us (one process group); a second copy would mean "at once".
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`✗ cannot run ${program}: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
