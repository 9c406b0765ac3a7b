/**
 * The halt that holds, kept outside of Temporal: who owns the namespace can put another control workflow in the place of the one that
 * was told to halt. Workers of one state folder share it.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Halt, isHalt } from '../../protocol/control.ts';
import { readJsonRecord, writeRecord } from './state-files.ts';

export async function readHalt(stateDir: string): Promise<Halt | undefined> {
  const halt = await readJsonRecord(haltPath(stateDir));
  return isHalt(halt) ? halt : undefined;
}

export const recordHalt = (stateDir: string, halt: Halt): Promise<void> =>
  writeRecord(haltPath(stateDir), JSON.stringify(halt));

export const forgetHalt = (stateDir: string): Promise<void> => rm(haltPath(stateDir), { force: true });

const haltPath = (stateDir: string): string => join(stateDir, 'halt.json');
