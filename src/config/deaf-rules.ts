/** Rules by arguments that could never be heard. A deny rule among them would deny nothing, and look as if it did. */
import { isOriginName } from '../policy/catalogue.ts';
import { nameList } from '../policy/names.ts';
import { builtInTools } from '../tools/index.ts';
import { didYouMean } from './diagnose.ts';
import type { KnownTool, Problem } from './names.ts';
import type { ConfigFile } from './schema.ts';

type Rule = NonNullable<ConfigFile['rules']>[number];
type Sections = { rules?: Rule[] | undefined } | undefined;

/** Arguments that none of the tools meant has, and paths that no canonical path can match. */
export function deafRules(file: ConfigFile, catalogue: readonly KnownTool[] = builtInTools): Problem[] {
  return rulesIn(file).flatMap(({ path, rule }) => {
    const tools = catalogue.filter(
      ({ name, groups }) =>
        nameList([rule.tool], file.groups).permits({ name, groups, tier: 'read_only', effect: 'read', needs: [] }) !==
        undefined,
    );
    const known = tools.flatMap(({ parameters }) => Object.keys(parameters.properties));
    return Object.entries(rule.when ?? {}).flatMap(([argument, pattern]) => {
      const at = [...path, 'when', argument];
      if (tools.length > 0 && !isOriginName(rule.tool) && !rule.tool.includes('*') && !known.includes(argument)) {
        return [
          {
            path: at,
            message: `${rule.tool} has no argument ${JSON.stringify(argument)}${didYouMean(argument, known)}`,
          },
        ];
      }
      const place = 'under' in pattern ? pattern.under : 'glob' in pattern && argument === 'path' ? pattern.glob : '';
      const far = place.startsWith('~') || place.split('/').includes('..');
      return far
        ? [{ path: at, message: `${JSON.stringify(place)} matches nothing: paths have no ~ and no .. here` }]
        : [];
    });
  });
}

/** Every rule by arguments with its place. */
export function rulesIn(file: ConfigFile): { path: (string | number)[]; rule: Rule }[] {
  const of = (path: (string | number)[], section: Sections) =>
    (section?.rules ?? []).map((rule, index) => ({ path: [...path, 'rules', index], rule }));
  const each = (path: string[], map: Record<string, Sections> | undefined) =>
    Object.entries(map ?? {}).flatMap(([name, section]) => of([...path, name], section));
  return [
    ...of([], file),
    ...each(['providers'], file.providers),
    ...each(['agents'], file.agents),
    ...Object.entries(file.agents ?? {}).flatMap(([name, agent]) => [
      ...each(['agents', name, 'providers'], agent.providers),
      ...of(['agents', name, 'subAgents'], agent.subAgents),
    ]),
    ...each(['channels'], file.channels),
    ...each(['conversations'], file.conversations),
    ...of(['sandbox'], file.sandbox),
    ...of(['subAgents'], file.subAgents),
  ];
}
