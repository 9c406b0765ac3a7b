/**
 * What a call would do, worked out for whoever has to decide. It is advice: an approval binds the arguments, never this, and
 * whoever shows it takes it for text that anybody may have written.
 */

/** Text cut in its middle: both ends are what shows what it is. */
export interface Excerpt {
  head: string;
  /** Absent where nothing was cut. */
  tail?: string;
  /** What lies between. */
  left?: { lines: number; characters: number };
}

/** What a simple command is known to do. A word of a closed list, so that no preview can speak in our name. */
export const DEEDS = {
  harmless: 'is known to be harmless: it only looks, or says something',
  folder: 'goes to another folder: paths after it start there',
  looks: 'looks at files or at the machine',
  makes: 'makes files or folders',
  copies: 'copies files',
  moves: 'moves or renames files',
  edits: 'changes files',
  writes_output: 'writes its output into a file',
  deletes: 'deletes files',
  deletes_trees: 'deletes folders with all that is in them',
  rights: 'changes who may do what with files',
  network: 'talks to the network',
  sends: 'sends data out',
  installs: 'installs software, and runs scripts that come with it',
  builds: 'runs the project’s own code: builds, tests, scripts',
  runs_text: 'runs a program or script that it is given',
  runs_other: 'runs another command',
  other_rights: 'takes other rights',
  later: 'leaves something running, or runs it later',
  stops: 'ends other programs',
  machine: 'changes the machine',
  repository: 'changes the repository',
  remote: 'changes a remote repository',
  containers: 'runs or changes containers or clusters',
  variables: 'sets variables',
  dangerous: 'can ruin more than the workspace',
  unknown: 'is no program that Countersign knows',
} as const;
export type Deed = keyof typeof DEEDS;

/** How a command is joined to the one before it. */
export type Joint = '|' | '&&' | '||' | ';' | '&';

export interface CommandStep {
  joint?: Joint;
  /** As written. */
  text: string;
  deeds: Deed[];
  /** 0 for the line itself; more within substitutions and scripts in quotes. */
  depth: number;
}

interface Common {
  /** True where the whole held what looks like a secret; it may have been cut away since. */
  secret?: true;
}

export type Preview = Common &
  (
    | {
        kind: 'diff';
        path: string;
        /** `refused`: the edit as asked for would be turned down, the file being what it is. `unknown`: nothing was compared. */
        change: 'create' | 'change' | 'none' | 'refused' | 'unknown';
        added: number;
        removed: number;
        /** Hunks of a unified diff. */
        diff: Excerpt;
      }
    | { kind: 'delete'; path: string; recursive: boolean }
    | {
        kind: 'command';
        steps: CommandStep[];
        /** Steps that are not listed. */
        more: number;
        /** False where words are expanded, or were read differently by two parsers: the steps are then a guess. */
        plain: boolean;
        where: 'sandbox' | 'host' | 'nowhere';
        network: boolean;
        /** From the workspace, as written. */
        cwd: string;
        /** Names of variables that it sets. */
        env: string[];
      }
    | { kind: 'message'; to: string[]; text: Excerpt }
    | { kind: 'web'; url: string }
  );
