/**
 * Content too large for the model, kept whole in `<stateDir>/artifacts`, by hash. Beside the content lies one record for each session that may read
 * it: the one that made it and those above it. Content that several sessions made is stored once, and each has its own records.
 */
import { createHash } from 'node:crypto';
import { readFile, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { CountersignError } from '../../protocol/errors.ts';
import type { Artifact } from '../../protocol/outcome.ts';
import type { Artifacts } from '../../tools/tool-context.ts';
import { isErrno } from '../../common/errno.ts';
import { readJsonRecord, recordPath, writeRecord } from './state-files.ts';

const HASH = /^sha256:([0-9a-f]{64})$/;

/** `ancestors`: ids of the sessions above this one, up to main. */
export function openArtifacts(stateDir: string, session: string, ancestors: readonly string[]): Artifacts {
  const folder = join(stateDir, 'artifacts');
  const contentAt = (hex: string): string => join(folder, hex.slice(0, 2), hex);
  const recordAt = (hex: string, reader: string): string => recordPath(join(folder, 'readers'), [hex, reader], 'json');

  return {
    async put(bytes, { mediaType, name }): Promise<Artifact> {
      const hex = createHash('sha256').update(bytes).digest('hex');
      // Content before records: a record promises that the content is there. What is made again is as young as its newest record.
      if (!(await isKept(contentAt(hex), bytes.length))) await writeRecord(contentAt(hex), bytes);
      const record = JSON.stringify({ hash: hex, owner: session, mediaType, ...(name === undefined ? {} : { name }) });
      for (const reader of new Set([session, ...ancestors])) await writeRecord(recordAt(hex, reader), record);
      return { hash: `sha256:${hex}`, bytes: bytes.length, mediaType, ...(name === undefined ? {} : { name }) };
    },

    async get(hash) {
      const hex = HASH.exec(hash)?.[1];
      const record = hex === undefined ? undefined : await readJsonRecord(recordAt(hex, session));
      if (hex === undefined || !isRecord(record)) throw missing(hash);
      const bytes = await contentOf(contentAt(hex), hash);
      if (createHash('sha256').update(bytes).digest('hex') !== hex)
        throw new CountersignError('artifact_not_found', `the artifact ${hash} is damaged; make it again`);
      return { bytes, mediaType: record.mediaType, ...(record.name === undefined ? {} : { name: record.name }) };
    },
  };
}

/** The same words whether it exists or not: a session must not learn what others made. */
const missing = (hash: string): CountersignError =>
  new CountersignError(
    'artifact_not_found',
    `there is no artifact ${hash.slice(0, 80)} that this session may read; use a hash that one of its own outputs named`,
  );

async function contentOf(path: string, hash: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) throw missing(hash);
    throw error;
  }
}

/** Whether the content is there already; from now on it counts as new. */
async function isKept(path: string, bytes: number): Promise<boolean> {
  const now = new Date();
  try {
    if ((await stat(path)).size !== bytes) return false;
    await utimes(path, now, now);
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false;
    throw error;
  }
}

const isRecord = (value: unknown): value is { mediaType: string; name?: string } =>
  typeof value === 'object' &&
  value !== null &&
  'mediaType' in value &&
  typeof value.mediaType === 'string' &&
  (!('name' in value) || typeof value.name === 'string');
