/** Grants that were revoked, kept outside of Temporal: a signed grant stays well signed, whoever brings it again. */
import { join } from 'node:path';
import { createRecord, readRecord, recordPath } from './state-files.ts';

/** For good; ids of grants are never reused. */
export async function revokeGrant(stateDir: string, id: string): Promise<void> {
  await createRecord(pathOf(stateDir, id), `${Date.now()}\n`);
}

export const isRevoked = async (stateDir: string, id: string): Promise<boolean> =>
  (await readRecord(pathOf(stateDir, id))) !== undefined;

const pathOf = (stateDir: string, id: string): string => recordPath(join(stateDir, 'revoked'), ['grant', id], 'grant');
