/** `countersign audit`: the story of a call or a session. */
import type { Command } from 'commander';
import { type Common, defineCommand, onAction } from '../command.ts';
import { safeLine } from '../../approval/render/safe-text.ts';
import type { ToolFacts } from '../../policy/index.ts';
import { CountersignError } from '../../protocol/errors.ts';
import { parseCallWorkflowId } from '../../protocol/ids.ts';
import { paint, print, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';
import { auditText } from '../render/audit.ts';
import { withSpinner } from '../render/spinner.ts';
import { callNamed, isCallReference, withService } from '../service/with-service.ts';
import { STATUS, type Status } from '../status.ts';

interface Options extends Common {
  trace?: true;
  verify?: true;
  config?: string;
}

const EXAMPLES = `
countersign audit call/build-17/push-1
countersign audit call/build-17/push-1 --trace      every rule that had something to say
countersign audit call/build-17/push-1 --verify     checks digests and signatures again, by the configured keys
countersign audit build-17                          a session: its children, its calls, the decisions

It is told from Temporal's own history. What looks like a secret is shown as …`;

export function command(ended: Ended): Command {
  const audit = defineCommand(
    'audit',
    'Tells who asked for what, which rule or person let it, what ran, and how it ended.',
    EXAMPLES,
  )
    .argument('<name>', 'a call’s full name or short code, or a session’s id')
    .option('--trace', 'every rule that had something to say')
    .option('--verify', 'check every digest and signature of a call again; status 1 where one does not hold')
    .option('--config <file>', 'with --verify, the configuration that lists the approvers');
  return onAction(audit, ended, run);
}

async function run(name: string, { trace, json, verify, config }: Options): Promise<Status> {
  if (verify) return verifyOne(name, json === true, config);
  await withService(async (countersign) => {
    const story = await withSpinner(`audit ${name}`, async () =>
      countersign.audit(isCallReference(name) ? await callNamed(countersign, name) : name),
    );
    if (json) printJson(story);
    else print(auditText(story, { trace: trace === true }));
  });
  return STATUS.done;
}

async function verifyOne(reference: string, json: boolean, config: string | undefined): Promise<Status> {
  const [{ verifyCall }, { findConfig }, { readHistory }, { builtInTools }, { configDir }] = await Promise.all([
    import('../judge/verify-call.ts'),
    import('../../config/index.ts'),
    import('../../client/history.ts'),
    import('../../tools/index.ts'),
    import('../../server/paths.ts'),
  ]);
  const settings = (await findConfig(config, [process.cwd(), configDir()])).config;
  return withService(async (countersign) => {
    const id = await callNamed(countersign, reference);
    const name = parseCallWorkflowId(id);
    const events = await readHistory(countersign.temporal, id);
    if (!name || events.length === 0) throw new CountersignError('call_not_found', `There is no call ${id}.`);
    const unknown = (tool: string): ToolFacts => ({
      name: tool,
      tier: 'elevated',
      effect: 'once',
      groups: [],
      needs: [],
    });
    const checks = verifyCall(
      events,
      name,
      (tool) => builtInTools.find((one) => one.name === tool) ?? unknown(tool),
      settings,
    );
    const holds = checks.every(({ ok }) => ok);
    if (json) printJson({ call: id, holds, checks });
    else {
      for (const { at, what, ok, text } of checks) {
        print(
          `${ok ? paint('green', '✓') : paint('red', '✗')} ${what.padEnd(10)} ${paint('dim', at)}  ${safeLine(text)}`,
        );
      }
      print(
        checks.length === 0
          ? 'Nobody was asked about this call, so there is nothing to verify.'
          : holds
            ? 'All of it holds.'
            : 'It does NOT hold.',
      );
    }
    return holds ? STATUS.done : STATUS.otherwise;
  });
}
