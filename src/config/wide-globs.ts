/** Globs that would take too long to write out; a file can come from somebody else than who starts the service with it. */
import { GLOB_LIMITS, isBoundedGlob } from '../protocol/glob.ts';
import { rulesIn } from './deaf-rules.ts';
import type { Problem } from './names.ts';
import type { ConfigFile } from './schema.ts';

/** Of rules by arguments and of `protect`. */
export function wideGlobs(file: ConfigFile): Problem[] {
  const inRules = rulesIn(file).flatMap(({ path, rule }) =>
    Object.entries(rule.when ?? {}).flatMap(([argument, pattern]) =>
      'glob' in pattern ? [{ path: [...path, 'when', argument], glob: pattern.glob }] : [],
    ),
  );
  const inProtect = (file.protect ?? []).map((glob, index) => ({ path: ['protect', index], glob }));
  return [...inRules, ...inProtect].flatMap(({ path, glob }) =>
    isBoundedGlob(glob)
      ? []
      : [
          {
            path,
            message: `the braces of a glob stand for ${GLOB_LIMITS.alternatives} alternatives at most; write several`,
          },
        ],
  );
}
