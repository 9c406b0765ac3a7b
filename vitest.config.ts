import { defineConfig } from 'vitest/config';
import { ownTemporaryFolder } from './test/support/temporary-folder.ts';

// For the tests' server, which this process starts, too.
process.env['TMPDIR'] = ownTemporaryFolder();

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/bench/**'],
    pool: 'forks',
    // A test file often brings a server and a worker of its own; more files at once make each other slow.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // What is waited for comes in milliseconds, or late on a busy machine; the limit is there for what never comes.
    expect: { poll: { timeout: 15_000 } },
    globalSetup: ['test/support/server.ts'],
    env: { NO_COLOR: '1', TMPDIR: process.env['TMPDIR'] },
  },
});
