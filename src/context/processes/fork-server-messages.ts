/** What a worker and its fork server say to each other. */

/** One descriptor of the child: nothing, text that it reads, a pipe that it writes a report to, or a descriptor of ours, opened anew with these flags. */
export type StdioItem = 'ignore' | 'report' | { data: string } | { fd: number; flags: number };

/** What to start: `stdio` from descriptor 0 on. */
export interface ForkRequest {
  id: number;
  file: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  stdio: readonly StdioItem[];
}

export type ForkAnswer = { id: number } & (
  | { pid: number }
  | { report: string }
  | { exit: [number | null, NodeJS.Signals | null] }
  | { error: { message: string; code?: string } }
);

/** Code of the error where the fork server cannot open the worker's descriptors. */
export const HIDDEN = 'DESCRIPTORS_HIDDEN';
