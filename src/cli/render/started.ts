/** What `start` says once calls can run. */
import type { Config } from '../../config/index.ts';
import { paint } from '../io/output.ts';
import type { Proof } from '../service/prove.ts';
import { haltedWarning } from './halted.ts';
import { statusText } from './outcome.ts';
import { safeLine } from '../../approval/render/safe-text.ts';
import { span } from './time.ts';

export interface Ready extends Proof {
  /** `host:port` of Temporal. */
  address: string;
  namespace: string;
  uiUrl?: string;
  pid: number;
  from: 'embedded' | 'configured';
  /** The configuration file; absent where the defaults hold. */
  config?: string;
  startedInMs: number;
}

export function startedText(ready: Ready, config: Config): string {
  const { address, namespace, uiUrl, from, startedInMs } = ready;
  return [
    `${paint(['green', 'bold'], 'Countersign is up')} ${paint('dim', `after ${span(startedInMs)}`)}`,
    field('Temporal', `${address}${from === 'configured' ? ` (yours), namespace ${namespace}` : ''}`),
    ...(uiUrl === undefined ? [] : [field('UI', uiUrl)]),
    field('config', ready.config ?? 'none: the defaults hold'),
    ...callLines(ready),
    ...hostWarning(config),
    ...waitingLines(ready),
    '',
    'Type in another terminal:',
    ...nextLines(ready),
    '',
    paint('dim', 'Ctrl-C ends everything.'),
  ].join('\n');
}

function callLines({ firstCall: call, firstCallError: error, halted }: Ready): string[] {
  if (halted) return ['', paint('yellow', haltedWarning(halted))];
  if (error) return ['', `No call was tried here: ${safeLine(error.message)}`];
  if (!call) return [];
  const title = call.display?.split('\n')[0] ?? call.error?.message ?? '';
  return [
    '',
    `The first call, ${call.tool}: ${statusText(call.status)} in ${span(call.durationMs)}  ${paint('dim', safeLine(title))}`,
    ...(call.uiUrl === undefined ? [] : [field('its page', call.uiUrl)]),
  ];
}

function waitingLines({ waiting: { approval, correction, orMore } }: Ready): string[] {
  const calls = (count: number): string =>
    count === 1 && !orMore ? '1 call waits' : `${count}${orMore ? ' or more' : ''} calls wait`;
  const lines = [
    ...(approval > 0 ? [`${calls(approval)} for approval: countersign pending`] : []),
    ...(correction > 0 ? [`${calls(correction)} for corrected arguments: countersign pending --all`] : []),
  ];
  return lines.length === 0 ? [] : ['', ...lines.map((line) => paint('yellow', line))];
}

function hostWarning({ shell, approvals }: Config): string[] {
  if (shell.backend !== 'host' || approvals.signatures === 'required') return [];
  return [
    '',
    paint(
      'yellow',
      'Commands run on the host, outside of any sandbox, and could approve themselves with this very program.',
    ),
    paint(
      'yellow',
      'Approvals bind only with "approvals": {"signatures": "required"} and keys out of that user’s reach.',
    ),
  ];
}

function nextLines({ firstCallError }: Ready): string[] {
  const lines = firstCallError
    ? [
        ['workspace add DIR', 'trust a folder'],
        ['session open --workspace DIR', 'and work in it'],
      ]
    : [
        ['call list', 'one more call, in the folder you are in'],
        [`call shell '{"command":"echo hello"}'`, 'in the sandbox'],
        ['pending', 'what waits for you'],
      ];
  return lines.map(([command, what]) => `  ${`${PROGRAM} ${command}`.padEnd(60)}${what}`);
}

/** As a person here types it: a clone is not installed. */
const PROGRAM = import.meta.filename.endsWith('.ts') ? 'npx countersign' : 'countersign';

const field = (name: string, text: string): string => `  ${paint('dim', name.padEnd(9))} ${text}`;
