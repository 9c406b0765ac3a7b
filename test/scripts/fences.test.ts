import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT, run } from '../support/processes.ts';

// A repository with nothing but our lint configuration, so that what is refused is refused by it.
let repository: string;
beforeAll(async () => {
  repository = await mkdtemp(join(tmpdir(), 'countersign-fences-'));
  await cp(join(ROOT, '.oxlintrc.json'), join(repository, '.oxlintrc.json'));
  await symlink(join(ROOT, 'node_modules'), join(repository, 'node_modules'));
});
afterAll(() => rm(repository, { recursive: true, force: true }));

async function lint(file: string, source: string): Promise<string> {
  const path = join(repository, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${source}\n`);
  await using oxlint = run(process.execPath, [join(ROOT, 'node_modules/.bin/oxlint'), file], { cwd: repository });
  await oxlint.ended;
  return oxlint.output().includes('no-restricted-imports') ? 'refused' : 'allowed';
}

describe('imports point one way', () => {
  test.each([
    ['refused', 'src/common/a.ts', `import { x } from '../protocol/x.ts'; x();`],
    ['refused', 'src/common/b.ts', `import { x } from 'node:fs'; x();`],
    ['refused', 'src/protocol/a.ts', `import { x } from '../policy/x.ts'; x();`],
    ['refused', 'src/protocol/b.ts', `import { x } from 'node:crypto'; x();`],
    ['allowed', 'src/protocol/c.ts', `import { x } from './x.ts'; x();`],
    ['refused', 'src/policy/a.ts', `import { x } from '../context/x.ts'; x();`],
    ['refused', 'src/policy/shell/b.ts', `import { x } from '../../context/x.ts'; x();`],
    ['refused', 'src/policy/c.ts', `import { x } from 'node:fs'; x();`],
    ['allowed', 'src/policy/d.ts', `import { x } from '../protocol/x.ts'; x();`],
    ['refused', 'src/tools/a.ts', `import { x } from '../context/x.ts'; x();`],
    ['refused', 'src/tools/b.ts', `import { x } from 'node:fs/promises'; x();`],
    ['refused', 'src/config/a.ts', `import { x } from '../server/x.ts'; x();`],
    ['allowed', 'src/config/b.ts', `import { x } from '../policy/x.ts'; x();`],
    ['refused', 'src/context/a.ts', `import { x } from '../activities/x.ts'; x();`],
    ['allowed', 'src/context/b.ts', `import { x } from '../tools/x.ts'; x();`],
    ['refused', 'src/activities/a.ts', `import { x } from '../server/x.ts'; x();`],
    ['refused', 'src/workflows/a.ts', `import { x } from '../activities/x.ts'; x();`],
    ['allowed', 'src/workflows/b.ts', `import type { X } from '../activities/x.ts'; export type Y = X;`],
    ['refused', 'src/workflows/c.ts', `import { x } from 'typebox'; x();`],
    ['refused', 'src/workflows/d.ts', `import { x } from '@temporalio/client'; x();`],
    ['refused', 'src/workflows/e.ts', `import { x } from 'node:crypto'; x();`],
    ['allowed', 'src/workflows/f.ts', `import { x } from '@temporalio/workflow'; x();`],
    ['refused', 'src/client/a.ts', `import { x } from '../server/temporal.ts'; x();`],
    ['allowed', 'src/client/b.ts', `import { x } from '../server/connect.ts'; x();`],
    ['refused', 'src/client/c.ts', `import { x } from '../workflows/x.ts'; x();`],
    ['refused', 'src/approval/a.ts', `import { x } from '../client/x.ts'; x();`],
    ['allowed', 'src/approval/b.ts', `import { x } from '../policy/x.ts'; x();`],
    ['refused', 'src/approval/render/a.ts', `import { x } from '../../policy/x.ts'; x();`],
    ['refused', 'src/approval/render/b.ts', `import { x } from 'node:util'; x();`],
    ['allowed', 'src/approval/render/c.ts', `import { x } from '../../protocol/x.ts'; x();`],
    ['refused', 'src/notify/a.ts', `import { x } from '../activities/x.ts'; x();`],
    ['allowed', 'src/notify/b.ts', `import { x } from '../config/x.ts'; x();`],
    ['refused', 'src/server/a.ts', `import { x } from '../cli/x.ts'; x();`],
  ])('%s: %s, %s', async (verdict, file, source) => {
    expect(await lint(file, source)).toBe(verdict);
  });
});
