import { describe, expect, it } from 'vitest';
import { cutText, jsonBytes } from '../../../src/context/output/cut-text.ts';
import { fitResult } from '../../../src/context/output/output.ts';
import type { Json, JsonObject } from '../../../src/protocol/json.ts';
import type { ToolResult } from '../../../src/protocol/outcome.ts';
import { contextOf, scratch, text } from '../support.ts';

async function fitter() {
  const { artifacts } = await contextOf(scratch());
  if (artifacts === undefined) throw new Error('no artifacts');
  const fit = (output: Json, display?: string) =>
    fitResult({ output, ...(display === undefined ? {} : { display }) }, artifacts);
  const whole = async (hash: string) => text((await artifacts.get(hash)).bytes);
  return { fit, whole };
}

const size = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe('output that fits', () => {
  it('is left alone', async () => {
    const { fit } = await fitter();
    const output = { stdout: 'ü'.repeat(8_000), exitCode: 0 };
    expect(await fit(output, 'shown')).toEqual({ output, display: 'shown' });
  });
});

describe('output that is too long', () => {
  it('keeps head and tail, ends in the suffix, and is whole under the hash that it names', async () => {
    const { fit, whole } = await fitter();
    const long = Array.from({ length: 10_000 }, (_, i) => `line ${i}`).join('\n');
    const { output, artifacts } = await fit(long);
    expect(output).toMatch(/^line 0\nline 1\n/);
    expect(output).toMatch(
      /line 9999\n\[the whole: read with artifact "sha256:[0-9a-f]{64}"\]\n\[output truncated — original size: 98889 bytes\]$/,
    );
    expect(size(output)).toBeLessThanOrEqual(16_384);
    expect(size(output)).toBeGreaterThan(16_000);
    expect(await whole(artifacts?.[0]?.hash ?? '')).toBe(long);
  });

  it('keeps its structure, gives short strings their room and cuts the long ones', async () => {
    const { fit, whole } = await fitter();
    const output = (await fit({ exitCode: 2, stdout: 'o'.repeat(1_000_000), stderr: 'e'.repeat(2_000) }))
      .output as JsonObject;
    expect(output['exitCode']).toBe(2);
    expect(output['stderr']).toBe('e'.repeat(2_000));
    expect(String(output['stdout'])).toMatch(/^o+\n\[…\]\no+\n\[output truncated — original size: 1000000 bytes\]$/);
    expect(String(output['stdout']).length).toBeGreaterThan(12_000);
    const truncated = output['truncated'] as JsonObject;
    expect(Object.keys(truncated)).toEqual(['stdout', 'note']);
    expect((await whole(String(truncated['stdout']))).length).toBe(1_000_000);
    expect(size(output)).toBeLessThanOrEqual(16_384);
  });

  it('shares the room evenly between two long strings', async () => {
    const { fit } = await fitter();
    const output = (await fit({ stdout: 'o'.repeat(100_000), stderr: 'e'.repeat(100_000) })).output as JsonObject;
    expect(String(output['stdout']).length).toBe(String(output['stderr']).length);
    expect(String(output['stdout']).length).toBeGreaterThan(7_000);
  });

  it('becomes text where its structure is what is large', async () => {
    const { fit, whole } = await fitter();
    const { output, artifacts } = await fit({ names: Array.from({ length: 5_000 }, (_, i) => `file-${i}`) });
    expect(output).toMatch(/^\{\n "names": \[\n  "file-0",/);
    expect(output).toMatch(/\[output truncated — original size: [0-9]+ bytes\]$/);
    expect(JSON.parse(await whole(artifacts?.[0]?.hash ?? '')).names.length).toBe(5_000);
  });

  it('of 80 MB is cut in a moment', async () => {
    const { fit } = await fitter();
    const huge = 'x'.repeat(80_000_000);
    const started = Date.now();
    expect(size(await fit({ stdout: huge, stderr: '', exitCode: 0 }))).toBeLessThan(18_000);
    expect(Date.now() - started).toBeLessThan(3_000);
  });
});

describe('images', () => {
  const image = (bytes: number): JsonObject => ({
    type: 'image',
    mediaType: 'image/png',
    data: Buffer.alloc(bytes, 7).toString('base64'),
  });

  it('are inlined while small, beside the limit of the text', async () => {
    const { fit } = await fitter();
    const { output, artifacts } = await fit({ image: image(15_000), caption: 'c'.repeat(10_000) });
    expect((output as JsonObject)['image']).toEqual(image(15_000));
    expect(artifacts).toBeUndefined();
  });

  it('are artifacts when large', async () => {
    const { fit } = await fitter();
    const { output, artifacts } = await fit({ image: image(50_000) });
    expect(output).toEqual({
      image: { type: 'image', mediaType: 'image/png', artifact: artifacts?.[0]?.hash, bytes: 50_000 },
    });
    expect(artifacts?.[0]).toMatchObject({ bytes: 50_000, mediaType: 'image/png' });
  });
});

describe('cutting', () => {
  it('never splits a character', () => {
    for (const unit of ['😀', 'é', '日', 'e\u0301', '\u0001', '"', '\\']) {
      for (let limit = 60; limit < 90; limit += 1) {
        const cut = cutText(unit.repeat(200), limit, { tail: true, mark: 'cut' });
        expect(cut.isWellFormed()).toBe(true);
        expect(size(cut)).toBeLessThanOrEqual(limit);
        expect(cut.endsWith('\ncut')).toBe(true);
      }
    }
  });

  it('counts as JSON does', () => {
    const values: Json[] = [
      null,
      true,
      -1.5e300,
      '',
      'a"\\\n\u0000é😀\ud800',
      [],
      {},
      [1, [2, {}]],
      { a: { 'b"': [null] }, c: '' },
    ];
    for (const value of values) expect(jsonBytes(value, 1_000)).toBe(size(value));
  });
});

describe('any result', () => {
  /** A small generator with a seed: the same cases each time. */
  function random(seed: number) {
    let state = seed;
    return (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
  }
  const alphabet = ['a', '\n', '"', '\u0000', '\u001f', 'é', '日', '😀', '\ud83d', '\udc00', '\\'];

  function anyJson(next: (below: number) => number, depth: number): Json {
    const kind = next(depth > 3 ? 4 : 7);
    if (kind === 0) return next(1_000_000);
    if (kind === 1) return null;
    if (kind <= 3) return (alphabet[next(alphabet.length)] ?? 'a').repeat(next(4) === 0 ? next(40_000) : next(600));
    if (kind === 4) return { type: 'image', mediaType: 'image/png', data: 'QUJD'.repeat(next(9_000)) };
    if (kind === 5) return Array.from({ length: next(10) }, () => anyJson(next, depth + 1));
    return Object.fromEntries(
      Array.from({ length: next(8) }, (_, i) => [`${alphabet[next(alphabet.length)]}${i}`, anyJson(next, depth + 1)]),
    );
  }

  it('stays below 62 KB as JSON, with its output below the limit but for images', async () => {
    const stored = {
      put: async (content: Uint8Array, about: { mediaType: string; name?: string }) => ({
        hash: `sha256:${'0'.repeat(64)}`,
        bytes: content.length,
        ...about,
      }),
    };
    let largest = 0;
    for (let seed = 1; seed <= 300; seed += 1) {
      const next = random(seed);
      const output =
        next(5) === 0 ? Array.from({ length: 3_000 }, (_, i) => ({ i, s: 'x'.repeat(next(300)) })) : anyJson(next, 0);
      const artifacts = Array.from({ length: next(200) }, (_, i) => ({
        hash: `sha256:${String(i).padStart(64, '0')}`,
        bytes: i,
        mediaType: 'text/plain',
        path: 'p'.repeat(next(400)),
      }));
      const result: ToolResult = await fitResult(
        { output, display: (alphabet[next(alphabet.length)] ?? 'a').repeat(next(60_000)), artifacts },
        stored,
      );
      largest = Math.max(largest, size(result));
      expect(size(result.display)).toBeLessThanOrEqual(16_384);
      expect(size(withoutImages(result.output))).toBeLessThanOrEqual(16_384 + 200);
    }
    expect(largest).toBeLessThan(62_000);
    expect(largest).toBeGreaterThan(30_000);
  });

  function withoutImages(value: Json): Json {
    if (Array.isArray(value)) return value.map(withoutImages);
    if (typeof value !== 'object' || value === null) return value;
    if (value['type'] === 'image' && typeof value['data'] === 'string') return { ...value, data: '' };
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutImages(item)]));
  }
});
