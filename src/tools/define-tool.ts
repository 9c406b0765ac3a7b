/**
 * What a tool is. One file a tool, always in the same order: schema, type, what it needs of the context, the tool.
 */
import type { Static, TObject } from 'typebox';
import type { Json } from '../protocol/json.ts';
import type { Artifact } from '../protocol/outcome.ts';
import type { Effect, Tier, ToolLimits } from '../protocol/tool.ts';
import type { ContextWith, HandleName } from './tool-context.ts';

/**
 * What one call would touch, read from its arguments alone; policy judges it after paths were made canonical.
 * `argument` is the name of the argument that says so.
 */
export type Subject =
  | { kind: 'path'; argument: string; path: string; access: 'read' | 'write' | 'delete' }
  | {
      kind: 'command';
      argument: string;
      command: string;
      sandbox: boolean;
      cwd?: string;
      env?: Record<string, string>;
    }
  | { kind: 'host'; argument: string; url: string };

/** What a tool hands back: `output` for the model, `display` for people. Cutting to size is the caller's work, once, for all tools. */
export interface ToolOutput {
  output: Json;
  display?: string;
  artifacts?: Artifact[];
}

export interface ToolDefinition<Parameters extends TObject, Needs extends HandleName> {
  /** Lower case, as the model calls it. */
  name: string;
  /** For people. */
  label: string;
  /** For the model: what it does and its limits. */
  description: string;
  parameters: Parameters;
  tier: Tier;
  effect: Effect;
  limits: ToolLimits;
  /** Policy groups that the tool belongs to: `group:fs`, … */
  groups: readonly string[];
  /** Handles without which it cannot run. */
  needs: readonly Needs[];
  /** Raised whenever behaviour changes while the schema does not; part of the fingerprint. */
  version: number;
  /** What the schema cannot say: arguments that only make sense together. Undefined when they are well. */
  check?(args: Static<Parameters>): { field: string; message: string } | undefined;
  /** What this call would touch. */
  subjects(args: Static<Parameters>): Subject[];
  /** One line that names the call for auditors: `shell: npm test`. */
  summary(args: Static<Parameters>): string;
  execute(args: Static<Parameters>, context: ContextWith<Needs>): Promise<ToolOutput>;
}

/** A tool whose argument types are forgotten: what the catalogue holds. */
export type Tool = ToolDefinition<TObject, HandleName>;

/** Types a tool's `execute` by its schema; returns what it is given. */
export function defineTool<const Parameters extends TObject, const Needs extends HandleName>(
  definition: ToolDefinition<Parameters, Needs>,
): ToolDefinition<Parameters, Needs> {
  return definition;
}
