import { describe, expect, it } from 'vitest';
import { judge } from '../../src/policy/index.ts';
import { rulesOf, session, shellCall, surroundings } from './support.ts';

/** 200 deny rules, of which the last is against `rm`. */
const rules = rulesOf({
  rules: Array.from({ length: 200 }, (_, index) => ({
    tool: 'shell',
    effect: 'deny',
    when: { command: { glob: index === 199 ? 'rm *' : `no-${index} *` } },
  })),
});

describe('a denied command behind more than a parser would read', () => {
  it.each([
    ['many commands', `${'true;'.repeat(3_200)}rm x`],
    ['more characters than are parsed', `${'true;'.repeat(50_000)}rm x`],
    ['stacked eval', `${'eval '.repeat(3_000)}rm x`],
    ['stacked sudo', `${'sudo '.repeat(3_000)}rm x`],
    ['stacked wrappers of several kinds', `${'watch script flock env busybox ssh su '.repeat(200)}rm x`],
    ['a wrapper with many options', `sudo ${'-u a '.repeat(30)}rm x`],
    ['deep substitutions', `${'$('.repeat(200)}rm x${')'.repeat(200)}`],
    ['deep subshells', `${'('.repeat(2_000)}rm x${')'.repeat(2_000)}`],
    ['open brackets', `${'{ '.repeat(2_000)}rm x`],
    ['open quotes', `${"'".repeat(9_999)}rm x`],
    ['open arithmetic', `${'$(('.repeat(1_000)}rm x`],
    ['many words', `sh ${'a '.repeat(8_000)}; rm x`],
  ])('%s is denied, in less than 2 seconds', (_what, command) => {
    for (const sandbox of [true, false]) {
      const started = performance.now();
      expect(judge(shellCall(command, { sandbox }), session(), rules, surroundings).rule).toBe('rules[199]');
      expect(performance.now() - started).toBeLessThan(2_000);
    }
  });

  it('does not mistake a long harmless line for one', () => {
    const command = 'echo hello; '.repeat(1_300);
    expect(judge(shellCall(command), session(), rules, surroundings).verdict).toBe('run');
  });
});
