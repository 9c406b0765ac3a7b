/** What a grant covers, and whose it is. */
import { describe, expect, it } from 'vitest';
import { type GrantableCall, exampleCall, matchGrant, neverCovered, verifyGrant } from '../../src/approval/grants.ts';
import { signGrant } from '../../src/approval/sign.ts';
import { grantPayload } from '../../src/approval/payload.ts';
import type { CallFacts, ResolvedSubject } from '../../src/policy/types.ts';
import type { JsonObject } from '../../src/protocol/json.ts';
import { type Grant, isGrant } from '../../src/protocol/grant.ts';
import { NOW, approver, request } from './support.ts';

const DAY = 86_400_000;
const PLACE = { namespace: 'ours', workspace: '/w' };
const grant = (over: Partial<Grant> = {}): Grant => ({
  id: 'g1',
  tool: 'write',
  arguments: { path: { glob: 'docs/**' }, content: { glob: '*' } },
  scope: { session: 'main' },
  place: PLACE,
  expiresAt: NOW + DAY,
  by: 'ada',
  at: NOW - 1_000,
  ...over,
});

const call = (
  tool: string,
  args: JsonObject,
  subjects: ResolvedSubject[],
  over: Partial<GrantableCall> = {},
): GrantableCall => {
  const toolFacts = { ...request().tool, name: tool };
  const facts: CallFacts = { tool: toolFacts, arguments: args, subjects };
  return {
    tool: toolFacts,
    tier: 'workspace',
    agent: 'default',
    place: PLACE,
    facts,
    session: 'main',
    ancestors: [],
    required: 1,
    ...over,
  };
};

const write = (
  path: string,
  canonical = `/w/${path}`,
  over: Partial<GrantableCall> = {},
  more: JsonObject = {},
): GrantableCall =>
  call(
    'write',
    { path, content: 'x', ...more },
    [
      {
        kind: 'path',
        argument: 'path',
        path,
        canonical,
        ...(canonical.startsWith('/w/') && { relative: canonical.slice(3) }),
        inside: canonical.startsWith('/w/'),
        access: 'write',
        absolute: false,
      },
    ],
    over,
  );

const BOUND = { executables: [], cwd: '/w', envHash: 'sha256:0', scripts: [], partly: false, unbound: [] };
const shell = (
  command: string,
  over: Partial<GrantableCall> = {},
  more: JsonObject = {},
  sandbox = false,
): GrantableCall =>
  call(
    'shell',
    { command, sandbox, ...more },
    [{ kind: 'command', argument: 'command', command, sandbox, cwd: '/w', cwdInside: true, env: {} }],
    {
      tier: 'elevated',
      bound: BOUND,
      ...over,
    },
  );
const shellGrant = (command: Grant['arguments'][string], more: Grant['arguments'] = {}): Grant =>
  grant({ tool: 'shell', arguments: { command, sandbox: { exact: false }, ...more } });

const covers = (one: Grant, asked: GrantableCall, now = NOW): boolean => matchGrant([one], asked, now) !== undefined;

describe('a grant covers', () => {
  const cases: [string, Grant, GrantableCall, boolean][] = [
    ['a path in its glob', grant(), write('docs/a/b.md'), true],
    ['no path beside it', grant(), write('src/a.ts'), false],
    ['no path that leads out of it', grant(), write('docs/../src/a.ts', '/w/src/a.ts'), false],
    ['no path out of the workspace', grant(), write('docs/link', '/etc/passwd'), false],
    [
      'no other tool',
      grant(),
      { ...write('docs/a'), facts: { ...write('docs/a').facts, tool: { ...request().tool, name: 'edit' } } },
      false,
    ],
    ['no argument that it does not name', grant(), write('docs/a', '/w/docs/a', {}, { mode: 'x' }), false],
    [
      'exactly what it says',
      grant({ arguments: { path: { exact: 'docs/a' }, content: { exact: 'x' } } }),
      write('docs/a'),
      true,
    ],
    [
      'nothing else than it says',
      grant({ arguments: { path: { exact: 'docs/a' }, content: { exact: 'y' } } }),
      write('docs/a'),
      false,
    ],
    [
      'no call without an argument that it names',
      grant({ arguments: { path: { glob: 'docs/**' }, content: { glob: '*' }, ifHash: { exact: 'h' } } }),
      write('docs/a'),
      false,
    ],
    [
      'calls without one that may be anything',
      grant({ arguments: { path: { glob: 'docs/**' }, content: { glob: '*' }, ifHash: { glob: '*' } } }),
      write('docs/a'),
      true,
    ],
    ['its session', grant(), write('docs/a', '/w/docs/a', { session: 'main' }), true],
    [
      'sessions below it',
      grant(),
      write('docs/a', '/w/docs/a', { session: 'leaf', ancestors: ['branch', 'main'] }),
      true,
    ],
    ['no other session', grant(), write('docs/a', '/w/docs/a', { session: 'other' }), false],
    ['its agent', grant({ scope: { agent: 'default' } }), write('docs/a', '/w/docs/a', { session: 'other' }), true],
    ['no other agent', grant({ scope: { agent: 'deploy' } }), write('docs/a'), false],
    ['nothing that needs two approvers', grant(), write('docs/a', '/w/docs/a', { required: 2 }), false],

    ['a command as it is', shellGrant({ exact: 'chmod 640 web' }), shell('chmod 640 web'), true],
    ['no other command', shellGrant({ exact: 'chmod 640 web' }), shell('chmod 640 db'), false],
    ['no command with more behind it', shellGrant({ exact: 'chmod 640 web' }), shell('chmod 640 web; id'), false],
    ['a command in its glob', shellGrant({ glob: 'chmod 640 *' }), shell('chmod 640 db'), true],
    [
      'every command of a line in its glob',
      shellGrant({ glob: 'chmod 640 *' }),
      shell('chmod 640 db && chmod 640 web'),
      true,
    ],
    ['no further words', shellGrant({ glob: 'cp a /srv/*' }), shell('cp a /srv/x /etc/cron.d'), false],
    ['no option in the place of a word', shellGrant({ glob: 'cp a * /srv' }), shell('cp a --parents /srv'), false],
    ['no option behind the words', shellGrant({ glob: 'cp a /srv/*' }), shell('cp a /srv/x -t /etc'), false],
    ['no words within a word', shellGrant({ glob: 'mkdir /srv/*' }), shell("mkdir '/srv/a b' /etc"), false],
    ['no way up', shellGrant({ glob: 'mkdir -p /srv/*' }), shell('mkdir -p /srv/../etc'), false],
    ['no way up at the end', shellGrant({ glob: 'rm -r /srv/*' }), shell('rm -r /srv/..'), false],
    ['no way up in an option', shellGrant({ glob: 'cp -t* a' }), shell('cp -t=../x a'), false],
    ['no way up behind an option', shellGrant({ glob: 'cp -t* a' }), shell('cp -t../x a'), false],
    ['the way up that its maker wrote', shellGrant({ glob: 'mkdir ../srv/*' }), shell('mkdir ../srv/a'), true],
    [
      'an option that its maker began',
      shellGrant({ glob: 'truncate --size=* log' }),
      shell('truncate --size=1 log'),
      true,
    ],
    ['a word of several in quotes', shellGrant({ glob: 'mkdir /srv/*' }), shell("mkdir '/srv/a b'"), true],
    ['no line with another command', shellGrant({ glob: 'chmod 640 *' }), shell('chmod 640 db; chmod 777 db'), false],
    ['no line that redirects', shellGrant({ glob: 'chmod 640 *' }), shell('chmod 640 db > /etc/passwd'), false],
    ['no line that expands', shellGrant({ glob: 'chmod 640 *' }), shell('chmod 640 $(id)'), false],
    ['no glob for the program', shellGrant({ glob: '*' }), shell('chmod 640 db'), false],
    ['no glob in the program', shellGrant({ glob: 'ch* 640 db' }), shell('chmod 640 db'), false],
    ['no interpreter, be it exact', shellGrant({ exact: 'python3 x.py' }), shell('python3 x.py'), false],
    [
      'no interpreter by its path',
      shellGrant({ exact: '/usr/bin/python3 x.py' }),
      shell('/usr/bin/python3 x.py'),
      false,
    ],
    ['no wrapper, be it exact', shellGrant({ exact: 'sudo chmod 640 web' }), shell('sudo chmod 640 web'), false],
    ['no wrapper in a glob', shellGrant({ glob: 'env *' }), shell('env chmod 640 web'), false],
    [
      'no elevated command that is partly bound',
      shellGrant({ exact: 'terraformer x' }),
      shell('terraformer x', { bound: { ...BOUND, partly: true } }),
      false,
    ],
    [
      'no elevated script',
      shellGrant({ exact: './deploy.sh' }),
      shell('./deploy.sh', { bound: { ...BOUND, scripts: [{ path: '/w/deploy.sh', sha256: '0' }] } }),
      false,
    ],
    [
      'no elevated command of which nothing is known',
      shellGrant({ exact: 'chmod 640 web' }),
      shell('chmod 640 web', { bound: undefined }),
      false,
    ],
    [
      'no environment that it does not name',
      shellGrant({ exact: 'chmod 640 web' }),
      shell('chmod 640 web', {}, { env: { A: '1' } }),
      false,
    ],
    [
      'no other sandbox setting',
      shellGrant({ exact: 'chmod 640 web' }),
      shell('chmod 640 web', { tier: 'system' }, {}, true),
      false,
    ],
  ];
  it.each(cases)('%s', (_, one, asked, expected) => expect(covers(one, asked)).toBe(expected));

  it('no long text by a pattern, which would take its time', () => {
    const long = write('docs/a');
    long.facts.arguments = { path: 'docs/a', content: 'a'.repeat(20_000) };
    expect(covers(grant({ arguments: { path: { glob: 'docs/**' }, content: { glob: '*a*a*a' } } }), long)).toBe(false);
    expect(covers(grant(), long)).toBe(true);
  });

  it('nothing once it has expired', () => {
    expect(covers(grant(), write('docs/a'), NOW + DAY - 1)).toBe(true);
    expect(covers(grant(), write('docs/a'), NOW + DAY)).toBe(false);
  });
});

describe('a call that a grant covers, for an example', () => {
  it('is the one that it spells out', () => {
    const one = grant({ arguments: { path: { exact: 'a*' }, recursive: { exact: true } } });
    expect(exampleCall(one)).toEqual({ arguments: { path: 'a*', recursive: true }, exact: true });
  });
  it('has something in the place of each star', () => {
    const one = grant({ arguments: { path: { glob: 'docs/**/a?.*' }, content: { glob: '*' } } });
    const example = exampleCall(one);
    expect(example).toEqual({ arguments: { path: 'docs/x/ax.x', content: 'x' }, exact: false });
    expect(covers(one, write('docs/x/ax.x'))).toBe(true);
  });
  it.each(['docs/{a,b}', 'docs/[ab]', 'docs/\\*'])('is none where a glob is %s', (glob) =>
    expect(exampleCall(grant({ arguments: { path: { glob } } }))).toBeUndefined(),
  );
});

describe('a call that no grant covers, whatever else its words are', () => {
  const MORE = (program: string) => `outside of the sandbox ${program} may run more than its words say`;
  it.each([
    ['tar x', MORE('tar')],
    ['/usr/bin/tar x', MORE('/usr/bin/tar')],
    ['./deploy.sh x', MORE('./deploy.sh')],
    ['chmod 640 x && pytest x', MORE('pytest')],
    ['chmod 640 x', undefined],
    ['chmod --unheard-of x', undefined],
    ['sleep x', undefined],
    ['test -f x', undefined],
  ])('outside of the sandbox: %s', (command, reason) => {
    expect(neverCovered(shell(command))).toBe(reason);
    expect(neverCovered(shell(command, { tier: 'system' }, {}, true))).toBeUndefined();
  });
  it('is one that several have to approve', () =>
    expect(neverCovered(write('docs/a', '/w/docs/a', { required: 2 }))).toMatch(/need 2 approvers/));
});

describe('the form of a grant', () => {
  const bad: [string, object][] = [
    ['without an expiry', { expiresAt: undefined }],
    ['that expires before it is made', { expiresAt: NOW - 2_000 }],
    ['of more than 30 days', { expiresAt: NOW + 31 * DAY }],
    ['with an expiry that is no number', { expiresAt: Number.POSITIVE_INFINITY }],
    ['without a scope', { scope: {} }],
    ['with two scopes', { scope: { session: 'a', agent: 'b' } }],
    ['with a pattern of two kinds', { arguments: { a: { exact: 1, glob: '*' } } }],
    ['with a pattern of none', { arguments: { a: {} } }],
    ['with another name in it', { also: 1 }],
    ['without a place', { place: undefined }],
    ['with half a place', { place: { namespace: 'ours' } }],
    ['without a maker', { by: '' }],
    ['with a pattern without an end', { arguments: { a: { glob: 'a'.repeat(1_001) } } }],
    ['with braces that stand for too much', { arguments: { a: { glob: '{a,b}'.repeat(7) } } }],
    ['with braces around one, over and over', { arguments: { a: { glob: '{x}'.repeat(7) } } }],
    ['with braces in braces that do', { arguments: { a: { glob: `{${'{a,b},'.repeat(7)}c}` } } }],
    ['that is too large', { arguments: { a: { exact: 'x'.repeat(5_000) } } }],
    [
      'with too many arguments',
      { arguments: Object.fromEntries(Array.from({ length: 31 }, (_, i) => [`a${i}`, { glob: '*' }])) },
    ],
  ];
  it.each(bad)('%s is none', (_, over) => expect(isGrant({ ...grant(), ...over })).toBe(false));
  it('with all of it is one', () => expect(isGrant(grant())).toBe(true));
});

describe('whose a grant is', () => {
  const ada = approver('ada');
  const required = { signatures: 'required' as const, approvers: [ada.listed] };
  const asked = { tool: request().tool, tier: 'elevated' as const, agent: 'default', place: PLACE };

  it('is said by its signature, over these bytes', async () => {
    expect(grantPayload(grant()).toString()).toBe(
      '{"arguments":{"content":{"glob":"*"},"path":{"glob":"docs/**"}},"at":1699999999000,"by":"ada","expiresAt":1700086400000,"id":"g1","kind":"grant","place":{"namespace":"ours","workspace":"/w"},"scope":{"session":"main"},"tool":"write","v":2}',
    );
    expect(verifyGrant(await signGrant(grant(), ada.signer), asked, required, NOW)).toEqual({
      ok: true,
      verified: true,
    });
  });

  const changes: [string, Partial<Grant>][] = [
    ['another id', { id: 'g2' }],
    ['another tool', { tool: 'shell' }],
    ['another pattern', { arguments: { path: { glob: '**' }, content: { glob: '*' } } }],
    ['another place', { place: { ...PLACE, namespace: 'theirs' } }],
    ['another scope', { scope: { agent: 'default' } }],
    ['a later expiry', { expiresAt: NOW + 2 * DAY }],
    ['another maker', { by: 'bob' }],
  ];
  it.each(changes)('with %s it is nobody’s', async (_, change) => {
    const forged = { ...(await signGrant(grant(), ada.signer)), ...change };
    expect(verifyGrant(forged, asked, required, NOW).ok).toBe(false);
    expect(verifyGrant(forged, asked, { ...required, signatures: 'optional' }, NOW).ok).toBe(false);
  });

  const elsewhere: [string, object][] = [
    ['another namespace', { ...PLACE, namespace: 'theirs' }],
    ['another workspace', { ...PLACE, workspace: '/w/sub' }],
  ];
  it.each(elsewhere)('it is none in %s, signed or not', async (_, place) => {
    const signed = await signGrant(grant(), ada.signer);
    const optional = { ...required, signatures: 'optional' as const };
    expect(verifyGrant(signed, { ...asked, place }, required, NOW).ok).toBe(false);
    expect(verifyGrant(grant(), { ...asked, place }, optional, NOW).ok).toBe(false);
    expect(verifyGrant(grant(), asked, optional, NOW).ok).toBe(true);
  });

  it('unsigned, it counts where signatures are optional, unverified', () => {
    expect(verifyGrant(grant(), asked, required, NOW).ok).toBe(false);
    expect(verifyGrant(grant(), asked, { signatures: 'optional', approvers: [] }, NOW)).toEqual({
      ok: true,
      verified: false,
    });
    expect(verifyGrant(grant({ by: 'bob' }), asked, { ...required, signatures: 'optional' }, NOW).ok).toBe(false);
  });

  it('of one who was removed, has ended, or may not decide so, it does not count', async () => {
    const signed = await signGrant(grant(), ada.signer);
    expect(verifyGrant(signed, asked, { ...required, approvers: [] }, NOW).ok).toBe(false);
    expect(
      verifyGrant(signed, asked, { ...required, approvers: [{ ...ada.listed, until: '2020-01-01' }] }, NOW).ok,
    ).toBe(false);
    expect(verifyGrant(signed, asked, { ...required, approvers: [{ ...ada.listed, may: ['system'] }] }, NOW).ok).toBe(
      false,
    );
  });

  it('a signature on a decision is none on a grant', async () => {
    const { signDecision } = await import('../../src/approval/sign.ts');
    const { decision } = await import('./support.ts');
    const { signature } = await signDecision(decision(), ada.signer, NOW);
    expect(verifyGrant({ ...grant(), ...(signature !== undefined && { signature }) }, asked, required, NOW).ok).toBe(
      false,
    );
  });
});
