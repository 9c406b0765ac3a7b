/**
 * The configuration file, as a schema. countersign.config.schema.json is made from it by src/config/publish.ts, so
 * editors complete the file; nothing that it doesn't name is accepted.
 */
import Type, { type TSchema } from 'typebox';
import { LIMITS } from '../protocol/limits.ts';
import { notifierSchema } from './notifiers.ts';
import { PROFILE_NAMES, SHELL_APPROVALS, SHELL_BACKENDS, SHELL_SECURITIES } from '../policy/settings.ts';

const closed = { additionalProperties: false } as const;
const { Optional } = Type;
const text = (description: string) => Type.String({ minLength: 1, maxLength: 1_000, description });
const names = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { description, maxItems: 1_000 });
const whole = (description: string, minimum: number, maximum: number) =>
  Type.Integer({ description, minimum, maximum });
const duration = (description: string) =>
  Type.String({
    description: `${description}, as a number with ms, s, m, h or d: "30m"`,
    pattern: '^[0-9]{1,9}(ms|s|m|h|d)$',
  });

/** A part that stands once in the published file, however often it is used. */
const part = <Schema extends TSchema>(name: 'rule' | 'section', _schema: Schema, description?: string) =>
  Type.Unsafe<Type.Static<Schema>>({ $ref: `#/$defs/${name}`, ...(description !== undefined && { description }) });

const pattern = Type.Union(
  [
    Type.Object({ exact: Type.Unknown({ description: 'The argument is exactly this.' }) }, closed),
    Type.Object(
      { glob: text('`*` any text, `?` one character; on paths `*` stays within a segment and `**` spans them.') },
      closed,
    ),
    Type.Object({ host: text('The host of a URL: `example.com`, or `*.example.com` for those below it.') }, closed),
    Type.Object(
      {
        under: text('A folder, by whole segments; from the workspace, or absolute. Compared with the canonical path.'),
      },
      closed,
    ),
  ],
  { description: 'One of exact, glob, host, under.' },
);

const rule = Type.Object(
  {
    name: Optional(text('Shown in traces.')),
    tool: text('A tool, a group, or either with `*`.'),
    when: Optional(Type.Record(Type.String(), pattern, { description: 'Argument → pattern; all must match.' })),
    effect: Type.Enum(['allow', 'ask', 'deny'], { description: 'The strictest of the rules that match counts.' }),
    reason: Optional(text('Shown to the model and to people.')),
  },
  { ...closed, description: 'What calls with certain arguments may do.' },
);

const sectionFields = {
  profile: Optional(Type.Enum([...PROFILE_NAMES], { description: 'The set of tools to start from.' })),
  allow: Optional(names('Only these tools; deny wins over it.')),
  alsoAllow: Optional(names('Adds tools to the profile of this same section.')),
  ask: Optional(names('Tools whose every call needs an approval.')),
  deny: Optional(names('Tools that nobody may call; wins over everything.')),
  rules: Optional(Type.Array(part('rule', rule), { maxItems: 2_000, description: 'Rules by arguments.' })),
};
const sectionSchema = Type.Object(sectionFields, closed);
const section = (description: string) => part('section', sectionSchema, description);
const sections = (description: string) => Type.Record(Type.String(), section(description), { description });

const safeBin = Type.Object(
  {
    options: Optional(names('Options without a value, each in full.')),
    valueOptions: Optional(names('Options that take a value.')),
    subcommands: Optional(names('First words that may follow.')),
    operands: Optional(Type.Enum(['none', 'text', 'files'], { description: '`files` must lie in the workspace.' })),
  },
  { ...closed, description: 'What of a program runs outside of the sandbox without asking.' },
);

const shell = Type.Object(
  {
    backend: Optional(Type.Enum([...SHELL_BACKENDS], { description: 'Where commands run. Default: sandbox.' })),
    security: Optional(
      Type.Enum([...SHELL_SECURITIES], {
        description: 'What runs outside of the sandbox without asking. Default: safe-bin.',
      }),
    ),
    approval: Optional(Type.Enum([...SHELL_APPROVALS], { description: 'Who answers what would ask. Default: smart.' })),
    safeBins: Optional(
      Type.Record(Type.String({ pattern: '^[A-Za-z0-9._+-]{1,64}$' }), safeBin, {
        description: 'Programs besides the built-in ones.',
      }),
    ),
    maxLength: Optional(whole('Characters of a command line that are judged.', 1, LIMITS.commandCharacters)),
    maxParts: Optional(whole('Simple commands in one line.', 1, 1_000)),
    env: Optional(names('Environment variables that commands are given, by name.')),
    sandbox: Optional(
      Type.Object(
        { readOnly: Optional(names('Folders that sandboxed commands may read besides the system.')) },
        closed,
      ),
    ),
  },
  { ...closed, description: 'Shell calls.' },
);

const approver = Type.Object(
  {
    name: text('Who it is; recorded with each decision.'),
    publicKey: Optional(text('Ed25519 public key, `ed25519:…`, as countersign approver init prints it.')),
    roles: Optional(names('Roles, by which requests name who may decide; `emergency` may override a quorum.')),
    may: Optional(
      names(
        'Tiers (each with those below), tools, groups and `agent:NAME` that this person may decide on; of each sort that is given one must fit. `control:resume`: to end a halt. All where absent.',
      ),
    ),
    until: Optional(
      Type.String({
        description: 'Last day (UTC) or moment on which this person may decide: "2027-01-31", "2027-01-31T12:00Z".',
        pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2})?Z)?$',
      }),
    ),
  },
  closed,
);

const ladderStep = Type.Union(
  [
    Type.Object({ after: duration('Time since the request'), remind: Type.Literal(true) }, closed),
    Type.Object(
      { after: duration('Time since the request'), reassign: Type.String({ minLength: 1, maxLength: 64 }) },
      closed,
    ),
  ],
  {
    description:
      'Tells the people of the channel again: that it still waits, or that a role is asked now, and who of it may decide.',
  },
);

const approvals = Type.Object(
  {
    timeout: Optional(duration('How long a request waits')),
    timeoutMs: Optional(whole('How long a request waits, in milliseconds; instead of timeout.', 1, 30 * 86_400_000)),
    signatures: Optional(
      Type.Enum(['optional', 'required'], { description: 'Whether decisions must be signed. Default: optional.' }),
    ),
    approvers: Optional(
      Type.Array(approver, {
        maxItems: 1_000,
        description: 'Who may decide; anybody where absent and signatures are optional.',
      }),
    ),
    onTimeout: Optional(
      Type.Enum(['deny', 'wait'], {
        description:
          'What becomes of a request that nobody decides in time: it expires, or waits on, 30 days at most. Default: deny.',
      }),
    ),
    ladder: Optional(
      Type.Array(ladderStep, { maxItems: 10, description: 'What is done while nobody decides, in order of time.' }),
    ),
    required: Optional(whole('Approvers that have to agree. Default: 1.', 1, 10)),
    requiredFor: Optional(
      Type.Record(Type.String(), whole('Approvers that have to agree.', 1, 10), {
        description: 'The same by tier (also for the tiers above it), tool or group; the greatest that fits counts.',
      }),
    ),
  },
  { ...closed, description: 'Requests for approval.' },
);

const limits = Type.Object(
  {
    parameters: Optional(whole('Parameters of a tool. Default: 20.', 1, 200)),
    schemaDepth: Optional(whole('Nesting of a tool schema. Default: 5.', 1, 16)),
    arrayItems: Optional(whole('Elements of a list in arguments. Default: 1,000.', 1, 100_000)),
    stringBytes: Optional(whole('Bytes of a text in arguments. Default: 100 KB.', 1, 1_048_576)),
    fileBytes: Optional(whole('Bytes of a file. Default: 100 MB.', 1, 2_147_483_648)),
    argumentDepth: Optional(whole('Nesting of arguments. Default and most: 16.', 1, 16)),
    running: Optional(whole('Calls of one agent that run in one worker process. Default: 10.', 1, 1_000)),
    queued: Optional(whole('Calls of one agent that wait for that. Default: 100.', 0, 10_000)),
    pendingRequests: Optional(whole('Requests that one main session holds. Default: 1,000.', 1, 1_000)),
    sessionDepth: Optional(whole('Generations of children. Default: 3.', 0, 10)),
    sessionChildren: Optional(whole('Children of one session. Default: 100.', 0, 1_000)),
    correctionMs: Optional(whole('How long a call waits for a correction. Default: 10 minutes.', 1, 86_400_000)),
  },
  { ...closed, description: 'Limits; each is a clear error when reached.' },
);

const agent = Type.Object(
  {
    description: Optional(text('For people.')),
    ...sectionFields,
    providers: Optional(sections('What this agent may do with a provider’s models.')),
    subAgents: Optional(section('What the sessions below this agent’s main sessions may do.')),
    limits: Optional(Type.Pick(limits, ['running', 'queued'], closed)),
  },
  { ...closed, description: 'A declared agent. `default` is always there.' },
);

const channel = Type.Object(
  {
    description: Optional(text('For people.')),
    ...sectionFields,
    notify: Optional(
      Type.Array(notifierSchema, {
        maxItems: 20,
        description: 'How people are told of requests; every one of them is. Default: a line in the log.',
      }),
    ),
  },
  { ...closed, description: 'A declared channel. `inbox` is always there.' },
);

const parts = { rule, section: sectionSchema } as const;

export const configSchema = Type.Object(
  {
    $schema: Optional(Type.String({ description: 'For editors.' })),
    ...sectionFields,
    workspaces: Optional(
      names('Folders under which sessions may be opened, besides the one where the service was started.'),
    ),
    groups: Optional(
      Type.Record(
        Type.String({ pattern: '^group:[a-z][a-z0-9_.-]{0,63}$' }),
        names('Tools, groups, or either with `*`.'),
        { description: 'Named sets of tools, `group:NAME`.' },
      ),
    ),
    providers: Optional(sections('What every agent may do with a provider’s models.')),
    agents: Optional(
      Type.Record(Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }), agent, { description: 'Agents by name.' }),
    ),
    channels: Optional(
      Type.Record(Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }), channel, { description: 'Channels by name.' }),
    ),
    conversations: Optional(sections('What may be done in a conversation.')),
    sandbox: Optional(section('What may be done while the shell’s backend is the sandbox.')),
    subAgents: Optional(section('What sessions below a main session may do.')),
    owners: Optional(names('Sender ids of the owners.')),
    ownerOnly: Optional(names('Tools that only sessions of an owner may use.')),
    knownHosts: Optional(names('Hosts that calls may reach without asking; every host where absent.')),
    protect: Optional(
      names('Paths in the workspace, as globs, whose change needs an approval, besides the built-in ones.'),
    ),
    shell: Optional(shell),
    approvals: Optional(approvals),
    limits: Optional(limits),
  },
  { ...closed, $defs: parts, $id: 'https://countersign.dev/schema/config.json', title: 'Countersign configuration' },
);

/** The file as people write it. */
export type ConfigFile = Type.Static<typeof configSchema>;
