/** The `countersign` program. */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { cacheDir } from '../server/paths.ts';

// Before anything else is loaded: Temporal's client alone is a hundred files. In the user's own cache, for who can write there
// can have us run what they like.
enableCompileCache(join(cacheDir(), 'compile'));
const { run } = await import('./run.ts');
const status = await run(process.argv.slice(2));
// Connections that still wait for answers nobody wants any more would keep the program up.
process.stdout.write('', () => process.exit(status));
