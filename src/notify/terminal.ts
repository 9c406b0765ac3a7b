/** A bell and a line on the terminal where the service was started. */
import { NotTold, type Notifier, type Surroundings } from './notifier.ts';
import { commands, opening, shortLine } from './notice.ts';

export function terminalNotifier({ terminal = process.stderr }: Surroundings): Notifier {
  return {
    type: 'terminal',
    async tell(notice) {
      if (terminal.isTTY !== true) throw new NotTold('the service was not started on a terminal');
      const { tool, tier } = notice.request;
      const line = `${opening(notice)}: ${shortLine(`${tool} (${tier})`)}; ${commands(notice)[0] ?? ''}`;
      await new Promise<void>((resolve, reject) => {
        // The line begins anew, whatever else was being written there.
        terminal.write(`\u0007\r${line}\r\n`, (error) =>
          error ? reject(new NotTold('the terminal is gone')) : resolve(),
        );
      });
    },
  };
}
