/** Makes what is published: JavaScript with types and source maps, and the workflow bundle, in dist/. */
import { spawnSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleWorkflows } from '../src/server/workflow-bundle.ts';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');

await rm(DIST, { recursive: true, force: true });
const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
// stdout belongs to `npm pack --json`, which runs this on the way.
const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
  cwd: ROOT,
  stdio: ['ignore', 2, 2],
});
if (status !== 0) process.exit(status ?? 1);
await writeFile(join(DIST, 'workflow-bundle.js'), await bundleWorkflows());
