/** A bare connection to a Temporal server. */
import { Connection } from '@temporalio/client';
import { CountersignError } from '../../protocol/errors.ts';
import type { ConnectionOptions } from '../../server/connect.ts';

/** @throws CountersignError `no_service` */
export async function connectTo(options: ConnectionOptions): Promise<Connection> {
  try {
    return await Connection.connect({ ...options, connectTimeout: '5s' });
  } catch (error) {
    throw new CountersignError(
      'no_service',
      `No Temporal server answers at ${options.address}. Check TEMPORAL_ADDRESS.`,
      { cause: error },
    );
  }
}
