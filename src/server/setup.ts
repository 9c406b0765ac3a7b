/**
 * What Countersign needs of a namespace: its search attributes, and a retention within which call ids stay known.
 * Creates what is missing; where that is not allowed, gives the commands for the operator.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionLike } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { CountersignError } from '../protocol/errors.ts';
import { type GrpcStatus, hasGrpcStatus } from '../protocol/grpc.ts';
import { SEARCH_ATTRIBUTE } from '../protocol/names.ts';

/** An id is never reused, and Temporal knows a closed call for as long as this. */
export const RETENTION_DAYS = 30;
const DAY_SECONDS = 86_400;

/** From temporal.api.enums.v1.IndexedValueType. */
const KEYWORD = 2;

/** For so long at most a cluster's parts are waited for: they learn of what is new from caches, some seconds later. */
const KNOWN_MS = 30_000;

export interface NamespaceState {
  exists: boolean;
  /** Undefined where the server does not say. */
  retentionDays: number | undefined;
  missingAttributes: string[];
  /** Attributes of ours that exist with another type; only the operator can mend that. */
  wrongType: string[];
}

export interface SetupResult {
  /** What was changed, in words: `search attribute CountersignSession`. */
  created: string[];
  /** What an operator still has to run; empty when all is there. */
  commands: string[];
}

/** True when calls can run on this namespace as they should. */
export const isComplete = (state: NamespaceState): boolean =>
  state.exists &&
  state.missingAttributes.length === 0 &&
  state.wrongType.length === 0 &&
  (state.retentionDays === undefined || state.retentionDays >= RETENTION_DAYS);

/** What the namespace has. Only reads. */
export async function inspectNamespace(connection: ConnectionLike, namespace: string): Promise<NamespaceState> {
  const names = Object.values(SEARCH_ATTRIBUTE);
  let described;
  try {
    described = await connection.workflowService.describeNamespace({ namespace });
  } catch (error) {
    if (!hasGrpcStatus(error, 'notFound')) throw error;
    return { exists: false, retentionDays: undefined, missingAttributes: names, wrongType: [] };
  }
  const seconds = described.config?.workflowExecutionRetentionTtl?.seconds;
  // Where the operator service is closed to us (Temporal Cloud), the namespace's aliases name its attributes too.
  const aliases = Object.values(described.config?.customSearchAttributeAliases ?? {});
  const types = await attributeTypes(connection, namespace);
  return {
    exists: true,
    retentionDays: seconds ? Number(seconds) / DAY_SECONDS : undefined,
    missingAttributes: names.filter((name) => (types ? types[name] === undefined : !aliases.includes(name))),
    wrongType: names.filter((name) => types?.[name] !== undefined && types[name] !== KEYWORD),
  };
}

/** Creates what the namespace lacks, the namespace itself included. Repeating it changes nothing. */
export async function setupNamespace(
  connection: ConnectionLike,
  namespace: string,
  address?: string,
): Promise<SetupResult> {
  const state = await inspectNamespace(connection, namespace);
  const created: string[] = [];
  const commands: string[] = [];
  const operator = operatorCommands(namespace, address);
  const retention = msToTs(RETENTION_DAYS * DAY_SECONDS * 1000);

  if (state.wrongType.length > 0) {
    throw new CountersignError(
      'setup_incomplete',
      `Namespace ${namespace} has ${state.wrongType.join(', ')} with another type than Keyword. Remove or rename there first.`,
    );
  }
  if (!state.exists) {
    const register = (): Promise<unknown> =>
      connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: retention });
    if (await allowed(register)) {
      await visible(connection, namespace);
      created.push(`namespace ${namespace}, retention ${RETENTION_DAYS} days`);
    } else commands.push(operator.namespace);
  } else if (state.retentionDays !== undefined && state.retentionDays < RETENTION_DAYS) {
    const update = (): Promise<unknown> =>
      connection.workflowService.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl: retention } });
    if (await allowed(update)) created.push(`retention ${RETENTION_DAYS} days`);
    else commands.push(operator.retention);
  }
  const isThere = state.exists || created.length > 0;
  const added: string[] = [];
  for (const name of state.missingAttributes) {
    const add = (): Promise<unknown> =>
      connection.operatorService.addSearchAttributes({ namespace, searchAttributes: { [name]: KEYWORD } });
    if (isThere && (await allowed(add))) added.push(name);
    else commands.push(operator.attribute(name));
  }
  if (added.length > 0) await listable(connection, namespace, added);
  created.push(...added.map((name) => `search attribute ${name}`));
  return { created, commands };
}

/** Waits until a new namespace is known. */
const visible = ({ operatorService }: ConnectionLike, namespace: string): Promise<void> =>
  untilKnown('notFound', () => operatorService.listSearchAttributes({ namespace }));

/** Waits until workflows can be listed by new search attributes, and so can have them. */
const listable = ({ workflowService }: ConnectionLike, namespace: string, names: readonly string[]): Promise<void> => {
  const query = names.map((name) => `${name} IS NOT NULL`).join(' AND ');
  return untilKnown('invalidArgument', () => workflowService.countWorkflowExecutions({ namespace, query }));
};

/** Asks until the answer is another than this status. */
async function untilKnown(unknown: GrpcStatus, ask: () => Promise<unknown>): Promise<void> {
  for (const until = Date.now() + KNOWN_MS; Date.now() < until; await sleep(100)) {
    try {
      await ask();
      return;
    } catch (error) {
      if (!hasGrpcStatus(error, unknown)) return;
    }
  }
}

async function attributeTypes(
  connection: ConnectionLike,
  namespace: string,
): Promise<Record<string, number> | undefined> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return customAttributes ?? {};
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

/** Runs a change; false when this server or our rights do not allow it. */
async function allowed(change: () => Promise<unknown>): Promise<boolean> {
  try {
    await change();
    return true;
  } catch (error) {
    if (hasGrpcStatus(error, 'alreadyExists')) return true;
    if (isForbidden(error)) return false;
    throw error;
  }
}

const isForbidden = (error: unknown): boolean =>
  hasGrpcStatus(error, 'permissionDenied', 'unauthenticated', 'unimplemented');

function operatorCommands(namespace: string, address?: string) {
  if (address !== undefined && /\.(tmprl\.cloud|api\.temporal\.io)(:\d+)?$/.test(address)) {
    return {
      namespace: `tcld namespace create --namespace ${namespace} --retention-days ${RETENTION_DAYS}`,
      retention: `tcld namespace retention set --namespace ${namespace} --retention-days ${RETENTION_DAYS}`,
      attribute: (name: string) =>
        `tcld namespace search-attributes add --namespace ${namespace} --sa "${name}=Keyword"`,
    };
  }
  const where = `--namespace ${namespace}${address === undefined ? '' : ` --address ${address}`}`;
  return {
    namespace: `temporal operator namespace create ${where} --retention ${RETENTION_DAYS * 24}h`,
    retention: `temporal operator namespace update ${where} --retention ${RETENTION_DAYS * 24}h`,
    attribute: (name: string) => `temporal operator search-attribute create ${where} --name ${name} --type Keyword`,
  };
}
