/** What this machine can offer to tools, and why the rest is missing. */
import type { Config } from '../config/index.ts';
import { sandboxStatus } from '../context/index.ts';
import type { Surroundings } from '../policy/index.ts';
import type { HandleName } from '../tools/tool-context.ts';

const ALWAYS: readonly HandleName[] = ['files', 'writer', 'searcher', 'artifacts', 'elevated'];

/** Looks once whether the sandbox works; which backend is configured is asked anew for every call. */
export async function surroundings(
  settings: () => { config: Config },
  protectedPaths: readonly string[],
): Promise<() => Surroundings> {
  const sandbox = await sandboxStatus();
  return () => {
    const { backend } = settings().config.shell;
    const available = new Set<string>(ALWAYS);
    if (backend === 'host' || (backend === 'sandbox' && sandbox.available)) available.add('shell');
    return { available, missing: sandbox.available ? {} : { shell: sandbox.hint ?? '' }, protectedPaths };
  };
}
