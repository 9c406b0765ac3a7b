/** Whom a session may name: agents, channels and owners are what the configuration declares. */
import { CountersignError } from '../protocol/errors.ts';
import type { SessionFacts } from '../protocol/session.ts';
import type { Config } from './defaults.ts';
import { didYouMean } from './diagnose.ts';

/** @throws CountersignError `undeclared`, with the nearest name */
export function checkDeclared(
  { agents, channels, owners }: Pick<Config, 'agents' | 'channels' | 'owners'>,
  { agent, channel, owner }: Pick<SessionFacts, 'agent' | 'channel' | 'owner'>,
): void {
  const missing = [
    ...undeclared('agent', agent, Object.keys(agents)),
    ...(channel === null ? [] : undeclared('channel', channel, Object.keys(channels))),
    ...(owner === undefined ? [] : undeclared('owner', owner, owners)),
  ];
  if (missing.length === 0) return;
  const advice = 'Name one that it declares, or add it to countersign.config.jsonc.';
  throw new CountersignError('undeclared', [...missing, advice].join(' '));
}

function undeclared(what: string, name: string, known: readonly string[]): string[] {
  if (known.includes(name)) return [];
  return [`The configuration declares no ${what} ${JSON.stringify(name)}${didYouMean(name, known) || '.'}`];
}
