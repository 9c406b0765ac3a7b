/** The `countersign` program. */
import { run } from './run.ts';

const status = await run(process.argv.slice(2));
// Connections that still wait for answers nobody wants any more would keep the program up.
process.stdout.write('', () => process.exit(status));
