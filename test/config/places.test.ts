import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/index.ts';
import { configPlaces } from '../../src/config/places.ts';

const placesOf = (file: object): Readonly<Record<string, string>> =>
  configPlaces(parseConfig(JSON.stringify(file), 'test.jsonc').config);

describe('the places of a configuration', () => {
  it('have names in one line, and rules and approvers by name', () => {
    const rule = { tool: 'write', effect: 'ask' };
    expect(
      placesOf({
        deny: ['shell', 'web_*'],
        rules: [{ ...rule, name: 'no secrets' }, rule, rule],
        agents: { coder: { profile: 'coding' }, idle: {} },
      }),
    ).toMatchObject({
      deny: 'shell, web_*',
      'rules "no secrets"': '{"tool":"write","effect":"ask","name":"no secrets"}',
      'rules {"tool":"write","effect":"ask"}': '{"tool":"write","effect":"ask"}',
      'agents.coder.profile': 'coding',
      'agents.idle': '{}',
      'agents.default': '{}',
      'shell.backend': 'sandbox',
      'limits.running': '10',
    });
  });

  it('never hold a notifier’s address, and tell two of them apart', () => {
    const channel = (url: string) =>
      placesOf({ channels: { ops: { notify: [{ type: 'webhook', url, secretEnv: 'S' }] } } });
    const [one, two] = [channel('https://h.example/T0KEN'), channel('https://h.example/OTHER')];
    expect(JSON.stringify(one)).not.toContain('T0KEN');
    expect(one['channels.ops.notify']).toMatch(/^[0-9a-f]{12}$/);
    expect(one['channels.ops.notify']).not.toBe(two['channels.ops.notify']);
  });

  it('cut what is long, and still tell it apart', () => {
    const reason = (end: string) =>
      placesOf({ rules: [{ name: 'r', tool: 'read', effect: 'deny', reason: 'x'.repeat(900) + end }] });
    const [one, two] = [reason('a')['rules "r"'], reason('b')['rules "r"']];
    expect([one?.length, one === two]).toEqual([216, false]);
  });

  it('are the sections alone where there would be too many', () => {
    const many = (count: number) =>
      placesOf({
        rules: Array.from({ length: count }, (_, i) => ({
          name: `${i} ${'y'.repeat(150)}`,
          tool: 'read',
          effect: 'ask',
        })),
      });
    expect(Object.keys(many(100)).length).toBeGreaterThan(100);
    expect(many(1_000)['rules']).toMatch(/^[0-9a-f]{12}$/);
    expect(many(1_000)['rules']).not.toBe(many(1_001)['rules']);
    expect(JSON.stringify(many(1_000)).length).toBeLessThan(2_000);
  });
});
