import { describe, expect, it } from 'vitest';
import {
  type ConfigReport,
  NOTHING_KNOWN,
  changesBetween,
  isConfigRecord,
  isConfigReport,
  isKnown,
  recordOf,
} from '../../src/protocol/config-change.ts';

const loaded = (hash: string, places: Record<string, string>): ConfigReport => ({
  kind: 'loaded',
  on: 'reload',
  worker: '7@host',
  file: '/etc/c.jsonc',
  hash,
  places,
});
const refused: ConfigReport = { kind: 'refused', worker: '7@host', file: '/etc/c.jsonc', hash: 'a', error: 'broken' };

describe('a change of the configuration', () => {
  it('is what was added, removed and replaced, by place', () => {
    expect(
      changesBetween({ deny: 'shell', ask: 'x', same: '1' }, { deny: 'shell, write', same: '1', new: '' }),
    ).toEqual([
      { place: 'ask', before: 'x' },
      { place: 'deny', before: 'shell', after: 'shell, write' },
      { place: 'new', after: '' },
    ]);
    expect(changesBetween({}, JSON.parse('{"__proto__":"x","constructor":"y"}') as Record<string, string>)).toEqual([
      { place: '__proto__', after: 'x' },
      { place: 'constructor', after: 'y' },
    ]);
  });

  it('is recorded against what was on record before', () => {
    const first = recordOf(loaded('a', { deny: 'shell' }), NOTHING_KNOWN, 5);
    expect(first.record).toEqual({
      kind: 'changed',
      on: 'reload',
      at: 5,
      worker: '7@host',
      file: '/etc/c.jsonc',
      hash: 'a',
      before: null,
      changes: [],
      more: 0,
    });
    const second = recordOf(loaded('b', {}), first.known, 6);
    expect(second.record).toMatchObject({ hash: 'b', before: 'a', changes: [{ place: 'deny', before: 'shell' }] });
    expect(second.known).toEqual({ hash: 'b', places: {} });
  });

  it('names 200 places at most, and says how many more there are', () => {
    const places = Object.fromEntries(Array.from({ length: 230 }, (_, index) => [`p${index}`, 'x']));
    const { known } = recordOf(loaded('a', {}), NOTHING_KNOWN, 1);
    const { record } = recordOf(loaded('b', places), known, 2);
    expect(record.kind === 'changed' && [record.changes.length, record.more]).toEqual([200, 30]);
  });

  it('is known by its hash, a refusal by its reason until something else is loaded', () => {
    const { known } = recordOf(loaded('a', {}), NOTHING_KNOWN, 1);
    expect([isKnown(loaded('a', {}), NOTHING_KNOWN), isKnown(loaded('a', {}), known)]).toEqual([false, true]);
    const after = recordOf(refused, known, 2);
    expect(after.record).toMatchObject({ kind: 'refused', error: 'broken', hash: 'a' });
    expect([isKnown(refused, known), isKnown(refused, after.known)]).toEqual([false, true]);
    expect(isKnown(loaded('a', {}), after.known)).toBe(true);
    expect(isKnown(refused, recordOf(loaded('b', {}), after.known, 3).known)).toBe(false);
  });
});

describe('a report', () => {
  it.each([
    [null],
    ['x'],
    [{}],
    [{ ...refused, error: undefined }],
    [{ ...refused, error: 'x'.repeat(2_001) }],
    [{ ...refused, worker: 5 }],
    [{ ...loaded('a', {}), places: null }],
    [{ ...loaded('a', {}), places: { deny: 5 } }],
    [{ ...loaded('a', {}), on: 'whim' }],
    [{ ...loaded('a', {}), file: undefined }],
  ])('%j is none', (value) => expect(isConfigReport(value)).toBe(false));

  it('is no larger than what can be carried along', () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [i, 'x'.repeat(1_000)]));
    expect([500, 700].map((count) => isConfigReport({ ...loaded('a', {}), places: many(count) }))).toEqual([
      true,
      false,
    ]);
  });

  it('has one of two forms', () => {
    expect(isConfigReport(refused)).toBe(true);
    expect(isConfigReport({ ...loaded('a', { deny: 'x' }), file: null })).toBe(true);
  });
});

describe('a record', () => {
  const changes = [{ place: 'deny', before: 'x' }];
  const { record } = recordOf(loaded('a', { deny: 'x' }), NOTHING_KNOWN, 1);

  it('is that of a report', () => {
    expect(isConfigRecord(record)).toBe(true);
    expect(isConfigRecord({ ...record, before: 'b', changes })).toBe(true);
    expect(isConfigRecord(recordOf(refused, NOTHING_KNOWN, 1).record)).toBe(true);
  });

  it.each([
    [null],
    [{}],
    [{ ...record, at: 1e300 }],
    [{ ...record, hash: 5 }],
    [{ ...record, changes: [null] }],
    [{ ...record, changes: [{ place: 'deny', after: 5 }] }],
    [{ ...record, changes: null }],
  ])('%j is none', (value) => expect(isConfigRecord(value)).toBe(false));
});
