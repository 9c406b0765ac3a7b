import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseCases, parseConfig } from '../../src/config/index.ts';
import { contradictions, judge, LAYERS, type PolicyCase, runPolicyCases } from '../../src/policy/index.ts';
import { PROGRAMS } from '../../src/policy/shell/programs.ts';
import { fileCall, session, shellCall, surroundings } from './support.ts';

const docs = readFileSync(new URL('../../docs/policy.md', import.meta.url), 'utf8');
const example = (name: string): string =>
  new RegExp(`<!-- example: ${name} -->\n\`\`\`jsonc\n([^]*?)\`\`\``).exec(docs)?.[1] ?? '';

describe('docs/policy.md', () => {
  it('has a worked example whose cases hold', async () => {
    const { config, rules } = parseConfig(example('config'), 'docs/policy.md');
    expect(contradictions(config)).toEqual([]);
    const results = await runPolicyCases(parseCases(example('cases'), 'docs/policy.md'), (one) =>
      judge(
        factsOf(one),
        session({ depth: one.session?.kind === 'branch' ? 1 : 0, ...one.session }),
        rules,
        surroundings,
      ),
    );
    expect(
      results.flatMap(({ name, differences }) => differences.map((difference) => `${name}: ${difference}`)),
    ).toEqual([]);
    expect(results).toHaveLength(16);
  });

  it('names the layers in their order', () => {
    const found = [...docs.matchAll(/^ \d (\S+(?: \S+)*)  /gm)].map(([, layer]) => layer);
    expect(found).toEqual([...LAYERS]);
  });

  it('keeps what it says of git', () => {
    expect(Object.hasOwn(PROGRAMS, 'git')).toBe(false);
  });
});

const ACCESS = { write: 'write', edit: 'write', delete: 'delete' } as const;

function factsOf({ tool, arguments: args }: PolicyCase) {
  if (tool === 'shell') return shellCall(String(args['command']), { sandbox: args['sandbox'] !== false });
  return fileCall(tool, String(args['path']), tool in ACCESS ? ACCESS[tool as keyof typeof ACCESS] : 'read');
}
