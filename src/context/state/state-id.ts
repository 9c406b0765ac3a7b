/** A name by which workers tell their state folders apart, wherever each has it mounted. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createRecord, readRecord } from './state-files.ts';

/** The folder's name for itself, made up when it is first asked for: 12 hexadecimal digits. */
export async function stateId(stateDir: string): Promise<string> {
  const path = join(stateDir, 'id');
  const id = await readRecord(path);
  if (id !== undefined) return id;
  await createRecord(path, randomBytes(6).toString('hex'));
  return (await readRecord(path)) ?? '';
}
