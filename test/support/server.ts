/**
 * One Temporal server for all the tests of a run that use `inject('temporalAddress')`. It starts only when a test file
 * that is about to run says that name, keeps everything in memory, and dies with the run, however that ends.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startTemporal } from '../../src/server/temporal.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** `127.0.0.1:12345`; namespace `default`, search attributes registered. Shared: use ids of your own. */
    temporalAddress: string;
  }
}

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  // The filters of this run. Vitest does not promise this property: without it, all test files are looked at.
  const { filenamePattern } = project.vitest as unknown as { filenamePattern?: string[] };
  const { testFiles } = await project.globTestFiles(filenamePattern);
  const sources = await Promise.all(testFiles.map((file) => readFile(file, 'utf8')));
  if (!sources.some((source) => source.includes('temporalAddress'))) return undefined;

  const dataDir = await mkdtemp(join(tmpdir(), 'countersign-test-'));
  const server = await startTemporal({
    dataDir,
    database: 'memory',
    port: 0,
    ui: false,
    report: (line) => console.error(line),
    onExit: ({ code, signal, logTail }) =>
      console.error(`The tests' Temporal server ended (${code ?? signal}).\n${logTail}`),
  });
  project.provide('temporalAddress', server.address);
  return async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}
