/**
 * What an idempotent call is about to leave behind, written down before it does so. A later try of the same call compares the file with
 * it: the old content means that nothing happened yet, the new that all did.
 */
import { join } from 'node:path';
import type { Json } from '../../protocol/json.ts';
import { readJsonRecord, recordPath, writeRecord } from './state-files.ts';

export interface JournalEntry {
  /** sha256 of the file's content before and after. */
  before: string;
  after: string;
  note: Json;
}

/** One call's entries, by path. */
export interface Journal {
  read(path: string): Promise<JournalEntry | undefined>;
  write(path: string, entry: JournalEntry): Promise<void>;
}

export function openJournal(stateDir: string, session: string, callId: string): Journal {
  const folder = join(stateDir, 'journal');
  const at = (path: string): string => recordPath(folder, [session, callId, path], 'json');
  return {
    async read(path) {
      const entry = await readJsonRecord(at(path));
      return isEntry(entry) ? entry : undefined;
    },
    write: (path, entry) => writeRecord(at(path), JSON.stringify(entry)),
  };
}

const isEntry = (value: unknown): value is JournalEntry =>
  typeof value === 'object' &&
  value !== null &&
  'before' in value &&
  typeof value.before === 'string' &&
  'after' in value &&
  typeof value.after === 'string' &&
  'note' in value;
