/** `countersign audit`: the story of a call or a session. */
import { type Command, Option } from 'commander';
import { type Common, defineCommand, onAction } from '../command.ts';
import { safeLine } from '../../approval/render/safe-text.ts';
import { CountersignError } from '../../protocol/errors.ts';
import { paint, print, printJson } from '../io/output.ts';
import type { CheckedCall } from '../judge/verify-calls.ts';
import type { Ended } from '../program.ts';
import { storyMarkdown, storyText } from '../render/audit-forms.ts';
import { storyOf } from '../render/audit.ts';
import { withSpinner } from '../render/spinner.ts';
import { callNamed, callReference, isCallReference, withService } from '../service/with-service.ts';
import { STATUS, type Status } from '../status.ts';

const FORMATS = ['text', 'json', 'markdown'] as const;

interface Options extends Common {
  format?: (typeof FORMATS)[number];
  trace?: true;
  verify?: true;
  config?: string;
}

const EXAMPLES = `
countersign audit call/build-17/push-1
countersign audit call/build-17/push-1 --trace      every rule that had something to say
countersign audit build-17                          a session: its children, its calls, the decisions
countersign audit build-17 --format markdown        for a report
countersign audit build-17 --verify                 checks digests and signatures again, by the configured keys

It is told from Temporal's own history. What looks like a secret is shown as …`;

export function command(ended: Ended): Command {
  const audit = defineCommand(
    'audit',
    'Tells who asked for what, which rule or person let it, what ran, and how it ended.',
    EXAMPLES,
  )
    .argument('<name>', 'a call’s full name or short code, or a session’s id')
    .addOption(new Option('--format <format>', 'how it is told (default: text)').choices(FORMATS))
    .option('--trace', 'every rule that had something to say')
    .option(
      '--verify',
      'check every digest and signature of the call, or of every call under the session, again; status 1 where one does not hold',
    )
    .option('--config <file>', 'with --verify, the configuration that lists the approvers');
  return onAction(audit, ended, run);
}

async function run(name: string, { trace, json, format, verify, config }: Options): Promise<Status> {
  if (json && format !== undefined && format !== 'json')
    throw new CountersignError('invalid_usage', 'give --json or --format: they say different things');
  const form = json ? 'json' : (format ?? 'text');
  // No session's id has a slash.
  if (name.startsWith('call/')) callReference(name);
  if (verify) {
    if (form === 'markdown') throw new CountersignError('invalid_usage', 'with --verify the format is text or json');
    return verifyAll(name, form === 'json', config);
  }
  await withService(async (countersign) => {
    const found = await withSpinner(`audit ${name}`, async () =>
      countersign.audit(isCallReference(name) ? await callNamed(countersign, name) : name),
    );
    if (form === 'json') return printJson(found);
    const story = storyOf(found, { trace: trace === true });
    print(form === 'markdown' ? storyMarkdown(story) : storyText(story));
  });
  return STATUS.done;
}

async function verifyAll(reference: string, json: boolean, config: string | undefined): Promise<Status> {
  const [{ callsOfReference, verifyCalls }, { configHere }] = await Promise.all([
    import('../judge/verify-calls.ts'),
    import('../../server/config-here.ts'),
  ]);
  const { config: settings, said } = await configHere(config);
  return withService(async (countersign) => {
    const { session, calls } = await callsOfReference(countersign, reference);
    const checked = await withSpinner(`verify ${reference}`, () => verifyCalls(countersign.temporal, calls, settings));
    const holds = checked.every((one) => one.holds);
    const [first] = checked;
    if (json) printJson(session === undefined && first ? first : { session, holds, calls: checked });
    else printChecks(checked, session, said);
    return holds ? STATUS.done : STATUS.otherwise;
  });
}

/** `by`: whose approvers it was checked by. */
function printChecks(checked: readonly CheckedCall[], session: string | undefined, by: string): void {
  for (const { call, checks } of checked) {
    if (session !== undefined && checks.length > 0) print(paint('bold', call));
    for (const { at, what, ok, unchecked, text } of checks) {
      const sign = ok ? paint('green', '✓') : unchecked ? paint('yellow', '?') : paint('red', '✗');
      print(`${sign} ${what.padEnd(10)} ${paint('dim', at)}  ${safeLine(text)}`);
    }
  }
  const [wrong, asked] = [checked.filter(({ holds }) => !holds), checked.filter(({ checks }) => checks.length > 0)];
  if (session !== undefined) print(`${checked.length} call(s), ${asked.length} of them with something to verify.`);
  else if (asked.length === 0) return print('Nobody was asked about this call, so there is nothing to verify.');
  print(paint('dim', `Checked by ${safeLine(by)}.`));
  if (wrong.length === 0) return print('All of it holds.');
  const refuted = wrong.filter(({ checks }) => checks.some(({ ok, unchecked }) => !ok && !unchecked));
  if (refuted.length === 0) return print(`It cannot be checked: no approvers here. ${GIVE_CONFIG}`);
  print('It does NOT hold.');
  if (session !== undefined) for (const { call } of refuted) print(`  ${paint('red', call)}`);
}

const GIVE_CONFIG =
  'Give the configuration that lists them, the service’s: countersign audit NAME --verify --config FILE';
