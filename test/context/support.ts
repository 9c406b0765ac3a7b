/** A workspace, a state folder and an outside of a test's own, all gone after it. */
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { fitResult } from '../../src/context/output/output.ts';
import { openToolContext, type ToolContextOptions } from '../../src/context/tool-context.ts';
import { isCountersignError } from '../../src/protocol/errors.ts';
import type { Json, JsonObject } from '../../src/protocol/json.ts';
import type { ToolResult } from '../../src/protocol/outcome.ts';
import type { SessionFacts } from '../../src/protocol/session.ts';
import { createCatalogue } from '../../src/tools/catalogue.ts';
import type { ToolContext } from '../../src/tools/tool-context.ts';
import { validateArguments } from '../../src/tools/validate.ts';

export interface Scratch {
  /** Real path of a folder that holds the other three. */
  base: string;
  workspace: string;
  outside: string;
  stateDir: string;
}

export function scratch(): Scratch {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-test-')));
  onTestFinished(() => rmSync(base, { recursive: true, force: true, maxRetries: 3 }));
  const folders = {
    base,
    workspace: join(base, 'workspace'),
    outside: join(base, 'outside'),
    stateDir: join(base, 'state'),
  };
  for (const folder of [folders.workspace, folders.outside, folders.stateDir]) mkdirSync(folder);
  writeFileSync(join(folders.outside, 'secret.txt'), 'SECRET\n');
  return folders;
}

/** Full paths of all files below a folder. */
export const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

export const factsOf = ({ workspace }: Pick<Scratch, 'workspace'>, more: Partial<SessionFacts> = {}): SessionFacts => ({
  id: 'main-1',
  kind: 'main',
  main: 'main-1',
  depth: 0,
  workspace,
  agent: 'tester',
  channel: 'inbox',
  ...more,
});

/** A context with everything but elevated hands, unless told otherwise. */
export const contextOf = (folders: Scratch, more: Partial<ToolContextOptions> = {}): Promise<ToolContext> =>
  openToolContext({
    facts: factsOf(folders),
    ancestors: [],
    callId: 'call-1',
    stateDir: folders.stateDir,
    backend: 'sandbox',
    allowElevated: false,
    protectedPaths: [],
    signal: new AbortController().signal,
    ...more,
  });

const catalogue = createCatalogue();

/** Runs a tool as an activity does: validated, executed, fitted. */
export async function run(tool: string, args: JsonObject, context: ToolContext): Promise<ToolResult> {
  const found = catalogue.get(tool);
  if (found === undefined) throw new Error(`no tool ${tool}`);
  const valid = validateArguments(found, args);
  if (!valid.ok) throw new Error(`invalid: ${valid.error.message}`);
  const output = await found.execute(valid.arguments, context as Parameters<typeof found.execute>[1]);
  if (context.artifacts === undefined) throw new Error('no artifacts');
  return fitResult(output, context.artifacts);
}

export async function outputOf(tool: string, args: JsonObject, context: ToolContext): Promise<JsonObject> {
  const { output } = await run(tool, args, context);
  return output as JsonObject;
}

/** The code of the error that the work ends with; the value when it doesn't. */
export const codeOf = (work: Promise<unknown>): Promise<Json | unknown> =>
  work.then(
    (value) => ({ value }),
    (error: unknown) => (isCountersignError(error) ? error.code : error),
  );

export const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
export const bytes = (value: string): Uint8Array => new TextEncoder().encode(value);

/** Waits until it holds, for two seconds. */
export async function eventually(holds: () => boolean): Promise<boolean> {
  for (let i = 0; i < 100; i += 1) {
    if (holds()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}
