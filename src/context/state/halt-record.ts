/**
 * The halt that holds, kept outside of Temporal: who owns the namespace can put another control workflow in the place of the one that
 * was told to halt. Workers of one state folder share it.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Halt, isHalt } from '../../protocol/control.ts';
import { createRecord, readJsonRecord, readRecord, recordPath, writeRecord } from './state-files.ts';

export async function readHalt(stateDir: string): Promise<Halt | undefined> {
  const halt = await readJsonRecord(haltPath(stateDir));
  return isHalt(halt) ? halt : undefined;
}

export const recordHalt = (stateDir: string, halt: Halt): Promise<void> =>
  writeRecord(haltPath(stateDir), JSON.stringify(halt));

/** For good: a halt of this id is over, whoever tells of it again. */
export async function liftHalt(stateDir: string, { id }: Halt): Promise<void> {
  await createRecord(liftedPath(stateDir, id), `${Date.now()}\n`);
  await rm(haltPath(stateDir), { force: true });
}

export const isLifted = async (stateDir: string, { id }: Halt): Promise<boolean> =>
  (await readRecord(liftedPath(stateDir, id))) !== undefined;

const haltPath = (stateDir: string): string => join(stateDir, 'halt.json');
const liftedPath = (stateDir: string, id: string): string => recordPath(join(stateDir, 'lifted'), ['halt', id], 'halt');
