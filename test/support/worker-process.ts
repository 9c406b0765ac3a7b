/** A worker in a process of its own, so that a test can kill it. Arguments: address, task queue, folder. */
import { startTestService } from './worker.ts';

const [address = '', taskQueue = '', folder = ''] = process.argv.slice(2);
const service = await startTestService({ address, taskQueue, folder });
process.stdout.write('ready\n');
// Ends with its parent, however that ends.
process.stdin.on('end', () => process.exit(0)).resume();
process.once('SIGTERM', () => void service[Symbol.asyncDispose]().then(() => process.exit(0)));
