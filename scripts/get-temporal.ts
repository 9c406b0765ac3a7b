/** Gets the Temporal server for development, with visible progress; part of the set-up. */
import { getTemporal } from '../src/server/find-temporal.ts';

try {
  await getTemporal((line) => console.error(line));
} catch (error) {
  console.error(`✗ ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
