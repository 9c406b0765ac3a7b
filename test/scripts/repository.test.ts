import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../support/processes.ts';

interface Manifest {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}
interface LockFile {
  packages: Record<string, Manifest & { resolved?: string; optionalDependencies?: Record<string, string> }>;
}

const readJson = async <T>(file: string): Promise<T> => JSON.parse(await readFile(join(ROOT, file), 'utf8')) as T;

describe('the lock file', () => {
  test('agrees with package.json', async () => {
    const manifest = await readJson<Manifest>('package.json');
    const { packages } = await readJson<LockFile>('package-lock.json');
    expect(packages['']?.dependencies).toEqual(manifest.dependencies);
    expect(packages['']?.devDependencies).toEqual(manifest.devDependencies);
  });

  test('names no registry', async () => {
    const { packages } = await readJson<LockFile>('package-lock.json');
    expect(Object.values(packages).filter((entry) => entry.resolved !== undefined)).toEqual([]);
  });

  // npm leaves out what a registry does not carry, and `npm ci` then refuses the file everywhere else.
  test('names the packages of all platforms', async () => {
    const { packages } = await readJson<LockFile>('package-lock.json');
    const missing = Object.entries(packages).flatMap(([path, entry]) =>
      Object.keys(entry.optionalDependencies ?? {}).filter(
        (name) => !packages[`node_modules/${name}`] && !packages[`${path}/node_modules/${name}`],
      ),
    );
    expect(missing).toEqual([]);
  });
});

test('every direct dependency has its reason in the decisions', async () => {
  const manifest = await readJson<Manifest>('package.json');
  const text = await readFile(join(ROOT, 'docs/decisions/dependencies.md'), 'utf8');
  const unexplained = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).filter(
    (name) => !text.includes(`\`${name}\``),
  );
  expect(unexplained).toEqual([]);
});
