import { expect, it, vi } from 'vitest';
import { plainLine } from '../../src/policy/shell/plain.ts';
import { secondReading } from '../../src/policy/shell/second-parser.ts';

vi.mock('../../src/policy/shell/second-parser.ts', { spy: true });

it('prints what it read in one form', () => {
  expect(secondReading('ls   -x  |  wc')).toBe('ls -x | wc');
  expect(secondReading('ls | |')).toBeUndefined();
});

it('that does not come back in time is left, has no opinion, and is there again for the next text', () => {
  const line = `echo ${'a'.repeat(200_000)}`;
  expect(secondReading(line, 0)).toBeUndefined();
  expect(secondReading('echo next')).toBe('echo next');
  expect(secondReading(line)).toBe(line);
});

it('reads texts alike however many it has read', () => {
  const texts = Array.from({ length: 500 }, (_, i) => `echo 'é ${i}' | grep -c "日" && ls  -x ${'a'.repeat(i + 1)}`);
  expect(texts.map((text) => secondReading(text))).toEqual(texts.map((text) => text.replace('  ', ' ')));
});

it('is asked for no line that is none by the first', () => {
  vi.mocked(secondReading).mockClear();
  expect(plainLine('echo $(id)', { maxLength: 100, maxParts: 5 })).toMatchObject({ plain: false });
  expect(secondReading).not.toHaveBeenCalled();
  expect(plainLine('echo id', { maxLength: 100, maxParts: 5 })).toMatchObject({ plain: true });
  expect(secondReading).toHaveBeenCalledOnce();
});
