/** What policy is told and what it says. Everything here is data: the judge reads no file, no clock and no environment. */
import type { JsonObject } from '../protocol/json.ts';
import type { DenyCode, TraceStep } from '../protocol/outcome.ts';
import type { SessionFacts } from '../protocol/session.ts';
import type { Effect, Tier } from '../protocol/tool.ts';

/** What policy knows of a tool. */
export interface ToolFacts {
  name: string;
  tier: Tier;
  effect: Effect;
  groups: readonly string[];
  /** Names of context handles it cannot do without. */
  needs: readonly string[];
}

/** A subject of a call with its paths made canonical (symbolic links resolved, as far as they exist). */
export type ResolvedSubject =
  | {
      kind: 'path';
      argument: string;
      /** As written by the model. */
      path: string;
      /** Canonical absolute path. */
      canonical: string;
      /** Path from the workspace with `/` between segments, when inside of it; '' is the workspace itself. */
      relative?: string;
      inside: boolean;
      access: 'read' | 'write' | 'delete';
      /** False where something stands there that is no folder; absent where nothing does, or nobody looked. */
      folder?: boolean;
      /** True where the model wrote an absolute path. */
      absolute: boolean;
      /** True where the repository's configuration names it, as hooks or as further configuration. */
      gitNamed?: true;
    }
  | {
      kind: 'command';
      argument: string;
      command: string;
      sandbox: boolean;
      /** Canonical absolute path. */
      cwd: string;
      /** As the call gives it, where it does. */
      cwdGiven?: string;
      cwdInside: boolean;
      /** `cwd` from the workspace, as `relative` of a path. */
      cwdRelative?: string;
      env: Record<string, string>;
      /**
       * Each word that `fileOperands(command)` names, resolved from `cwd`: what a program would open. Without it no command that
       * names a file is let through outside of the sandbox: a symbolic link in the workspace may lead anywhere.
       */
      operands?: Readonly<Record<string, { canonical: string; inside: boolean }>>;
      /** Set by the judge where `command` is one simple command of a plain line, its words joined by spaces. */
      single?: true;
    }
  | { kind: 'host'; argument: string; url: string; host: string };

/** One call as policy sees it. */
export interface CallFacts {
  tool: ToolFacts;
  /** Normalised and valid. */
  arguments: JsonObject;
  subjects: readonly ResolvedSubject[];
  /** Set by the judge: other workspaces of the sessions above. Rules hold from there, too. */
  above?: readonly string[];
}

/** What policy is told of the session: its own facts and those of the sessions above it, nearest first, whose rules hold for it too. */
export type JudgedSession = SessionFacts & { readonly above?: readonly SessionFacts[] };

/** What this worker can offer, by handle or provider name; a tool that needs something else is unavailable. */
export interface Surroundings {
  available: ReadonlySet<string>;
  /** Handle or provider name → why it is missing and how to get it. */
  missing: Readonly<Record<string, string>>;
  /** Canonical absolute paths of Countersign's own configuration, state and keys. */
  protectedPaths: readonly string[];
}

/** A line of the trace with what only the judge needs. */
export interface Finding extends TraceStep {
  /** With effect `deny`. */
  code?: DenyCode;
  /** With effect `raise`: the tier that the call is raised to. */
  tier?: Tier;
}
