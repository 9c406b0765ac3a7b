/**
 * Subjects of a call with their paths made canonical, for policy to judge. It is advice: links may change before the call runs, and the
 * handles refuse on their own what leads outside.
 */
import { lstatSync } from 'node:fs';
import { CountersignError } from '../../protocol/errors.ts';
import type { SessionFacts } from '../../protocol/session.ts';
import { relativeTo } from '../../policy/paths.ts';
import type { ResolvedSubject } from '../../policy/types.ts';
import type { Subject } from '../../tools/define-tool.ts';
import type { JudgedPaths } from './beneath.ts';
import { canonicalPath } from './canonical.ts';
import { gitNamed } from './git-folders.ts';

/** Throws `invalid_arguments` with its `field` for what is no path (empty, NUL, over 4,096 bytes) or no URL. */
export async function resolveSubjects(
  subjects: readonly Subject[],
  facts: Pick<SessionFacts, 'workspace'>,
  operandsOf: (command: string) => string[] = () => [],
): Promise<ResolvedSubject[]> {
  return subjects.map((subject) => {
    try {
      return resolveSubject(subject, facts.workspace, operandsOf);
    } catch (error) {
      if (!(error instanceof CountersignError)) throw error;
      throw new CountersignError(error.code, error.message, {
        field: subject.kind === 'command' ? '/cwd' : `/${subject.argument}`,
        cause: error,
      });
    }
  });
}

/** Where their paths lead: what is opened for the call must be that. An approved command is given its folder as it was judged. */
export const judgedPaths = (subjects: readonly ResolvedSubject[]): JudgedPaths =>
  new Map(
    subjects.flatMap((subject) => {
      if (subject.kind === 'host') return [];
      if (subject.kind === 'path') return [[subject.path, subject.canonical] as const];
      return [subject.cwdGiven ?? '.', subject.cwd].map((path) => [path, subject.cwd] as const);
    }),
  );

function resolveSubject(
  subject: Subject,
  workspace: string,
  operandsOf: (command: string) => string[],
): ResolvedSubject {
  switch (subject.kind) {
    case 'path': {
      // What is deleted is a link itself, not what it leads to.
      const canonical = canonicalPath(subject.path, workspace, subject.access !== 'delete');
      const relative = relativeTo(workspace, canonical);
      const folder = isFolder(canonical);
      return {
        ...subject,
        canonical,
        ...(relative === undefined ? {} : { relative }),
        ...(folder === undefined ? {} : { folder }),
        ...(subject.access !== 'read' && leadsToNamed(canonical, workspace) ? { gitNamed: true } : {}),
        inside: relative !== undefined,
        absolute: subject.path.startsWith('/'),
      };
    }
    case 'command': {
      const cwd = canonicalPath(subject.cwd ?? '.', workspace, true);
      const cwdRelative = relativeTo(workspace, cwd);
      const { kind, argument, command, sandbox, env = {} } = subject;
      return {
        kind,
        argument,
        command,
        sandbox,
        cwd,
        ...(subject.cwd === undefined ? {} : { cwdGiven: subject.cwd }),
        cwdInside: cwdRelative !== undefined,
        ...(cwdRelative === undefined ? {} : { cwdRelative }),
        env: { ...env },
        operands: resolveOperands(operandsOf(command), cwd, workspace),
      };
    }
    case 'host':
      return { ...subject, host: hostOf(subject.url) };
  }
}

/** Whether a change there changes, or puts aside, what the configuration of the workspace's repository names. */
const leadsToNamed = (canonical: string, workspace: string): boolean =>
  gitNamed(workspace).some((one) => `${canonical}/`.startsWith(`${one}/`) || one.startsWith(`${canonical}/`));

/** What a program that is given these words would open. A word that is no path names nothing. */
function resolveOperands(
  words: readonly string[],
  cwd: string,
  workspace: string,
): Record<string, { canonical: string; inside: boolean }> {
  const operands: Record<string, { canonical: string; inside: boolean }> = {};
  for (const word of words) {
    try {
      const canonical = canonicalPath(word, cwd, true);
      operands[word] = { canonical, inside: relativeTo(workspace, canonical) !== undefined };
    } catch (error) {
      if (!(error instanceof CountersignError)) throw error;
    }
  }
  return operands;
}

/** Undefined where nothing stands, or nothing for us to see. */
function isFolder(path: string): boolean | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory();
  } catch {
    return undefined;
  }
}

function hostOf(url: string): string {
  try {
    return new URL(url).hostname;
  } catch {
    throw new CountersignError('invalid_arguments', 'this is no URL; give it whole, as https://example.org/page');
  }
}
