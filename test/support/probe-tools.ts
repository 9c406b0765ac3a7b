/** Tools whose effects tests can count: each execution leaves a line in a file, outside of everything that Temporal knows. */
import { appendFile, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';
import { type Tool, defineTool } from '../../src/tools/define-tool.ts';

const parameters = Type.Object(
  {
    /** File that gets a line for each execution that began, and one for each that ended. */
    log: Type.String(),
    mark: Type.String(),
    /** How long one execution takes; every execution, or all but the first where `slowFirst` is set. */
    ms: Type.Optional(Type.Integer({ minimum: 0 })),
    slowFirst: Type.Optional(Type.Boolean()),
    fail: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

async function probe(
  {
    log,
    mark,
    ms = 0,
    slowFirst = false,
    fail = false,
  }: { log: string; mark: string; ms?: number; slowFirst?: boolean; fail?: boolean },
  signal: AbortSignal,
): Promise<{ output: { ran: string } }> {
  const before = await marks(log, `begin ${mark}`);
  await appendFile(log, `begin ${mark}\n`);
  if (!slowFirst || before === 0) await sleep(ms, undefined, { signal });
  if (fail) throw new Error('the probe failed as it was told to');
  await appendFile(log, `end ${mark}\n`);
  return { output: { ran: mark } };
}

/** How many lines of the file are exactly `line`. */
export async function marks(log: string, line: string): Promise<number> {
  const text = await readFile(log, 'utf8').catch(() => '');
  return text.split('\n').filter((found) => found === line).length;
}

const common = {
  description: 'leaves marks for a test',
  parameters,
  groups: ['group:core'],
  needs: [],
  version: 1,
  subjects: () => [],
} as const;

const limits = { timeoutMs: 60_000, maxTries: 1, backoffMs: 100, maxBackoffMs: 1_000 };

const once = defineTool({
  ...common,
  name: 'probe_once',
  label: 'Probe, once',
  tier: 'workspace',
  effect: 'once',
  limits,
  summary: ({ mark }) => `probe_once: ${mark}`,
  execute: (args, { signal }) => probe(args, signal),
});

const repeatable = defineTool({
  ...common,
  name: 'probe_repeat',
  label: 'Probe, repeatable',
  tier: 'workspace',
  effect: 'idempotent',
  limits: { timeoutMs: 700, maxTries: 3, backoffMs: 200, maxBackoffMs: 300 },
  summary: ({ mark }) => `probe_repeat: ${mark}`,
  execute: (args, { signal }) => probe(args, signal),
});

const patient = defineTool({
  ...common,
  name: 'probe_patient',
  label: 'Probe, repeatable and slow',
  tier: 'workspace',
  effect: 'idempotent',
  limits: { timeoutMs: 60_000, maxTries: 3, backoffMs: 200, maxBackoffMs: 300 },
  summary: ({ mark }) => `probe_patient: ${mark}`,
  execute: (args, { signal }) => probe(args, signal),
});

const elevated = defineTool({
  ...common,
  name: 'probe_elevated',
  label: 'Probe that a person has to approve',
  tier: 'elevated',
  effect: 'once',
  limits,
  summary: ({ mark }) => `probe_elevated: ${mark}`,
  execute: (args, { signal }) => probe(args, signal),
});

export const probeTools = [once, repeatable, patient, elevated] as unknown as Tool[];
