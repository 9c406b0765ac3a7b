/** How clients on this machine find a running embedded service: `service.json` in its state folder. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stateDir } from './paths.ts';
import { isRunning, processStart } from './processes.ts';

export interface ServiceInfo {
  /** gRPC address of its Temporal server: `127.0.0.1:7733`. */
  address: string;
  namespace: string;
  /** Absent where the service runs without the UI. */
  uiUrl?: string;
  /** Absolute path of its configuration; absent where it goes by the defaults. */
  config?: string;
  /** The service's own process; its Temporal server is another. */
  pid: number;
  /** Tells this process from a later one with the same id. */
  pidStart: string;
  /** ISO 8601. */
  startedAt: string;
  /** Set from when it was told to end until it has. */
  stopping?: true;
}

const file = (folder: string): string => join(folder, 'service.json');

/** Makes this process findable. Readers see the old file or the new one. */
export function announceService(
  folder: string,
  info: Pick<ServiceInfo, 'address' | 'namespace' | 'uiUrl' | 'config'>,
): ServiceInfo {
  const full: ServiceInfo = {
    ...info,
    pid: process.pid,
    pidStart: processStart(process.pid) ?? '',
    startedAt: new Date().toISOString(),
  };
  write(folder, full);
  return full;
}

/** Tells who would start another that this process is about to give the folder free. */
export function announceStop(folder: string): void {
  const info = discoverService(folder);
  if (info?.pid !== process.pid) return;
  try {
    write(folder, { ...info, stopping: true });
  } catch {
    // Only a courtesy: a full disk must not hold up the end.
  }
}

function write(folder: string, info: ServiceInfo): void {
  mkdirSync(folder, { recursive: true });
  const temporary = `${file(folder)}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(info, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, file(folder));
}

export const withdrawService = (folder: string): void => rmSync(file(folder), { force: true });

/** The embedded service that runs on this state folder, or undefined; what a killed service left behind is no service. */
export function discoverService(folder: string = stateDir()): ServiceInfo | undefined {
  let info: ServiceInfo;
  try {
    info = JSON.parse(readFileSync(file(folder), 'utf8')) as ServiceInfo;
  } catch {
    return undefined;
  }
  return isRunning(info.pid, info.pidStart) ? info : undefined;
}
