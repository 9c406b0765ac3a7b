import { describe, expect, it } from 'vitest';
import { builtInTools, createCatalogue, fingerprint, nearestNames } from '../../src/tools/catalogue.ts';
import { readTool } from '../../src/tools/read.ts';

describe('nearest names', () => {
  it.each<[string, string[]]>([
    ['raed', ['read']],
    ['reed', ['read']],
    ['Shel', ['shell']],
    ['list_files', ['list']],
    ['delete_file', ['delete']],
    ['Read-File', ['read']],
    ['bash', ['shell']],
    ['exec', ['shell']],
    ['run_command', ['shell']],
    ['rm', ['delete']],
    ['files', []],
    ['lst', ['list']],
    ['serch', ['search']],
    ['edti', ['edit']],
    ['constructor', []],
    ['', []],
    ['x'.repeat(100_000), []],
  ])('of %.20s', (name, expected) => {
    expect(createCatalogue().nearest(name)).toEqual(expected);
  });

  it('of a group may be its last word', () => {
    expect(nearestNames('fs', ['write', 'group:fs', 'group:fs-read'])).toEqual(['group:fs']);
    expect(nearestNames('group:fss', ['write', 'group:fs'])).toEqual(['group:fs']);
  });

  it('are three at most, best first', () => {
    expect(nearestNames('aaaa', ['bbaa', 'aaab', 'aabb', 'aaaa', 'baaa'])).toEqual(['aaaa', 'aaab', 'baaa']);
  });
});

describe('fingerprints', () => {
  it('are of the name, the schema and the version, whatever the order of keys', () => {
    const print = fingerprint(readTool);
    expect(print).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(fingerprint({ ...readTool })).toBe(print);
    expect(fingerprint({ ...readTool, description: 'other' })).toBe(print);
    expect(fingerprint({ ...readTool, version: 2 })).not.toBe(print);
    expect(fingerprint({ ...readTool, name: 'other' })).not.toBe(print);
    const { properties, ...rest } = readTool.parameters;
    expect(fingerprint({ ...readTool, parameters: { properties, ...rest } as typeof readTool.parameters })).toBe(print);
  });
});

it('two tools of one name are refused', () => {
  expect(() => createCatalogue([readTool, { ...readTool }])).toThrow('two tools are called "read"');
});

it('tiers, effects and limits are these', () => {
  const table = builtInTools.map(({ name, tier, effect, limits, needs }) => [
    name,
    tier,
    effect,
    limits.maxTries,
    limits.quickMs ?? 0,
    needs.join(' '),
  ]);
  expect(table).toEqual([
    ['read', 'read_only', 'read', 3, 1000, 'files artifacts'],
    ['write', 'workspace', 'idempotent', 3, 0, 'writer'],
    ['edit', 'workspace', 'idempotent', 3, 0, 'writer'],
    ['list', 'read_only', 'read', 3, 1000, 'files'],
    ['stat', 'read_only', 'read', 3, 1000, 'files'],
    ['search', 'read_only', 'read', 2, 0, 'searcher'],
    ['shell', 'system', 'once', 1, 0, 'shell artifacts'],
    ['delete', 'workspace', 'once', 1, 0, 'writer'],
  ]);
});

it('summaries are one line, without tricks, 250 characters at most', () => {
  for (const tool of builtInTools) {
    const summary = tool.summary({ path: 'a\n\u202eb', command: `${'x'.repeat(500)}\n`, pattern: 'p\r\nq' });
    // oxlint-disable-next-line no-control-regex -- that is what must not be there
    expect(summary).not.toMatch(/[\u0000-\u001f\u202a-\u202e]/);
    expect(summary.length).toBeLessThan(250);
  }
});
