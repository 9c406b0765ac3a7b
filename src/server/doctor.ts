/** What this machine has of what Countersign needs, and how to get the rest. Looks only; changes nothing. */
import { existsSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { Control } from '../client/control.ts';
import { contradictions, hasSecondParser } from '../policy/index.ts';
import { sandboxStatus } from '../context/index.ts';
import type { Halt } from '../protocol/control.ts';
import { TASK_QUEUE } from '../protocol/names.ts';
import { configHere } from './config-here.ts';
import { type ConnectionSettings, connectionSettings } from './connect.ts';
import { findTemporal } from './find-temporal.ts';
import { STATE_NOT_SHARED, statesOfWorkers } from './shared-state.ts';
import { type NamespaceState, RETENTION_DAYS, inspectNamespace } from './setup.ts';

export interface Check {
  /** Short and stable: `node`, `temporal`, `sandbox`, `ripgrep`, `shell-parsers`, `file-confinement`, `config`, `service`, … */
  name: string;
  ok: boolean;
  /** What was found, in one line. */
  found: string;
  /** What to do; only where something is missing. */
  hint?: string;
}

const CONNECT_MS = 3_000;

/** All checks, in the order in which one would mend things. Never throws for what it finds. */
export async function doctor(env: NodeJS.ProcessEnv = process.env): Promise<Check[]> {
  const [temporal, sandbox, service] = await Promise.all([temporalCheck(), sandboxCheck(), serviceChecks(env)]);
  return [
    nodeCheck(),
    temporal,
    sandbox,
    ripgrepCheck(await loaded('@vscode/ripgrep')),
    parserCheck(hasSecondParser()),
    confinementCheck(),
    await configCheck(env),
    ...service,
  ];
}

function nodeCheck(version: string = process.versions.node): Check {
  const ok = Number(version.split('.')[0]) >= 24;
  return { name: 'node', ok, found: `Node ${version}`, ...(ok ? {} : { hint: 'Countersign needs Node 24 or later.' }) };
}

async function temporalCheck(): Promise<Check> {
  const found = await findTemporal();
  if (found) return { name: 'temporal', ok: true, found: `${found.path} (${found.version})` };
  const hint =
    '`countersign start` downloads or builds it. Or install the Temporal CLI (https://docs.temporal.io/cli), ' +
    'or set TEMPORAL_ADDRESS to a server of your own.';
  return { name: 'temporal', ok: false, found: 'no Temporal server program', hint };
}

async function sandboxCheck(): Promise<Check> {
  const status = await sandboxStatus();
  if (status.available) return { name: 'sandbox', ok: true, found: `${status.version}; a command ran in it` };
  return {
    name: 'sandbox',
    ok: false,
    found: status.reason,
    hint: `${status.hint}. Until then the shell tool is not offered.`,
  };
}

function ripgrepCheck(module: { rgPath?: string } | Error): Check {
  const path = module instanceof Error ? undefined : module.rgPath;
  if (path !== undefined && existsSync(path)) return { name: 'ripgrep', ok: true, found: path };
  return { name: 'ripgrep', ok: false, found: 'no program for this platform', hint: reinstall };
}

/** A command counts as harmless only where two parsers read it alike. */
export function parserCheck(second: boolean): Check {
  const name = 'shell-parsers';
  if (second) return { name, ok: true, found: 'two' };
  const hint = `${reinstall} Until then commands that would run outside of the sandbox ask.`;
  return { name, ok: false, found: 'one: the second does not start', hint };
}

const reinstall = 'Install the dependencies again with Node 24 and with optional ones (`npm ci`).';

async function loaded(name: string): Promise<{ rgPath?: string } | Error> {
  try {
    return (await import(name)) as { rgPath?: string };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Files are opened one path component at a time, from descriptors: by name a symlink race gets out of the workspace. */
function confinementCheck(): Check {
  if (existsSync('/proc/self/fd'))
    return { name: 'file-confinement', ok: true, found: 'by descriptor (/proc/self/fd)' };
  const hint =
    'Mount /proc, or run the worker on Linux. Until then symbolic links are refused and races are not excluded.';
  return { name: 'file-confinement', ok: false, found: 'by name', hint };
}

/** Which file counts, and whether it can be taken: what is wrong with it, and rules that contradict each other. */
async function configCheck(env: NodeJS.ProcessEnv): Promise<Check> {
  try {
    const { said: found, config } = await configHere(undefined, env);
    const contradicting = contradictions(config).map(({ field, message }) => `${field}: ${message}`);
    if (contradicting.length === 0) return { name: 'config', ok: true, found };
    return { name: 'config', ok: false, found, hint: contradicting.join('\n') };
  } catch (error) {
    return { name: 'config', ok: false, found: 'broken', hint: messageOf(error) };
  }
}

async function serviceChecks(env: NodeJS.ProcessEnv): Promise<Check[]> {
  let settings: ConnectionSettings;
  try {
    settings = connectionSettings(env);
  } catch (error) {
    return [{ name: 'service', ok: false, found: 'none', hint: messageOf(error) }];
  }
  const { namespace, options, from } = settings;
  const where = `${options.address}, namespace ${namespace} (${from})`;
  let connection: Connection | undefined;
  try {
    connection = await Connection.connect({ ...options, connectTimeout: CONNECT_MS });
    const state = await connection.withDeadline(Date.now() + CONNECT_MS, () =>
      inspectNamespace(connection as Connection, namespace),
    );
    const states = state.exists ? await statesOfWorkers(connection.workflowService, namespace, TASK_QUEUE) : [];
    const client = new Client({ connection, namespace });
    const halt = state.exists ? await new Control({ client, taskQueue: TASK_QUEUE, eager: false }).halted() : undefined;
    return [
      { name: 'service', ok: true, found: where },
      haltCheck(halt),
      ...namespaceChecks(namespace, state),
      stateCheck(states),
    ];
  } catch (error) {
    const hint = `It does not answer (${messageOf(error)}). Check TEMPORAL_ADDRESS, or start the server there.`;
    return [{ name: 'service', ok: false, found: where, hint }];
  } finally {
    await connection?.close();
  }
}

export function haltCheck(halt: Halt | undefined): Check {
  const name = 'halt';
  if (!halt) return { name, ok: true, found: 'not halted: calls run' };
  const found = `halted by ${halt.by} since ${new Date(halt.at).toISOString()}: ${halt.reason}`;
  return { name, ok: false, found, hint: "Nothing new runs until: countersign resume --reason '…'" };
}

/** By the names of the state folders of all workers that take calls. */
export function stateCheck(states: readonly string[]): Check {
  const name = 'state-folder';
  if (states.length > 1) return { name, ok: false, found: `${states.length} different ones`, hint: STATE_NOT_SHARED };
  return { name, ok: true, found: states.length === 0 ? 'no worker takes calls' : 'one, for all workers' };
}

function namespaceChecks(
  namespace: string,
  { exists, missingAttributes, wrongType, retentionDays }: NamespaceState,
): Check[] {
  const hint = '`countersign setup` creates it, or prints the commands for the operator.';
  if (!exists) return [{ name: 'namespace', ok: false, found: `${namespace} does not exist`, hint }];
  const bad = [
    ...missingAttributes.map((name) => `${name} is missing`),
    ...wrongType.map((name) => `${name} is no Keyword`),
  ];
  const longEnough = retentionDays === undefined || retentionDays >= RETENTION_DAYS;
  const retention = retentionDays === undefined ? 'unknown' : `${retentionDays} days`;
  return [
    {
      name: 'search-attributes',
      ok: bad.length === 0,
      found: bad.length === 0 ? 'all four' : bad.join(', '),
      ...(bad.length === 0 ? {} : { hint }),
    },
    {
      name: 'retention',
      ok: longEnough,
      found: retention,
      ...(longEnough
        ? {}
        : { hint: `Call ids are known for this long only; ${RETENTION_DAYS} days are meant. ${hint}` }),
    },
  ];
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
