/** What activities stand on; put together once, in src/server/worker.ts. */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Config } from '../config/index.ts';
import type { Rules, Surroundings } from '../policy/index.ts';
import type { Catalogue } from '../tools/index.ts';
import type { Halt } from '../protocol/control.ts';
import type { SessionReader } from './session-reader.ts';
import type { Slots } from './slots.ts';

export interface Dependencies {
  client: Client;
  catalogue: Catalogue;
  sessions: SessionReader;
  /** The configuration of now; it can change between two calls. */
  settings(): { config: Config; rules: Rules };
  surroundings(): Surroundings;
  /** Set while the service is halted: nothing new runs. */
  halted(): Halt | undefined;
  slots: Slots;
  /** Claims, outcomes of claimed tries, artifacts. Workers of one namespace share it. */
  stateDir: string;
  /** Countersign's own configuration, state and keys: no tool reaches them. */
  protectedPaths: readonly string[];
  /** Address of the Temporal UI, where it is known. */
  uiUrl?: string;
  log: Logger;
}
