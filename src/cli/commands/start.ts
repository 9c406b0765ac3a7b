/** `countersign start`: the service, proven by one real call, until Ctrl-C. */
import type { Command } from 'commander';
import type { Service } from '../../server/service.ts';
import { type Common, defineCommand, onAction } from '../command.ts';
import { port } from '../io/options.ts';
import { note, paint, print, printError, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';
import type { Proof } from '../service/prove.ts';
import { type Ready, startedText } from '../render/started.ts';
import { type Spinner, startSpinner } from '../render/spinner.ts';
import { STATUS, type Status, reportOf, statusOf } from '../status.ts';

interface Options extends Common {
  port?: number;
  uiPort?: number;
  ui: boolean;
  config?: string;
  trust?: string;
}

const EXAMPLES = `
countersign start
countersign start --trust ~/projects/website --config strict.jsonc
countersign start --port 0 --no-ui --json          prints one JSON object when calls can run

With TEMPORAL_ADDRESS (and TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS_*) it starts the worker only, for that server.
Ctrl-C drains what runs and ends everything; a second one does so at once.`;

export function command(ended: Ended): Command {
  const start = defineCommand(
    'start',
    'Starts the service: Temporal with its UI and a database file, and the worker.',
    EXAMPLES,
  )
    .option('--port <n>', 'port of the Temporal server; a free one is taken where it is in use, and with 0', port)
    .option('--ui-port <n>', 'port of the Temporal UI', port)
    .option('--no-ui', 'without the UI')
    .option(
      '--config <file>',
      'the configuration (default: countersign.config.jsonc here, else in the user’s configuration folder)',
    )
    .option('--trust <dir>', 'folder that sessions may work in (default: this one)');
  return onAction(start, ended, run);
}

async function run(options: Options): Promise<Status> {
  const since = performance.now();
  const stopping = stopSignal();
  const service = await startAll(options);
  stopping.up();
  const { proveByCall } = await import('../service/prove.ts');
  try {
    const proof = await Promise.race([proveByCall(service, options.trust ?? process.cwd()), stopping.asked]);
    if (proof) {
      const ready = readyLine(service, proof, Math.round(performance.now() - since));
      if (options.json) printJson(ready);
      else print(startedText(ready, service.config.config));
    }
    await Promise.race([stopping.asked, service.running]);
    return STATUS.done;
  } catch (error) {
    // Ready was told before, or never will be: the error is for whoever watches.
    const report = reportOf(error);
    printError(report, false);
    return statusOf(report);
  } finally {
    if (process.stderr.isTTY)
      note(paint('dim', '\nEnding: running tools may finish within 3 s. Ctrl-C again ends at once.', process.stderr));
    await service.stop();
  }
}

async function startAll({ port: wished, uiPort, ui, config, trust }: Options): Promise<Service> {
  const spinner: Spinner = startSpinner('start the service');
  const report = (line: string): void => (process.stderr.isTTY ? spinner.say(line) : note(line));
  try {
    const [{ startService }, { serviceLog }] = await Promise.all([
      import('../../server/service.ts'),
      import('../service/service-log.ts'),
    ]);
    return await startService({
      report,
      log: serviceLog(),
      ui,
      ...(wished !== undefined && { port: wished }),
      ...(uiPort !== undefined && { uiPort }),
      ...(config !== undefined && { configFile: config }),
      ...(trust !== undefined && { trust }),
    });
  } finally {
    spinner.stop();
  }
}

function readyLine({ address, namespace, uiUrl, from, config }: Service, proof: Proof, startedInMs: number): Ready {
  return {
    address,
    namespace,
    ...(uiUrl !== undefined && { uiUrl }),
    pid: process.pid,
    from,
    ...(config.path !== undefined && { config: config.path }),
    ...proof,
    startedInMs,
  };
}

const SAME_MS = 500;

interface StopSignal {
  /** Resolves at the first Ctrl-C (or SIGTERM) after the service was up. */
  asked: Promise<undefined>;
  up(): void;
}

/** Before the service is up, and at the second time, the program ends at once; its Temporal server dies with it. */
function stopSignal(): StopSignal {
  const { promise: asked, resolve } = Promise.withResolvers<undefined>();
  let patience = 0;
  let first = 0;
  const stop = (): void => {
    // One Ctrl-C under `npm start` comes twice: from the terminal, and from npm.
    if (first > 0 && Date.now() - first < SAME_MS) return;
    if (patience === 0) process.exit(STATUS.interrupted);
    patience -= 1;
    first = Date.now();
    resolve(undefined);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return { asked, up: () => (patience = 1) };
}
