/** docs/errors.md and the table in src/protocol/errors.ts say the same, and the sources really report each code. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ERRORS } from '../../src/protocol/errors.ts';
import { ROOT } from '../support/processes.ts';

/** Code → kind, as the page has them; each row has all four cells. */
async function documented(): Promise<[string, string][]> {
  const page = await readFile(join(ROOT, 'docs/errors.md'), 'utf8');
  const rows = page.matchAll(/^\| `([a-z_]+)` \| (\w+) \| [^|]+ \| [^|]+ \|$/gm);
  return [...rows].map(([, code = '', kind = '']) => [code, kind]);
}

test('the page lists every code with its kind, in the order of the source, and no other', async () => {
  expect(await documented()).toEqual(Object.entries(ERRORS));
});

test('every code is reported somewhere, but for the one that the page calls reserved', async () => {
  const folder = join(ROOT, 'src');
  const files = (await readdir(folder, { recursive: true })).filter(
    (file) => file.endsWith('.ts') && !file.startsWith('protocol/'),
  );
  const sources = (await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))).join('\n');
  const unused = Object.keys(ERRORS).filter((code) => !sources.includes(`'${code}'`));
  expect(unused).toEqual([]);
});
