/** The worker of the demo, in a process of its own so that it can be killed. Runs on the server that TEMPORAL_ADDRESS names. */
import { pino } from 'pino';
import { startService } from '../../src/server/index.ts';

const [configFile = '', trust = ''] = process.argv.slice(2);
const service = await startService({ configFile, trust, log: pino({ level: 'silent' }) });
process.stdout.write('ready\n');

const stop = (): void => void service.stop().then(() => process.exit(0));
process.once('SIGTERM', stop);
// Ends with the demo, however that ends.
process.stdin.on('end', stop).resume();
