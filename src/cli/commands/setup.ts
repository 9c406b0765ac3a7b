/** `countersign setup`: creates what a cluster of one's own lacks, or prints the commands for its operator. */
import type { Command } from 'commander';
import { type Common, defineCommand, onAction } from '../command.ts';
import { print, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';

const EXAMPLES = `
TEMPORAL_ADDRESS=temporal.example.org:7233 TEMPORAL_NAMESPACE=agents countersign setup

Needed are four search attributes and a retention of 30 days. The embedded server has both.`;

export function command(ended: Ended): Command {
  return onAction(
    defineCommand(
      'setup',
      'Creates what a Temporal cluster of your own lacks, or prints the commands that do.',
      EXAMPLES,
    ),
    ended,
    run,
  );
}

async function run({ json }: Common): Promise<void> {
  const [{ connectionSettings }, { setupNamespace }, { connectTo }] = await Promise.all([
    import('../../server/connect.ts'),
    import('../../server/setup.ts'),
    import('../service/connect-to.ts'),
  ]);
  const { options, namespace } = connectionSettings();
  const connection = await connectTo(options);
  try {
    const { created, commands } = await setupNamespace(connection, namespace, options.address);
    if (json)
      return printJson({ namespace, address: options.address, complete: commands.length === 0, created, commands });
    for (const what of created) print(`created  ${what}`);
    if (commands.length === 0) return print(`Namespace ${namespace} at ${options.address} has all that calls need.`);
    print('This needs rights that we do not have. Let its operator run:');
    for (const line of commands) print(`  ${line}`);
  } finally {
    await connection.close();
  }
}
