/** All parts, in the order in which they run. */
import { beside } from './beside.ts';
import { cancel } from './cancel.ts';
import { cli } from './cli.ts';
import { coldStart } from './cold-start.ts';
import { latency } from './latency.ts';
import { otherProcess } from './other-process.ts';
import { outputs } from './outputs.ts';
import { pending } from './pending.ts';
import type { Part } from './row.ts';
import { sessionAge } from './session-age.ts';
import { burst, throughput } from './throughput.ts';
import { waiting } from './waiting.ts';

export const PARTS: readonly Part[] = [
  latency,
  otherProcess,
  cli,
  throughput,
  burst,
  coldStart,
  cancel,
  beside,
  outputs,
  sessionAge,
  waiting,
  pending,
];
