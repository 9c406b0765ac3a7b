/**
 * Puts on record which configuration this worker goes by: in the history of the control workflow, where `countersign policy log` reads it. It is
 * done behind the worker's back: a server that is away delays the record, never the rules.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { configLog } from '../client/config-log.ts';
import { updateControl } from '../client/update-control.ts';
import type { LoadedConfig } from '../config/index.ts';
import { configPlaces } from '../config/places.ts';
import { CONFIG_CHANGED, CONFIG_KNOWN, type ConfigRecord, type ConfigReport } from '../protocol/config-change.ts';

export interface ConfigRecorder extends Disposable {
  /** This configuration is in force from now on. */
  loaded(config: LoadedConfig, on: 'start' | 'reload'): void;
  /** A file (absolute path) was not taken; what is `inForce` stays so. */
  refused(file: string, error: string, inForce: LoadedConfig): void;
}

/** Waits between two tries to reach the server, doubled each time, up to the most. */
const RETRY_MS = 1_000;
const MOST_RETRY_MS = 30_000;
/** Reports that wait for the server. Past it they are dropped; the next that is taken has the difference to the last on record. */
const MOST_WAITING = 50;
/** Records in which a start looks for what was last said of its file. */
const LOOKED_BACK = 100;

export function createConfigRecorder(
  { client, taskQueue }: { client: Client; taskQueue: string },
  log: Logger,
): ConfigRecorder {
  const stopped = new AbortController();
  let waiting = 0;
  let last = Promise.resolve();

  const send = async (report: ConfigReport): Promise<void> => {
    for (let wait = RETRY_MS; !stopped.signal.aborted; wait = Math.min(2 * wait, MOST_RETRY_MS)) {
      try {
        return void (await updateControl<ConfigRecord>(client, taskQueue, CONFIG_CHANGED, report));
      } catch (error) {
        if (error instanceof WorkflowUpdateFailedError) return refusedBy(error, report, log);
        if (wait === RETRY_MS && !stopped.signal.aborted)
          log.warn({ err: error, hash: report.hash }, 'the change of the configuration is not on record yet');
        // Stopping cuts the wait short.
        await sleep(wait, undefined, { signal: stopped.signal }).catch(() => undefined);
      }
    }
  };

  const record = (report: ConfigReport): void => {
    if (waiting >= MOST_WAITING)
      return log.error({ hash: report.hash }, 'a change of the configuration is not on record');
    waiting += 1;
    last = last.then(() => send(report)).finally(() => (waiting -= 1));
  };

  const worker = client.options.identity;
  return {
    loaded: ({ config, hash, path = null }, on) => {
      if (on === 'start' && path !== null) last = last.then(() => tellOfRefusal(client, path, hash, log));
      record({ kind: 'loaded', on, worker, file: path, hash, places: configPlaces(config) });
    },
    refused: (file, error, { hash }) => record({ kind: 'refused', worker, file, hash, error: error.slice(0, 2_000) }),
    [Symbol.dispose]: () => stopped.abort(),
  };
}

/** A start takes the file as it is, also where a running service did not: a person should know. */
async function tellOfRefusal(client: Client, path: string, hash: string, log: Logger): Promise<void> {
  try {
    const known = (await configLog(client, LOOKED_BACK)).find(({ file }) => file === path);
    if (known?.kind !== 'refused' || known.hash === hash) return;
    log.warn(
      { path, hash, at: new Date(known.at).toISOString(), refused: known.error },
      'a running service refused this file when it was changed last, and what stands in it is in force now. Read it; `countersign policy log` has both',
    );
  } catch (error) {
    log.warn(
      { err: error, path },
      'whether this file was refused before could not be read: see `countersign policy log`',
    );
  }
}

/** Another worker was first, as it should be; anything else is worth a word. */
function refusedBy({ cause }: WorkflowUpdateFailedError, { hash }: ConfigReport, log: Logger): void {
  if (cause instanceof ApplicationFailure && cause.type === CONFIG_KNOWN) return;
  log.error({ err: cause, hash }, 'the change of the configuration was not taken on record');
}
