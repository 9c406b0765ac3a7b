/** In whose name a person decides here, and with which key. Decisions are signed wherever there is a key to sign with. */
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { Signer } from '../../approval/sign.ts';
import { CountersignError } from '../../protocol/errors.ts';
import { personName } from '../io/options.ts';

export interface Signing {
  as?: string;
  /** False with `--no-sign`. */
  sign?: boolean;
}

export interface Decider {
  approver: string;
  signer?: Signer;
}

export const signing = (command: Command): Command =>
  command
    .option('--as <name>', 'the approver who decides (default: your name on this machine)', personName)
    .option('--no-sign', 'do not sign, though there is a key');

/**
 * The named approver's signer, the one of the user's name, or that of the only key there is; where there is none, the name alone.
 * Throws `invalid_usage` where a key is there and can't be used. `ask` asks for a passphrase; on the terminal where it is not given.
 */
export async function deciderOf(
  { as, sign = true }: Signing,
  ask?: (question: string) => Promise<string>,
): Promise<Decider> {
  const own = as ?? userInfo().username;
  if (!sign) return { approver: own };
  const [{ approversFolder, listKeys, openSigner }, { configDir }] = await Promise.all([
    import('../../approval/keys.ts'),
    import('../../server/paths.ts'),
  ]);
  const folder = approversFolder(configDir());
  const keys = listKeys(folder);
  const key = keys.find(({ name }) => name === own) ?? (as === undefined && keys.length === 1 ? keys[0] : undefined);
  if (!key && as === undefined && keys.length > 1) {
    const names = keys.map(({ name }) => name).join(', ');
    throw new CountersignError(
      'invalid_usage',
      `There are keys of ${names}: say who decides, with --as NAME, or --no-sign.`,
    );
  }
  if (!key) return { approver: own };
  const question = ask ?? (await import('../io/passphrase.ts')).askPassphrase;
  const signer = await openSigner(folder, key.name, () => question(`Passphrase of ${key.name}: `));
  return { approver: key.name, signer };
}
