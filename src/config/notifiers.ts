/** How the people of a channel are told. The file names where secrets are, and never holds one. */
import Type from 'typebox';
import type { Problem } from './names.ts';

export type NotifierConfig =
  | { type: 'log' }
  | { type: 'terminal' }
  | ({ type: 'webhook'; url: string } & Secret<'secret'>)
  | ({ type: 'slack' } & Secret<'url'>)
  | EmailConfig;

/** A secret by the name of its environment variable or the path of its file. */
export type Secret<Name extends string> = { [Key in `${Name}Env` | `${Name}File`]?: string };

export interface EmailConfig extends Secret<'password'> {
  type: 'email';
  host: string;
  /** 465 with `tls`, 587 otherwise. */
  port?: number;
  /** `starttls` unless said otherwise; `none` sends in the clear. */
  security?: 'tls' | 'starttls' | 'none';
  user?: string;
  from: string;
  to: string[];
}

export const NOTIFIER_TYPES = [
  'log',
  'terminal',
  'webhook',
  'slack',
  'email',
] as const satisfies readonly NotifierConfig['type'][];

const { Optional } = Type;
const text = (description: string) => Optional(Type.String({ minLength: 1, maxLength: 2_000, description }));
const variable = (description: string) =>
  Optional(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$', description }));
const file = (description: string) => Optional(Type.String({ pattern: '^/', maxLength: 4_096, description }));
const address = { minLength: 3, maxLength: 320, pattern: '^[^\\r\\n]+$' } as const;

/** One object for all types, so that what is wrong with one of them can be said in a line; {@link notifierProblems} says which goes with which. */
export const notifierSchema = Type.Unsafe<NotifierConfig>(
  Type.Object(
    {
      type: Type.Enum([...NOTIFIER_TYPES], { description: 'How people are told.' }),
      url: text('webhook: the address that is posted to; redirects are not followed.'),
      secretEnv: variable('webhook: the environment variable that holds the signing secret.'),
      secretFile: file('webhook: the file that holds the signing secret.'),
      urlEnv: variable(
        'slack: the environment variable that holds the address of the incoming webhook, which is a secret.',
      ),
      urlFile: file('slack: the file that holds the address of the incoming webhook.'),
      host: text('email: the SMTP server.'),
      port: Optional(Type.Integer({ minimum: 1, maximum: 65_535, description: 'email: 465 with tls, 587 otherwise.' })),
      security: Optional(
        Type.Enum(['tls', 'starttls', 'none'], { description: 'email: Default: starttls; none sends in the clear.' }),
      ),
      user: text('email: the user name at the SMTP server.'),
      passwordEnv: variable('email: the environment variable that holds the password.'),
      passwordFile: file('email: the file that holds the password.'),
      from: Optional(Type.String({ ...address, description: 'email: the sender.' })),
      to: Optional(
        Type.Array(Type.String(address), { minItems: 1, maxItems: 50, description: 'email: the addressees.' }),
      ),
    },
    { additionalProperties: false, description: 'One way of telling people.' },
  ),
);

/** For each type its fields; of a list, exactly one is given. `?` marks what may be left out. */
const FIELDS: Readonly<Record<NotifierConfig['type'], readonly (string | readonly string[])[]>> = {
  log: [],
  terminal: [],
  webhook: ['url', ['secretEnv', 'secretFile']],
  slack: [['urlEnv', 'urlFile']],
  email: ['host', 'from', 'to', 'port?', 'security?', 'user?', 'passwordEnv?', 'passwordFile?'],
};

interface WithChannels {
  channels?: Record<string, { notify?: NotifierConfig[] | undefined }> | undefined;
}

/** What is missing, superfluous or unsafe in notifiers. */
export function notifierProblems({ channels = {} }: WithChannels): Problem[] {
  return Object.entries(channels).flatMap(([name, { notify = [] }]) =>
    notify.flatMap((notifier, index) => problemsOf(notifier, ['channels', name, 'notify', index])),
  );
}

function problemsOf(notifier: NotifierConfig, path: (string | number)[]): Problem[] {
  const { type } = notifier;
  const fields = FIELDS[type];
  const given = Object.keys(notifier).filter((field) => field !== 'type');
  const known = fields.flat().map((field) => field.replace('?', ''));
  const superfluous = given.find((field) => !known.includes(field));
  if (superfluous !== undefined)
    return [{ path: [...path, superfluous], message: `means nothing to a notifier of type ${type}` }];
  for (const field of fields) {
    const names = typeof field === 'string' ? [field] : field;
    const found = names.filter((one) => given.includes(one));
    if (found.length > 1) return [{ path: [...path, found[1] ?? ''], message: `give ${names.join(' or ')}, not both` }];
    if (found.length === 0 && !names[0]?.endsWith('?'))
      return [{ path, message: `a notifier of type ${type} needs ${names.join(' or ')}` }];
  }
  if (type === 'webhook') return addressProblems(notifier.url, [...path, 'url']);
  return type === 'email' ? passwordProblems(notifier, path) : [];
}

function addressProblems(address: string, path: (string | number)[]): Problem[] {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol))
    return [{ path, message: 'must be a whole http or https address' }];
  if (url.username !== '' || url.password !== '')
    return [{ path, message: 'must hold no user name and password: the file is no place for secrets' }];
  return [];
}

function passwordProblems({ user, passwordEnv, passwordFile }: EmailConfig, path: (string | number)[]): Problem[] {
  if (passwordEnv !== undefined && passwordFile !== undefined)
    return [{ path: [...path, 'passwordFile'], message: 'give passwordEnv or passwordFile, not both' }];
  const password = passwordEnv ?? passwordFile;
  if ((user === undefined) === (password === undefined)) return [];
  return [{ path, message: 'give user together with passwordEnv or passwordFile' }];
}
