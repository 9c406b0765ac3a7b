import { describe, expect, it } from 'vitest';
import { Type } from 'typebox';
import { defineTool, type Tool } from '../../src/tools/define-tool.ts';
import { createCatalogue } from '../../src/tools/catalogue.ts';
import { readTool } from '../../src/tools/read.ts';
import { shellTool } from '../../src/tools/shell.ts';
import { validateArguments } from '../../src/tools/validate.ts';
import { writeTool } from '../../src/tools/write.ts';

const wrong = (tool: Tool, raw: unknown) => {
  const result = validateArguments(tool, raw);
  if (result.ok) throw new Error(`valid: ${JSON.stringify(result.arguments)}`);
  return result.error;
};

const free = defineTool({
  name: 'free',
  label: '',
  description: '',
  parameters: Type.Object({
    any: Type.Optional(Type.Unknown()),
    size: Type.Optional(Type.Number({ default: 3 })),
    nested: Type.Optional(Type.Object({ on: Type.Boolean({ default: true }) })),
  }),
  tier: 'read_only',
  effect: 'read',
  limits: { timeoutMs: 1, maxTries: 1, backoffMs: 1, maxBackoffMs: 1 },
  groups: [],
  needs: [],
  version: 1,
  subjects: () => [],
  summary: () => '',
  execute: async () => ({ output: null }),
});

describe('well-formed arguments', () => {
  it('come back as they are', () => {
    expect(validateArguments(writeTool, { path: 'a', content: '' })).toEqual({
      ok: true,
      arguments: { path: 'a', content: '' },
    });
  });

  it('get defaults on a copy', () => {
    const given = { any: { deep: [1] }, nested: {} };
    const result = validateArguments(free, given);
    expect(result).toEqual({ ok: true, arguments: { any: { deep: [1] }, size: 3, nested: { on: true } } });
    expect(given).toEqual({ any: { deep: [1] }, nested: {} });
    expect(result.ok && result.arguments['any'] === given.any).toBe(false);
  });
});

describe('arguments that do not fit', () => {
  it.each<[string, Tool, unknown, string, string]>([
    ['missing', writeTool, { path: 'a' }, '/content', 'write: "content" is required'],
    ['misspelt', writeTool, { paht: 'a', content: '' }, '/path', 'write: "path" is required; rename "paht"'],
    [
      'unknown',
      writeTool,
      { path: 'a', content: '', mode: 1 },
      '/mode',
      'write: there is no argument "mode"; known: path, content, ifHash',
    ],
    [
      'unknown, near',
      readTool,
      { path: 'a', offst: 1 },
      '/offst',
      'read: there is no argument "offst"; did you mean "offset"?',
    ],
    [
      'wrong type',
      readTool,
      { path: 'a', offset: '1' },
      '/offset',
      'read: "offset" must be integer, not a string; values are not converted',
    ],
    [
      'null',
      writeTool,
      { path: null, content: '' },
      '/path',
      'write: "path" must be string, not null; values are not converted',
    ],
    [
      'fraction',
      readTool,
      { path: 'a', limit: 1.5 },
      '/limit',
      'read: "limit" must be integer, not a number; values are not converted',
    ],
    ['too small', readTool, { path: 'a', offset: 0 }, '/offset', 'read: "offset" must be >= 1'],
    ['empty', writeTool, { path: '', content: '' }, '/path', 'write: "path" must NOT have fewer than 1 characters'],
    ['no object', writeTool, 'x', '', 'write: arguments must be an object, as {"path": …, "content": …}'],
    ['an array', writeTool, [], '', 'write: arguments must be an object, as {"path": …, "content": …}'],
    ['neither of two', readTool, {}, '/path', 'read: give either "path" (a file) or "artifact" (a hash), one of them'],
    [
      'no reason',
      shellTool,
      { command: 'ls', sandbox: false },
      '/reason',
      'shell: "reason" is required with "sandbox": false: say why the sandbox does not do',
    ],
    [
      'a blank reason',
      shellTool,
      { command: 'ls', sandbox: false, reason: '  ' },
      '/reason',
      'shell: "reason" must say why the sandbox does not do',
    ],
  ])('are told what to change: %s', (_name, tool, raw, field, message) => {
    const error = wrong(tool, raw);
    expect(error).toMatchObject({ kind: 'ValidationError', code: 'invalid_arguments', field, message });
    expect(error.schema).toMatchObject({ type: 'object', additionalProperties: false });
  });

  it('are told all that is wrong at once, up to five fields, with the first as the field', () => {
    expect(wrong(writeTool, { paht: 'a', content: 1 })).toMatchObject({
      field: '/path',
      message:
        'write: "path" is required; rename "paht"; also: "content" must be string, not a number; values are not converted',
    });
    const many = Object.fromEntries(Array.from('abcdefgh', (name) => [name.repeat(9), 1]));
    expect(wrong(readTool, { path: 'a', ...many }).message.split('; also: ')).toHaveLength(5);
    // A flood is no slip.
    const flood = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`k${i}`, 1]));
    expect(wrong(readTool, flood).message).not.toContain('also');
    // One of the alternatives is enough, so what each lacks is not added up.
    const parameters = Type.Object({ either: Type.Union([Type.Object({ a: Type.String() }), Type.Boolean()]) });
    expect(wrong({ ...free, parameters }, { either: {} }).message).not.toContain('also');
  });

  it('name the field by a JSON pointer, also with / and ~ in it', () => {
    expect(wrong(writeTool, { path: 'a', content: '', 'x/~y': 1 }).field).toBe('/x~1~0y');
  });

  it.each([
    '{"command":"ls","env":{"A B":"1"}}',
    '{"command":"ls","env":{"A":1}}',
    '{"command":"ls","env":{"A":"\\u0000"}}',
    '{"command":"a\\u0000b"}',
    '{"command":"ls","timeout":0}',
  ])('refuses %s', (raw) => {
    expect(wrong(shellTool, JSON.parse(raw)).code).toBe('invalid_arguments');
  });
});

describe('what is no plain JSON', () => {
  it.each<[string, unknown, string]>([
    ['own __proto__', JSON.parse('{"any":{"__proto__":{"x":1}}}'), '/any/__proto__'],
    ['top __proto__', JSON.parse('{"__proto__":1}'), '/__proto__'],
    ['constructor', { any: [{ constructor: 1 }] }, '/any/0/constructor'],
    ['prototype', { any: { prototype: 1 } }, '/any/prototype'],
    ['undefined', { any: [undefined] }, '/any/0'],
    ['a function', { any: () => 1 }, '/any'],
    ['a bigint', { any: 1n }, '/any'],
    ['NaN', { any: Number.NaN }, '/any'],
    ['infinity', { any: Infinity }, '/any'],
    ['a date', { any: new Date() }, '/any'],
    ['a map', { any: new Map() }, '/any'],
    ['half a surrogate pair', { any: 'a\ud800' }, '/any'],
    ['half a pair as a name', { any: { '\udc00': 1 } }, '/any/\udc00'],
    ['a symbol', Symbol('x'), ''],
  ])('is refused: %s', (_name, raw, field) => {
    expect(wrong(free, raw)).toMatchObject({ code: 'invalid_arguments', field });
  });

  it('is refused without throwing where reading it throws', () => {
    const trap = Object.defineProperty({}, 'any', {
      enumerable: true,
      get: () => {
        throw new Error('no');
      },
    });
    expect(wrong(free, trap).code).toBe('invalid_arguments');
    const proxy = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new TypeError('no');
        },
      },
    );
    expect(wrong(free, proxy).code).toBe('invalid_arguments');
  });

  it('is refused past 16 levels, also when it is endless', () => {
    const nest = (levels: number): unknown => (levels === 0 ? 1 : { any: nest(levels - 1) });
    expect(validateArguments(free, nest(16)).ok).toBe(true);
    expect(wrong(free, nest(17)).code).toBe('invalid_arguments');
    expect(wrong(free, nest(5_000)).message).toContain('nested deeper than 16 levels');
    const circle: Record<string, unknown> = {};
    circle['any'] = circle;
    expect(wrong(free, circle).code).toBe('invalid_arguments');
  });

  it('is refused past 256 KB, quickly', () => {
    expect(validateArguments(free, { any: 'x'.repeat(262_000) }).ok).toBe(true);
    const started = performance.now();
    for (const any of [
      'x'.repeat(262_144),
      'é'.repeat(140_000),
      '\u0001'.repeat(50_000),
      Array(100_000_000),
      'x'.repeat(50_000_000),
      Array.from({ length: 200_000 }, () => 0),
    ]) {
      expect(wrong(free, { any }).code).toBe('arguments_too_large');
    }
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

describe('the catalogue', () => {
  it('finds tools by their own names only', () => {
    const catalogue = createCatalogue();
    expect(catalogue.names()).toEqual(['read', 'write', 'edit', 'list', 'stat', 'search', 'shell', 'delete']);
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty', '', 'READ', 'read '])
      expect(catalogue.get(name)).toBeUndefined();
    expect(catalogue.get('read')?.name).toBe('read');
  });
});

it('takes microseconds', () => {
  const args = { path: 'src/index.ts', content: 'x'.repeat(1_000) };
  for (let i = 0; i < 2_000; i += 1) validateArguments(writeTool, args);
  const started = performance.now();
  for (let i = 0; i < 2_000; i += 1) validateArguments(writeTool, args);
  expect((performance.now() - started) / 2_000).toBeLessThan(0.1);
});
