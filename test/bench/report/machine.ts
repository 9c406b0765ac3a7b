/** What the figures were measured on: without it they say nothing. */
import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os';
import { findTemporal } from '../../../src/server/find-temporal.ts';

export interface Machine {
  date: string;
  cpu: string;
  cores: number;
  memoryGB: number;
  system: string;
  node: string;
  temporal: string;
  /** Programs that wanted to run during the minute before the start; above 0.5 others were at work. */
  loadBefore: number;
}

export async function machine(): Promise<Machine> {
  const [load = 0] = loadavg();
  return {
    date: new Date().toISOString().slice(0, 10),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()} ${arch()}`,
    node: process.versions.node,
    temporal: (await findTemporal())?.version ?? 'configured elsewhere',
    loadBefore: Math.round(load * 100) / 100,
  };
}
