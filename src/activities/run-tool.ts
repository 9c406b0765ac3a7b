/** Runs a tool in the context that its session is due, under its time limit. What may run was decided before. */
import { openToolContext, fitResult, missingHandles } from '../context/index.ts';
import type { ResolvedSubject } from '../policy/index.ts';
import { CountersignError, callError } from '../protocol/errors.ts';
import type { JsonObject } from '../protocol/json.ts';
import type { Execution } from '../protocol/outcome.ts';
import type { Tool } from '../tools/define-tool.ts';
import type { ToolContext } from '../tools/tool-context.ts';
import type { Caller } from './caller.ts';
import type { Dependencies } from './dependencies.ts';
import { toExecution } from './failure.ts';
import type { KnownSession } from './session-reader.ts';

export interface ToolRun {
  from: Caller;
  session: KnownSession;
  tool: Tool;
  arguments: JsonObject;
  /** What policy judged of them. */
  subjects: readonly ResolvedSubject[];
  /** True only for an elevated call that was allowed: its context then reaches past the workspace and the sandbox. */
  allowElevated: boolean;
  /** Copies of approved scripts, to show in the sandbox. */
  sealed?: readonly { path: string; inside: string }[];
  limitMs: number;
  /** Aborted by cancellation and by the worker's shutdown. */
  signal: AbortSignal;
  progress(text: string): void;
}

/** Never throws. An abort from outside shows as `failed` with code `cancelled`; whoever aborted knows why. */
export async function runTool(dependencies: Dependencies, run: ToolRun): Promise<Execution> {
  const { tool, session, from } = run;
  const limit = new AbortController();
  const timer = setTimeout(
    () => limit.abort(new CountersignError('timeout', `${tool.name} ran past its limit of ${run.limitMs} ms.`)),
    run.limitMs,
  );
  const signal = AbortSignal.any([run.signal, limit.signal]);
  try {
    const { config, rules } = dependencies.settings();
    const context = await openToolContext({
      facts: session.facts,
      ancestors: session.above,
      maxFileBytes: config.limits.fileBytes,
      callId: from.callId,
      stateDir: dependencies.stateDir,
      protectedPaths: dependencies.protectedPaths,
      backend: config.shell.backend,
      sandbox: config.shell.sandbox,
      allowElevated: run.allowElevated,
      guarded: rules.protected,
      subjects: run.subjects,
      ...(run.sealed && { sealed: run.sealed }),
      signal,
      progress: run.progress,
    });
    const missing = missingHandles(tool, context);
    if (missing.length > 0)
      return { status: 'denied', error: callError('missing_capability', lacks(tool, session, missing)) };
    const output = await settled(tool.execute(run.arguments, context as Parameters<Tool['execute']>[1]), signal);
    return {
      status: 'completed',
      ...(await fitResult(output, context.artifacts as NonNullable<ToolContext['artifacts']>)),
    };
  } catch (error) {
    if (limit.signal.aborted) return toExecution(limit.signal.reason);
    if (run.signal.aborted) return { status: 'failed', error: callError('cancelled', 'The tool was stopped.') };
    return toExecution(error);
  } finally {
    clearTimeout(timer);
  }
}

/** Handles stop their work on the signal; a tool that does not listen is left behind after a grace. */
const GRACE_MS = 2_000;

function settled<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): unknown => setTimeout(() => reject(signal.reason), GRACE_MS);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

const lacks = (tool: Tool, { facts }: KnownSession, missing: string[]): string =>
  `${tool.name} needs ${missing.join(', ')}, which a ${facts.kind} session here does not have.`;
