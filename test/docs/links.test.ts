/** Documents name files that exist. */
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../support/processes.ts';

const pages = (await readdir(join(ROOT, 'docs'), { recursive: true })).filter((file) => file.endsWith('.md'));
const documents = ['README.md', 'ARCHITECTURE.md', ...pages.map((page) => join('docs', page))];

/** Of src; other names beneath it are somebody's project in an example. */
const FOLDERS = (await readdir(join(ROOT, 'src'), { withFileTypes: true }))
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** A file that a reader is told to write. */
const EXAMPLES = ['src/tools/count.ts'];

describe.each(documents)('%s', (document) => {
  test('links to what is there', async () => {
    const text = await readFile(join(ROOT, document), 'utf8');
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);
    expect(links.filter((target) => !existsSync(join(ROOT, dirname(document), target)))).toEqual([]);
  });

  test('names files of the sources and tests that are there', async () => {
    const text = await readFile(join(ROOT, document), 'utf8');
    const ours = new RegExp(
      String.raw`(?<![\w./@-])(?:src/(?:${FOLDERS.join('|')})|test|scripts|examples)/[\w./-]*[\w/]`,
      'g',
    );
    const names = [...text.matchAll(ours)].map(([name]) => name);
    expect(names.filter((name) => !EXAMPLES.includes(name) && !existsSync(join(ROOT, name)))).toEqual([]);
  });
});
