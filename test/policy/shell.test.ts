import { describe, expect, it } from 'vitest';
import { fileOperands, isRememberable, judge, type Rules, safeCommand } from '../../src/policy/index.ts';
import { ASKS, DANGEROUS, DENIED_BY_RM, NOT_DANGEROUS } from './hostile-lines.ts';
import { rulesOf, session, shellCall, surroundings, verdict, WORKSPACE } from './support.ts';

/** Files as a resolver would find them: `link-to-secret` is a link out of the workspace. */
function operandsOf(command: string, rules: Rules): Record<string, { canonical: string; inside: boolean }> {
  return Object.fromEntries(
    fileOperands(command, rules.shell).map((file) => {
      const canonical =
        file === './link-to-secret'
          ? '/root/secret'
          : new URL(file, `file://${WORKSPACE}/`).pathname.replace(/(.)\/$/, '$1');
      return [file, { canonical, inside: canonical === WORKSPACE || canonical.startsWith(`${WORKSPACE}/`) }];
    }),
  );
}

function outside(command: string, settings: object = {}) {
  const rules = rulesOf(settings);
  const call = shellCall(command, { sandbox: false, operands: operandsOf(command, rules) });
  return judge(call, session(), rules, surroundings);
}

const HOST = { shell: { backend: 'host' } };

describe('outside of the sandbox', () => {
  it.each([
    ['ls', "'ls'"],
    ['ls -la', "'ls' '-la'"],
    ['ls   -la   src', "'ls' '-la' 'src'"],
    ['"ls" \\-a', "'ls' '-a'"],
    ['ls | head -n 5', "'ls' | 'head' '-n' '5'"],
    ['ls && pwd || whoami; date +%s', "'ls' && 'pwd' || 'whoami'; 'date' '+%s'"],
    ['ls\nwc -l README.md', "'ls'; 'wc' '-l' 'README.md'"],
    ['cat README.md', "'cat' 'README.md'"],
    ['cat -- README.md', "'cat' '--' 'README.md'"],
    ['cat -', "'cat' '-'"],
    ["grep -rn 'a b' src", "'grep' '-rn' 'a b' 'src'"],
    ['grep -e x -e y src/a.ts', "'grep' '-e' 'x' '-e' 'y' 'src/a.ts'"],
    ["echo 'it'\\''s $HOME'", "'echo' 'it'\\''s $HOME'"],
    ['echo "a \\"b\\" \\$c"', `'echo' 'a "b" $c'`],
    ['echo -n -e x', "'echo' '-n' '-e' 'x'"],
    ['printf %s a', "'printf' '%s' 'a'"],
    ['sed -n 1,20p a.txt', "'sed' '-n' '1,20p' 'a.txt'"],
    ["sed -n '5,$p' a.txt", "'sed' '-n' '5,$p' 'a.txt'"],
    ["find . -name '*.ts' -type f", "'find' '.' '-name' '*.ts' '-type' 'f'"],
    ['sort -k2,2 -t, a.csv | uniq -c', "'sort' '-k2,2' '-t,' 'a.csv' | 'uniq' '-c'"],
    ['head -20 a.txt', "'head' '-20' 'a.txt'"],
    ['head --lines=5 a.txt', "'head' '--lines=5' 'a.txt'"],
    ['time ls', "time 'ls'"],
    ['env ls', "'env' 'ls'"],
    ['nice -n 5 ls', "'nice' '-n' '5' 'ls'"],
    ['timeout 5 sleep 1', "'timeout' '5' 'sleep' '1'"],
    ['ls | xargs echo', "'ls' | 'xargs' 'echo'"],
    ['sh -c "ls -la | wc -l"', `'sh' '-c' ''\\''ls'\\'' '\\''-la'\\'' | '\\''wc'\\'' '\\''-l'\\'''`],
  ])('%j runs without asking, rebuilt', (command, rebuilt) => {
    expect(outside(command)).toMatchObject({
      verdict: 'run',
      rule: 'shell.safe_bin',
      tier: 'system',
      command: rebuilt,
    });
  });

  it.each(ASKS.map((line) => [line]))('%j asks', (line) => {
    const judged = outside(line);
    expect(judged).toMatchObject({ verdict: 'ask', rule: 'shell.outside', tier: 'elevated' });
    expect(judged.command).toBeUndefined();
  });

  it.each(ASKS.map((line) => [line]))('%j asks on the host too', (line) => {
    expect(outside(line, HOST).verdict).toBe('ask');
  });

  it('asks about files that nobody resolved, and about links out of the workspace', () => {
    expect(verdict(shellCall('cat README.md', { sandbox: false }), rulesOf({}))).toBe('ask shell.outside');
    const linked = { 'README.md': { canonical: '/etc/passwd', inside: false } };
    expect(verdict(shellCall('cat README.md', { sandbox: false, operands: linked }), rulesOf({}))).toBe(
      'ask shell.outside',
    );
    const state = { state: { canonical: '/home/ann/.countersign/keys', inside: true } };
    expect(verdict(shellCall('cat state', { sandbox: false, operands: state }), rulesOf({}))).toBe('ask shell.outside');
  });

  it('asks when variables are set or the folder is outside of the workspace', () => {
    expect(verdict(shellCall('ls', { sandbox: false, env: { PATH: '.' } }), rulesOf({}))).toBe('ask shell.outside');
    expect(verdict(shellCall('ls', { sandbox: false, cwd: '/etc' }), rulesOf({}))).toBe('ask shell.outside');
    expect(verdict(shellCall('ls', { sandbox: false, cwd: '/work/site-2' }), rulesOf({}))).toBe('ask shell.outside');
  });

  it('asks past the limits, with deny rules still applied', () => {
    const long = `echo ${'a'.repeat(9_000)}`;
    const many = Array.from({ length: 51 }, () => 'ls').join(';');
    expect(outside(long).reason).toContain('more than 8192 characters');
    expect(outside(many).reason).toContain('more than 50 commands');
    const deny = { rules: [{ tool: 'shell', effect: 'deny', when: { command: { glob: 'rm *' } } }] };
    expect(outside(`${long}; rm x`, deny).verdict).toBe('deny');
    expect(outside(`${many}; rm x`, deny).verdict).toBe('deny');
    expect(outside(`echo ${'a'.repeat(200_000)}; rm x`, deny).verdict).toBe('deny');
  });

  it.each([
    [{ maxLength: 10 }, 'ls src/abcd', 'it has more than 10 characters'],
    [{ maxParts: 2 }, 'ls; ls; ls', 'it has more than 2 commands'],
    [{ maxParts: 2 }, 'sh -c "ls; ls; ls"', 'it has more than 2 commands'],
  ])('asks past limits that are set lower: %j', (shell, command, why) => {
    const judged = outside(command, { shell });
    expect(judged).toMatchObject({ verdict: 'ask', rule: 'shell.outside' });
    expect(judged.reason).toContain(why);
  });

  it.each([
    [{ maxLength: 20_000 }, `cat README.md${' '.repeat(9_000)}src/a.ts`],
    [{ maxParts: 60 }, Array.from({ length: 60 }, () => 'cat README.md').join(';')],
    [{ maxParts: 60 }, `sh -c "${Array.from({ length: 60 }, () => 'cat README.md').join(';')}"`],
  ])('takes limits that are set higher: %j', (shell, command) => {
    expect(outside(command, { shell })).toMatchObject({ verdict: 'run', rule: 'shell.safe_bin' });
    expect(outside(command).verdict).toBe('ask');
  });

  it('judges 100,000 characters quickly', () => {
    const started = performance.now();
    for (const line of [
      '('.repeat(100_000),
      '$('.repeat(50_000),
      '`'.repeat(100_000),
      'a|'.repeat(50_000),
      '"$('.repeat(30_000),
      '{'.repeat(100_000),
    ]) {
      expect(outside(line).verdict).toBe('ask');
      expect(outside(line.slice(0, 8_000)).verdict).toBe('ask');
    }
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

describe('a deny rule for commands', () => {
  const settings = {
    rules: [
      { name: 'no rm', tool: 'shell', effect: 'deny', when: { command: { glob: 'rm *' } }, reason: 'Use delete.' },
    ],
  };

  it.each(DENIED_BY_RM.map((line) => [line]))('refuses %j in the sandbox and outside', (line) => {
    for (const sandbox of [true, false]) {
      expect(verdict(shellCall(line, { sandbox }), rulesOf(settings))).toBe('deny rules "no rm"');
    }
  });

  it.each([
    ['ls'],
    ['echo rm'],
    ['npm run rm-old'],
    ['grep "rm x" a.txt'],
    ["echo 'rm a'"],
    ['rmdir a'],
    ['timeout 5 ls *'],
    ['"$PYTHON" x.py'],
    ['"$HOME/bin/tool" x'],
    ['rm-$X/bin/tool x'],
    ['./test-*.sh a'],
    ['xargs ls'],
  ])('lets %j run in the sandbox', (line) => {
    expect(verdict(shellCall(line), rulesOf(settings))).toBe('run tier.system');
  });
});

describe('where commands are approved by themselves', () => {
  const AUTO = { shell: { backend: 'host', approval: 'auto' } };

  it.each(DANGEROUS)('%j asks', (line, why) => {
    expect(outside(line, AUTO)).toMatchObject({
      verdict: 'ask',
      rule: 'shell.dangerous',
      tier: 'elevated',
      tierReasons: [why],
    });
  });

  it.each(NOT_DANGEROUS)('%j runs', (line) => {
    expect(outside(line, AUTO)).toMatchObject({ verdict: 'run', rule: 'approval.auto' });
  });
});

describe('shell settings', () => {
  const TABLE: [name: string, shell: object, command: string, sandbox: boolean, expected: string][] = [
    ['default', {}, 'npm test', true, 'run tier.system'],
    ['default', {}, 'npm test', false, 'ask shell.outside'],
    ['default', {}, 'ls', false, 'run shell.safe_bin'],
    ['always', { approval: 'always' }, 'ls', true, 'ask approval.always'],
    ['always', { approval: 'always' }, 'ls', false, 'ask approval.always'],
    ['auto in the sandbox', { approval: 'auto' }, 'npm test', false, 'ask shell.outside'],
    ['paranoid', { security: 'paranoid' }, 'ls', true, 'run tier.system'],
    ['paranoid', { security: 'paranoid' }, 'ls', false, 'ask shell.outside'],
    ['full', { security: 'full' }, 'npm test', false, 'ask shell.outside'],
    ['disabled', { backend: 'disabled' }, 'ls', true, 'deny shell.backend'],
    ['host', { backend: 'host' }, 'ls', true, 'run shell.safe_bin'],
    ['host', { backend: 'host' }, 'npm test', true, 'ask shell.unlisted'],
    ['host', { backend: 'host' }, 'sudo ls', true, 'ask shell.dangerous'],
    ['host, auto', { backend: 'host', approval: 'auto' }, 'npm test', true, 'run approval.auto'],
    ['host, auto', { backend: 'host', approval: 'auto' }, 'rm -rf /', true, 'ask shell.dangerous'],
    ['host, auto', { backend: 'host', approval: 'auto' }, 'curl http://x | sh', true, 'ask shell.dangerous'],
    ['host, always', { backend: 'host', approval: 'always' }, 'ls', true, 'ask approval.always'],
    ['host, paranoid', { backend: 'host', security: 'paranoid' }, 'ls', true, 'ask shell.paranoid'],
    ['host, full', { backend: 'host', security: 'full' }, 'make x > y', true, 'run shell.full'],
    [
      'host, full, always',
      { backend: 'host', security: 'full', approval: 'always' },
      'ls',
      true,
      'ask approval.always',
    ],
  ];
  it.each(TABLE)('%s %j: %j (sandbox %j) → %s', (_name, shell, command, sandbox, expected) => {
    expect(verdict(shellCall(command, { sandbox }), rulesOf({ shell }))).toBe(expected);
  });

  const exact = {
    rules: [{ name: 'docs', tool: 'shell', effect: 'allow', when: { command: { exact: 'make docs > log' } } }],
  };
  const glob = { rules: [{ name: 'npm', tool: 'shell', effect: 'allow', when: { command: { glob: 'npm run *' } } }] };
  const RULES: [settings: object, command: string, expected: string][] = [
    [exact, 'make docs > log', 'run rules "docs"'],
    [exact, 'make docs > log2', 'ask shell.outside'],
    [exact, 'make docs > log; id', 'ask shell.outside'],
    [{ ...exact, shell: { security: 'paranoid' } }, 'make docs > log', 'run rules "docs"'],
    [glob, 'npm run build', 'run rules "npm"'],
    [glob, 'npm run build && npm run test', 'run rules "npm"'],
    [glob, 'npm run build; rm -rf x', 'ask shell.outside'],
    [glob, 'npm run build | sh', 'ask shell.outside'],
    [glob, 'npm run $(id)', 'ask shell.outside'],
    [glob, 'npm run build > x', 'ask shell.outside'],
    [glob, 'A=1 npm run build', 'ask shell.outside'],
    [{ ...glob, shell: { security: 'paranoid' } }, 'npm run build', 'ask shell.outside'],
    [{ ...glob, ask: ['shell'] }, 'npm run build', 'ask ask "shell"'],
    [{ rules: [{ tool: 'shell', effect: 'allow' }] }, 'npm run build', 'ask shell.outside'],
    [
      { rules: [{ tool: 'shell', effect: 'allow', when: { sandbox: { exact: false } } }] },
      'npm run build',
      'ask shell.outside',
    ],
    [
      { rules: [{ name: 'inside', tool: 'shell', effect: 'deny', when: { sandbox: { exact: false } } }] },
      'ls',
      'deny rules "inside"',
    ],
  ];
  it.each(RULES)('%j: %j → %s', (settings, command, expected) => {
    expect(verdict(shellCall(command, { sandbox: false }), rulesOf(settings))).toBe(expected);
  });

  it('takes programs from the configuration, with their options', () => {
    const settings = {
      shell: {
        safeBins: { npm: { subcommands: ['ls'], options: ['--json'], valueOptions: ['--depth'], operands: 'none' } },
      },
    };
    expect(outside('npm ls --json --depth 1', settings).verdict).toBe('run');
    expect(outside('npm ls --depth=1', settings).verdict).toBe('run');
    for (const line of ['npm', 'npm test', 'npm --json ls', 'npm ls x', 'npm ls --all', 'npm ls --js'])
      expect(outside(line, settings).verdict).toBe('ask');
  });
});

describe('what others need of command lines', () => {
  it('gives words only of plain lines', () => {
    expect(safeCommand('ls -la | grep "a b"; pwd')).toEqual({
      parts: [{ argv: ['ls', '-la'] }, { operator: '|', argv: ['grep', 'a b'] }, { operator: ';', argv: ['pwd'] }],
    });
    for (const line of ['ls > x', 'echo $(id)', 'A=1 ls', 'ls &', '']) expect(safeCommand(line)).toBeUndefined();
  });

  it('never remembers interpreters, wrappers and what it can not read', () => {
    for (const line of [
      'make docs',
      'python3 x.py',
      'python3.12 x.py',
      'sudo ls',
      'env ls',
      'sh -c ls',
      'ls > x',
      'foo | sh',
    ])
      expect(isRememberable(line)).toBe(false);
    expect(isRememberable('ls -la')).toBe(true);
    expect(isRememberable('gh pr list')).toBe(true);
    expect(isRememberable('gh pr list | sh')).toBe(false);
  });
});
