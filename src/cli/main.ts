/** The `countersign` program. */
import { enableCompileCache } from 'node:module';

// Before anything else is loaded: Temporal's client alone is a hundred files.
enableCompileCache();
const { run } = await import('./run.ts');
const status = await run(process.argv.slice(2));
// Connections that still wait for answers nobody wants any more would keep the program up.
process.stdout.write('', () => process.exit(status));
