/** A service's process as far as its Temporal server goes: starts one, says where, and waits to be killed. */
import { startTemporal } from '../../src/server/temporal.ts';

const server = await startTemporal({ dataDir: process.argv[2] ?? '', port: 0, ui: false });
console.log(`server ${server.pid} at ${server.address}.`);
setInterval(() => {}, 60_000);
