/** Past the SDK, which would not write such payloads: what a stranger in the namespace can send and start. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { type Payload, METADATA_ENCODING_KEY, encodingKeys } from '@temporalio/common';

export const bytes = (value: string): Uint8Array => new TextEncoder().encode(value);

/** With a type where it is a search attribute. */
export const jsonPayload = (value: unknown, type = ''): Payload => ({
  metadata: { [METADATA_ENCODING_KEY]: encodingKeys.METADATA_ENCODING_JSON, type: bytes(type) },
  data: bytes(JSON.stringify(value)),
});

/** Nobody can decode them: one of an unknown encoding, one that is not what it says it is, one without an encoding. */
export const STRANGE: Payload = { metadata: { [METADATA_ENCODING_KEY]: bytes('binary/strange') }, data: bytes('x') };
export const UNREADABLE: readonly Payload[] = [
  STRANGE,
  { metadata: { [METADATA_ENCODING_KEY]: encodingKeys.METADATA_ENCODING_JSON }, data: bytes('{') },
  { data: bytes('x') },
];

export interface RawStart {
  type: string;
  workflowId: string;
  /** One that nobody serves unless given. */
  taskQueue?: string;
  input?: Payload;
  summary?: Payload;
  memo?: Record<string, Payload>;
  /** Keywords. */
  searchAttributes?: Record<string, string>;
}

export async function startRaw({ workflowService, options }: Client, start: RawStart): Promise<void> {
  const { type, workflowId, taskQueue = 'nobody', input, summary, memo = {}, searchAttributes = {} } = start;
  const keywords = Object.entries(searchAttributes).map(([name, value]) => [name, jsonPayload(value, 'Keyword')]);
  await workflowService.startWorkflowExecution({
    namespace: options.namespace,
    requestId: randomUUID(),
    workflowId,
    workflowType: { name: type },
    taskQueue: { name: taskQueue },
    memo: { fields: memo },
    searchAttributes: { indexedFields: Object.fromEntries(keywords) as Record<string, Payload> },
    ...(input && { input: { payloads: [input] } }),
    ...(summary && { userMetadata: { summary, details: summary } }),
  });
}
