/** Secrets from where the configuration says they are; read anew each time, so that they can be changed while the service runs. */
import { readFile } from 'node:fs/promises';
import { NotTold } from './notifier.ts';

export async function readSecret(env: string | undefined, file: string | undefined): Promise<string> {
  const [value, where] =
    env !== undefined
      ? [process.env[env], `environment variable ${env}`]
      : [await readText(file ?? ''), `file ${file ?? ''}`];
  const secret = value?.replace(/\r?\n$/, '') ?? '';
  if (secret === '') throw new NotTold(`${where} is missing or empty`);
  return secret;
}

const readText = (file: string): Promise<string | undefined> => readFile(file, 'utf8').catch(() => undefined);
