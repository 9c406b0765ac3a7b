/** Grants that were revoked, kept outside of Temporal: a signed grant stays well signed, whoever brings it again. */
import { join } from 'node:path';
import { readRecord, recordPath, writeRecord } from './state-files.ts';

/**
 * For as long as a grant of that id could hold: longer than any grant lives, from its latest revocation (sweep.ts). A repeat writes the
 * record anew, for a grant of that id may have been signed since the first.
 */
export const revokeGrant = (stateDir: string, id: string): Promise<void> =>
  writeRecord(pathOf(stateDir, id), `${Date.now()}\n`);

export const isRevoked = async (stateDir: string, id: string): Promise<boolean> =>
  (await readRecord(pathOf(stateDir, id))) !== undefined;

const pathOf = (stateDir: string, id: string): string => recordPath(join(stateDir, 'revoked'), ['grant', id], 'grant');
