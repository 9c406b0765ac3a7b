import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codeOf, contextOf, outputOf, run, scratch, type Scratch } from '../context/support.ts';
import type { ToolContext } from '../../src/tools/tool-context.ts';

async function session(
  files: Record<string, string | Uint8Array> = {},
): Promise<{ folders: Scratch; context: ToolContext }> {
  const folders = scratch();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folders.workspace, path, '..'), { recursive: true });
    writeFileSync(join(folders.workspace, path), content);
  }
  return { folders, context: await contextOf(folders) };
}
const numbered = (lines: number): string => Array.from({ length: lines }, (_, i) => `line ${i + 1}\n`).join('');

describe('read', () => {
  it('gives a page and the way to the next', async () => {
    const { context } = await session({ long: numbered(2_113) });
    const first = await outputOf('read', { path: 'long' }, context);
    expect(first['note']).toBe('lines 1–400 of 2,113; use offset=401');
    expect(String(first['content']).split('\n').length).toBe(400);
    expect(await outputOf('read', { path: 'long', offset: 2_112 }, context)).toEqual({
      path: 'long',
      content: 'line 2112\nline 2113',
      lines: 2113,
      note: 'lines 2,112–2,113 of 2,113',
    });
    expect(await outputOf('read', { path: 'long', offset: 5, limit: 1 }, context)).toMatchObject({
      content: 'line 5',
      note: 'lines 5–5 of 2,113; use offset=6',
    });
    expect(await codeOf(run('read', { path: 'long', offset: 2_114 }, context))).toBe('invalid_arguments');
  });

  it('walks a file of long lines whole, by its own offsets', async () => {
    const lines = Array.from({ length: 120 }, (_, i) => `${i} ${'é"'.repeat(i * 7)}`);
    const { context } = await session({ wide: lines.join('\n') });
    const seen: string[] = [];
    let offset: number | undefined = 1;
    while (offset !== undefined) {
      const page = await outputOf('read', { path: 'wide', offset }, context);
      expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(16_384);
      seen.push(...String(page['content']).split('\n'));
      const next: RegExpExecArray | null = /use offset=([0-9]+)/.exec(String(page['note']));
      offset = next === null ? undefined : Number(next[1]);
    }
    expect(seen).toEqual(lines);
  });

  it('cuts a single line that is longer than a page, and goes on behind it', async () => {
    const { context } = await session({ wide: `${'x'.repeat(100_000)}\nend` });
    const page = await outputOf('read', { path: 'wide' }, context);
    expect(page['note']).toBe('lines 1–1 of 2; use offset=2; line 1 is longer than a page and was cut');
    expect(String(page['content']).length).toBeGreaterThan(10_000);
  });

  it('says so of an empty file and of a binary one', async () => {
    const { context } = await session({ empty: '', binary: new Uint8Array([1, 0, 2]) });
    expect(await outputOf('read', { path: 'empty' }, context)).toEqual({
      path: 'empty',
      content: '',
      lines: 0,
      note: 'the file is empty',
    });
    expect(await codeOf(run('read', { path: 'binary' }, context))).toBe('binary_file');
  });

  it.each<[string, number[], string]>([
    ['png', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0], 'image/png'],
    ['jpg', [0xff, 0xd8, 0xff, 0xe0, 0], 'image/jpeg'],
    ['gif', [0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 0], 'image/gif'],
    ['webp', [0x52, 0x49, 0x46, 0x46, 1, 2, 3, 4, 0x57, 0x45, 0x42, 0x50], 'image/webp'],
  ])('gives a %s as image content, by its bytes and not its name', async (_kind, content, mediaType) => {
    const { context } = await session({ 'picture.txt': new Uint8Array(content) });
    const output = await outputOf('read', { path: 'picture.txt' }, context);
    expect(output['image']).toEqual({ type: 'image', mediaType, data: Buffer.from(content).toString('base64') });
  });

  it('pages output that was too long, by its hash', async () => {
    const { context } = await session();
    const output = await outputOf('shell', { command: 'seq 100000' }, context);
    const hash = (output['truncated'] as Record<string, string>)['stdout'] ?? '';
    expect(String(output['stdout'])).toMatch(/\[output truncated — original size: 588895 bytes\]$/);
    expect(await outputOf('read', { artifact: hash, offset: 70_000, limit: 2 }, context)).toEqual({
      path: hash,
      content: '70000\n70001',
      lines: 100_000,
      note: 'lines 70,000–70,001 of 100,000; use offset=70002',
    });
  });
});

describe('edit', () => {
  it('replaces what occurs once, and says where', async () => {
    const { folders, context } = await session({ f: 'one\ntwo\nthree\n' });
    expect(await outputOf('edit', { path: 'f', oldText: 'two', newText: '$& $1 \\n' }, context)).toMatchObject({
      path: 'f',
      replacements: 1,
      lines: [2],
    });
    expect(readFileSync(join(folders.workspace, 'f'), 'utf8')).toBe('one\n$& $1 \\n\nthree\n');
  });

  it('gives the line numbers of what is not unique, and replaces all when told to', async () => {
    const { folders, context } = await session({ f: 'a\nb\na\na\n' });
    await expect(run('edit', { path: 'f', oldText: 'a', newText: 'x' }, context)).rejects.toMatchObject({
      code: 'text_not_unique',
      message: expect.stringContaining('at lines 1, 3, 4'),
    });
    expect(await outputOf('edit', { path: 'f', oldText: 'a', newText: 'x', replaceAll: true }, context)).toMatchObject({
      replacements: 3,
      lines: [1, 3, 4],
    });
    expect(readFileSync(join(folders.workspace, 'f'), 'utf8')).toBe('x\nb\nx\nx\n');
  });

  it('says why text is not found', async () => {
    const { context } = await session({ f: '\tif (x) {\r\n\t}\r\n' });
    const message = (oldText: string) =>
      run('edit', { path: 'f', oldText, newText: '' }, context).then(
        () => '',
        (error: Error) => error.message,
      );
    expect(await message('absent')).toBe('f does not hold this text; read the file and copy the text exactly');
    expect(await message('if (x) {\n\t}')).toContain('its lines end in \\r\\n');
    expect(await message('  if (x) {')).toContain('the indentation differs');
    expect(await codeOf(run('edit', { path: 'g', oldText: 'a', newText: 'b' }, context))).toBe('file_not_found');
  });

  it('tried again after its worker was lost, tells the same and applies nothing twice', async () => {
    const { folders, context } = await session({ f: 'a' });
    const args = { path: 'f', oldText: 'a', newText: 'aa' };
    const first = await outputOf('edit', args, context);
    expect(await outputOf('edit', args, await contextOf(folders))).toEqual(first);
    expect(readFileSync(join(folders.workspace, 'f'), 'utf8')).toBe('aa');
    // Another call is another edit.
    expect(await codeOf(run('edit', args, await contextOf(folders, { callId: 'call-2' })))).toBe('text_not_unique');
  });

  it('does not harm what is no UTF-8, and keeps a byte order mark', async () => {
    const { folders, context } = await session({ latin: new Uint8Array([0x61, 0xe9]), bom: '\ufeffa' });
    expect(await codeOf(run('edit', { path: 'latin', oldText: 'a', newText: 'b' }, context))).toBe('binary_file');
    await run('edit', { path: 'bom', oldText: 'a', newText: 'b' }, context);
    expect([...readFileSync(join(folders.workspace, 'bom'))]).toEqual([0xef, 0xbb, 0xbf, 0x62]);
  });
});

describe('search', () => {
  const tree = {
    'a.ts': 'one\nfind me\nthree\n',
    'sub/b.md': 'find me too\n',
    '.hidden': 'find me\n',
    'ignored.log': 'find me\n',
    '.gitignore': '*.log\n',
    '.git/config': 'find me\n',
    '.ignore': '',
  };

  it('finds lines as ripgrep does, passing over what is hidden or ignored', async () => {
    const { folders, context } = await session(tree);
    symlinkSync(folders.outside, join(folders.workspace, 'out'));
    expect(await outputOf('search', { pattern: 'find me|SECRET' }, context)).toEqual({
      matches: [
        { path: 'a.ts', line: 2, text: 'find me' },
        { path: 'sub/b.md', line: 1, text: 'find me too' },
      ],
      note: '2 matches',
    });
  });

  it('takes globs, context, plain text, case and hidden files', async () => {
    const { context } = await session({ ...tree, 'c.ts': 'a.b*c\nAXB\n' });
    expect(await outputOf('search', { pattern: 'find', glob: '*.ts', context: 1 }, context)).toMatchObject({
      matches: [{ path: 'a.ts', line: 2, before: ['one'], after: ['three'] }],
    });
    expect(await outputOf('search', { pattern: 'a.b*', literal: true }, context)).toMatchObject({
      matches: [{ path: 'c.ts', line: 1 }],
    });
    expect(await outputOf('search', { pattern: 'axb', ignoreCase: true }, context)).toMatchObject({
      matches: [{ path: 'c.ts', line: 2 }],
    });
    expect(await outputOf('search', { pattern: 'find', hidden: true, path: '.hidden' }, context)).toMatchObject({
      matches: [{ path: '.hidden' }],
    });
    expect(await outputOf('search', { pattern: 'find', path: 'sub' }, context)).toMatchObject({
      matches: [{ path: 'sub/b.md' }],
    });
  });

  it('says when there is more, and cuts long lines', async () => {
    const { context } = await session({ many: `${'x'.repeat(5_000)}\n`.repeat(20) });
    const output = await outputOf('search', { pattern: 'x', limit: 5 }, context);
    expect(output['note']).toBe('the first 5 matches; narrow the pattern, path or glob, or raise limit');
    expect((output['matches'] as { text: string }[]).map(({ text }) => text.length)).toEqual([300, 300, 300, 300, 300]);
  });

  it('takes no pattern for an option, and explains a bad one', async () => {
    const { context } = await session({ f: '--pre=sh\n-e\n' });
    expect(await outputOf('search', { pattern: '--pre=sh' }, context)).toMatchObject({ matches: [{ line: 1 }] });
    expect(await outputOf('search', { pattern: '-e' }, context)).toMatchObject({ note: '1 match' });
    expect(await codeOf(run('search', { pattern: 'a(' }, context))).toBe('invalid_pattern');
    expect(await codeOf(run('search', { pattern: 'a', path: '../outside' }, context))).toBe('outside_workspace');
    expect(await codeOf(run('search', { pattern: 'a', path: 'absent' }, context))).toBe('file_not_found');
  });

  it('does not show what is protected', async () => {
    const { folders } = await session({ 'ours.json': 'find me', 'keys/k': 'find me', f: 'find me' });
    const context = await contextOf(folders, {
      protectedPaths: [join(folders.workspace, 'ours.json'), join(folders.workspace, 'keys')],
    });
    expect(await outputOf('search', { pattern: 'find' }, context)).toMatchObject({ matches: [{ path: 'f' }] });
  });

  it('gives the same without a sandbox', async () => {
    const { folders } = await session({ ...tree, 'ours.json': 'find me' });
    symlinkSync(folders.outside, join(folders.workspace, 'out'));
    const context = await contextOf(folders, {
      sandbox: { bubblewrap: '/bin/false' },
      protectedPaths: [join(folders.workspace, 'ours.json')],
    });
    expect(await outputOf('search', { pattern: 'find me|SECRET', context: 1 }, context)).toEqual({
      matches: [
        { path: 'a.ts', line: 2, text: 'find me', before: ['one'], after: ['three'] },
        { path: 'sub/b.md', line: 1, text: 'find me too' },
      ],
      note: '2 matches',
    });
  });
});

describe('shell', () => {
  it('that ends with another status than 0 is a completed call', async () => {
    const { context } = await session();
    expect(await run('shell', { command: 'echo out; echo err >&2; exit 3' }, context)).toEqual({
      output: { exitCode: 3, stdout: 'out\n', stderr: 'err\n' },
      display: expect.stringMatching(/^(out\nerr|err\nout)\n\n\[exit status 3\]$/),
    });
  });

  it('past its time is a timeout that keeps what was printed', async () => {
    const { context } = await session();
    await expect(run('shell', { command: 'echo before; sleep 20', timeout: 0.3 }, context)).rejects.toMatchObject({
      code: 'timeout',
      kind: 'Timeout',
      message: expect.stringMatching(/after 0\.3 s .*\(artifact sha256:[0-9a-f]{64}\), at last: before/s),
    });
  });
});

describe('list, stat, write and delete', () => {
  it('say what there is and what was done', async () => {
    const { context } = await session({ 'a/b': 'x' });
    expect(await outputOf('list', {}, context)).toEqual({ path: '.', entries: ['a/'], total: 1, note: '1 entry' });
    expect(await outputOf('stat', { path: 'a/b' }, context)).toMatchObject({ path: 'a/b', kind: 'file', bytes: 1 });
    expect(await outputOf('write', { path: 'c', content: 'é' }, context)).toMatchObject({
      path: 'c',
      created: true,
      bytes: 2,
    });
    expect(await codeOf(run('delete', { path: 'a' }, context))).toBe('not_a_file');
    expect(await outputOf('delete', { path: 'a', recursive: true }, context)).toEqual({ path: 'a', deleted: 2 });
    expect(await codeOf(run('delete', { path: '.', recursive: true }, context))).toBe('protected_path');
  });

  it('page a long list', async () => {
    const { context } = await session(
      Object.fromEntries(Array.from({ length: 450 }, (_, i) => [`f${String(i).padStart(3, '0')}`, ''])),
    );
    const page = await outputOf('list', {}, context);
    expect(page['note']).toBe('entries 1–200 of 450; use offset=201');
    expect(await outputOf('list', { offset: 401 }, context)).toMatchObject({ total: 450, note: '450 entries' });
  });
});
