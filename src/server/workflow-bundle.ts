/**
 * The workflows' code, bundled for the worker's sandbox. Published, it lies ready beside the JavaScript; from sources it is
 * made once (seconds) and kept in the user's cache for as long as nothing that goes into it changes.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDir, packageRoot } from './paths.ts';

/** Bundles of former states of the sources that stay, so that going back and forth between branches costs nothing. */
const KEPT_BUNDLES = 10;

/** What `Worker.create` takes as `workflowBundle`. */
export async function workflowBundle(): Promise<{ codePath: string }> {
  const published = join(import.meta.dirname, '..', 'workflow-bundle.js');
  if (import.meta.filename.endsWith('.js') && existsSync(published)) return { codePath: published };

  const folder = join(cacheDir(), 'workflows');
  const codePath = join(folder, `${await sourcesHash()}.js`);
  if (!existsSync(codePath)) {
    const code = await bundleWorkflows();
    await mkdir(folder, { recursive: true });
    const temporary = `${codePath}.${process.pid}`;
    await writeFile(temporary, code);
    await rename(temporary, codePath);
    await prune(folder);
  }
  return { codePath };
}

/** Bundles a file of workflows, ours unless said otherwise. The source map inside names every file that went in. */
export async function bundleWorkflows(
  workflowsPath: string = join(packageRoot(), 'src', 'workflows', 'index.ts'),
): Promise<string> {
  const { bundleWorkflowCode } = await import('@temporalio/worker');
  const payloadConverterPath = join(packageRoot(), 'src', 'workflows', 'payload-converter.ts');
  const silent = (): void => {};
  const complain = (message: string): void => void process.stderr.write(`${message}\n`);
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    payloadConverterPath,
    // Evaluated once for a worker instead of once for each workflow; they keep no state, and a test holds them to that.
    preloadModules: [workflowsPath, payloadConverterPath],
    logger: { log: silent, trace: silent, debug: silent, info: silent, warn: complain, error: complain },
  });
  return code;
}

/** A name for the present state of all that goes into the bundle: our sources, and by the lock file the SDK. */
async function sourcesHash(): Promise<string> {
  const root = packageRoot();
  const hash = createHash('sha256');
  for (const folder of ['src/workflows', 'src/protocol']) {
    const files = (await readdir(join(root, folder), { recursive: true }))
      .filter((file) => file.endsWith('.ts'))
      .toSorted();
    for (const file of files)
      hash
        .update(`${folder}/${file}\0`)
        .update(await readFile(join(root, folder, file)))
        .update('\0');
  }
  // How they are bundled counts, too.
  hash.update(await readFile(import.meta.filename));
  hash.update(await readFile(join(root, 'package-lock.json')));
  return hash.digest('hex').slice(0, 32);
}

async function prune(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.js'));
  const files = await Promise.all(
    names.map(async (name) => ({ path: join(folder, name), at: (await stat(join(folder, name))).mtimeMs })),
  );
  const old = files.toSorted((a, b) => b.at - a.at).slice(KEPT_BUNDLES);
  await Promise.all(old.map(({ path }) => rm(path, { force: true })));
}
