/**
 * The sandbox of commands: bubblewrap. Inside there is the workspace, writable, at its own path; the system's programs, read-only; fresh /tmp, /proc and
 * /dev; and nothing else. No network, no capability, no host process, none of our state.
 *
 * What is bound from the workspace is bound by descriptor (--bind-fd), held by beneath.ts: a link that another command of the same workspace puts in the way changes nothing.
 * Arguments travel through a pipe, so that the environment's values are not in the machine's process list.
 */

import { existsSync } from 'node:fs';
import { CountersignError } from '../../protocol/errors.ts';
import { O_PATH, withPlace } from '../files/beneath.ts';
import { sandboxEnvironment } from './environment.ts';
import type { ProcessPlan } from './run-process.ts';
import { Binds, type SandboxedCommand } from './sandbox-binds.ts';
import { GROUP, isolation, PASSWD, searchPath, system } from './sandbox-layout.ts';
import { findBubblewrap, sandboxStatus, type SandboxOptions } from './sandbox-status.ts';
import { writes } from './writable.ts';

/** Gives `use` the plan of a sandboxed process; descriptors that it names stay open until `use` is done. */
export async function withSandbox<T>(
  command: SandboxedCommand,
  options: SandboxOptions,
  use: (plan: Omit<ProcessPlan, 'end'>) => Promise<T>,
): Promise<T> {
  const status = await sandboxStatus(options);
  const program = options.bubblewrap ?? findBubblewrap();
  if (!status.available || program === undefined) {
    const { reason, hint } = status.available ? { reason: 'bubblewrap is gone', hint: 'install it again' } : status;
    throw new CountersignError('sandbox_unavailable', `${reason}; ${hint}`);
  }
  using _writes = command.writable ? writes(command.root) : undefined;
  return await withPlace(
    '.',
    { root: command.root, protection: command.protection, followLast: true },
    async ({ parent }) => {
      const binds = new Binds(command, options);
      try {
        binds.workspace(parent);
        const paths = options.readOnly ?? [];
        const args = [
          ...isolation(),
          ...system(paths),
          '--ro-bind-data',
          '5',
          '/etc/passwd',
          '--ro-bind-data',
          '6',
          '/etc/group',
          ...binds.args,
          ...Object.entries({ ...sandboxEnvironment(searchPath(paths)), ...command.env }).flatMap(([name, value]) => [
            '--setenv',
            name,
            value,
          ]),
          '--chdir',
          command.cwd,
          '--remount-ro',
          '/',
          '--info-fd',
          '4',
        ];
        return await use({
          file: program,
          args: ['--args', '3', '--', ...limited(command.argv, options)],
          // bubblewrap's own environment can be read from inside at /proc/1/environ, and its loader obeys it outside.
          env: {},
          cwd: '/',
          extra: [
            { data: `${args.join('\0')}\0` },
            'report',
            { data: PASSWD },
            { data: GROUP },
            ...binds.fds.map((fd) => ({ fd, flags: O_PATH })),
          ],
        });
      } finally {
        await binds.release();
      }
    },
  );
}

/** bash where there is one: it can close descriptors above 9. */
const SHELL = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';

/**
 * Before the command begins: descriptors that whoever started the worker left open are closed (bubblewrap passes them on), and the number of processes is limited
 * (dash names that limit -p, bash -u).
 */
const limited = (argv: readonly string[], { maxProcesses = 1_024 }: SandboxOptions): string[] => {
  const close =
    SHELL === '/bin/bash'
      ? 'for fd in /proc/$$/fd/*; do fd=${fd##*/}; [ "$fd" -gt 2 ] && eval "exec $fd>&-"; done'
      : ':';
  const limit = SHELL === '/bin/bash' ? '-u' : '-p';
  return [SHELL, '-c', `${close}; ulimit ${limit} ${maxProcesses} 2>/dev/null; exec "$@"`, 'sh', ...argv];
};
