/** `countersign approver`: keys that decisions are signed with. */
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { safeLine } from '../../approval/render/safe-text.ts';
import { CountersignError } from '../../protocol/errors.ts';
import { type Common, defineCommand, defineGroup, onAction } from '../command.ts';
import { note, paint, print, printJson } from '../io/output.ts';
import type { Ended } from '../program.ts';

interface InitOptions extends Common {
  name?: string;
  passphrase?: true;
}

const EXAMPLES = `
countersign approver init                     a key in your name
countersign approver init --passphrase        asked for each time it signs
countersign approver list

The public line goes into "approvals": {"approvers": [...]} of the service's configuration; the private key stays here. Once
there is a key, approve, deny, resume and grant add sign with it: put the line there first, for a signature of nobody who is listed counts
nowhere. Until then, --no-sign leaves it out.`;

export function command(ended: Ended): Command {
  const group = defineGroup('approver', 'Keys that decisions are signed with.', EXAMPLES);
  const init = defineCommand('init', 'Makes a key and prints the public line for the configuration.', EXAMPLES)
    .option('--name <name>', 'the approver’s name (default: your name on this machine)')
    .option('--passphrase', 'keep the key under a passphrase, asked on the terminal');
  group.addCommand(onAction(init, ended, makeKey));
  group.addCommand(onAction(defineCommand('list', 'Lists the keys of this user.', EXAMPLES), ended, list));
  return group;
}

async function makeKey({ name = userInfo().username, passphrase, json }: InitOptions): Promise<void> {
  const { createKey, folder } = await keys();
  const key = createKey(folder, name, passphrase ? await newPassphrase() : undefined);
  const entry = JSON.stringify({ name, publicKey: key.publicKey });
  if (json) return printJson({ name, ...key });
  note(
    `The private key is in ${safeLine(key.path)}, and nowhere else. In the service's configuration, under "approvals":`,
  );
  note('');
  print(`  "approvers": [${entry}]`);
  note('');
  note(
    'It is of use only once the configuration lists it. Until then decide with --no-sign, where signatures are optional.',
  );
  note(paint('dim', 'With "signatures": "required" nothing is approved without such a key.', process.stderr));
}

async function newPassphrase(): Promise<string> {
  const { askPassphrase } = await import('../io/passphrase.ts');
  const first = await askPassphrase('New passphrase: ');
  if (first.length < 8) throw new CountersignError('invalid_usage', 'A passphrase has 8 characters or more.');
  if ((await askPassphrase('Once more: ')) !== first)
    throw new CountersignError('invalid_usage', 'The two differ; no key was made.');
  return first;
}

async function list({ json }: Common): Promise<void> {
  const { listKeys, folder } = await keys();
  const found = listKeys(folder);
  if (json) return printJson({ keys: found });
  if (found.length === 0) return note('You have no key. Make one: countersign approver init');
  for (const { name, publicKey, encrypted } of found) {
    print(`${safeLine(name)}  ${publicKey ?? '(its .pub file is gone)'}${encrypted ? '  under a passphrase' : ''}`);
  }
}

async function keys() {
  const [module, { configDir }] = await Promise.all([
    import('../../approval/keys.ts'),
    import('../../server/paths.ts'),
  ]);
  return { ...module, folder: module.approversFolder(configDir()) };
}
