import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../../src/cli/io/input.ts';
import { concurrency, duration, port } from '../../../src/cli/io/options.ts';

describe('arguments on the command line', () => {
  it('are a JSON object', () => {
    expect(parseArguments('{"path":"a","n":1}')).toEqual({ path: 'a', n: 1 });
    expect(parseArguments('\uFEFF{}')).toEqual({});
  });

  it.each([
    ['', 'invalid_json'],
    ['{', 'invalid_json'],
    ["{'a':1}", 'invalid_json'],
    ['NaN', 'invalid_json'],
    ['[]', 'invalid_arguments'],
    ['null', 'invalid_arguments'],
    ['"text"', 'invalid_arguments'],
    ['7', 'invalid_arguments'],
  ])('%j is refused as %s', (text, code) => {
    expect(() => parseArguments(text)).toThrow(expect.objectContaining({ code }));
  });

  it('say where malformed JSON is wrong', () => {
    expect(() => parseArguments('{"a":1,}')).toThrow(/^ARGS_JSON is not valid JSON: .*position 7/);
  });

  it('keep names of prototypes as plain names', () => {
    const args = parseArguments('{"__proto__":{"polluted":true},"constructor":1}');
    expect(Object.keys(args)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('nested beyond reason are refused before anything recurses into them', () => {
    const deep = `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    expect(() => parseArguments(deep)).toThrow('nested deeper than 500 levels');
  });
});

describe('options', () => {
  it.each([
    ['250ms', 250],
    ['30s', 30_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
  ])('duration %s is %i ms', (text, ms) => expect(duration(text)).toBe(ms));

  it.each(['', '10', 's', '-1s', '1.5s', '1 s', '1w', '1e3s', '9999999999s'])('duration %j is refused', (text) => {
    expect(() => duration(text)).toThrow('as 30s');
  });

  it('ports are 0 to 65535', () => {
    expect(port('0')).toBe(0);
    expect(port('65535')).toBe(65_535);
    for (const wrong of ['65536', '-1', 'a', '', '1.5']) expect(() => port(wrong)).toThrow('65535');
  });

  it('concurrency is 1 to 1000', () => {
    expect(concurrency('1')).toBe(1);
    expect(concurrency('1000')).toBe(1_000);
    for (const wrong of ['0', '1001', 'x', '']) expect(() => concurrency(wrong)).toThrow('1 to 1000');
  });
});
