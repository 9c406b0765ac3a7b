/**
 * Who explains a call: the worker that would run it where a session is named; else, and where a configuration is given to judge by, this
 * process.
 */
import { isCountersignError } from '../../protocol/errors.ts';
import type { JsonObject } from '../../protocol/json.ts';
import type { Explanation } from '../../protocol/outcome.ts';
import type { CaseSession, JudgedSession } from '../../policy/index.ts';
import { type AnyCountersign, withService } from '../service/with-service.ts';
import { findSession } from '../sessions/find-session.ts';
import { type LocalJudge, folderFacts, localJudge } from './local-judge.ts';

export interface Explained {
  tool: string;
  arguments: JsonObject;
}

/** Throws, with a session, `session_not_found` and `no_service`. `by`: whose rules said so, for people. */
export type Explain = (call: Explained, session?: string) => Promise<{ explanation: Explanation; by: string }>;

/**
 * Gives `use` an explainer; all sessions are asked over one connection, opened when the first is named.
 * @param given.session that of calls which name none
 * @param given.said what is said of the session of calls which name none, where no `session` is given
 * @throws CountersignError `invalid_config`, `undeclared`
 */
export async function withExplainer<T>(
  given: { session?: string; config?: string; workspace?: string; said?: CaseSession },
  use: (explain: Explain) => Promise<T>,
): Promise<T> {
  const { config, workspace = '.', said } = given;
  let judge: Promise<LocalJudge> | undefined;
  const here = (): Promise<LocalJudge> => (judge ??= localJudge(config));
  const sessionHere = async (): Promise<JudgedSession> => (await here()).session(await folderFacts(workspace), said);
  // A broken configuration, or a name that it does not have, is one error, not one for each call.
  if (given.session === undefined) await sessionHere();
  else if (config !== undefined) await here();
  const over = Promise.withResolvers<void>();
  let connected: Promise<AnyCountersign> | undefined;
  const service = (): Promise<AnyCountersign> =>
    (connected ??= new Promise((resolve, reject) => {
      const hold = (countersign: AnyCountersign): Promise<void> => {
        resolve(countersign);
        return over.promise;
      };
      withService(hold).catch(reject);
    }));
  try {
    return await use(async (call, session = given.session) => {
      if (session === undefined) return explainedBy(await here(), await sessionHere(), call);
      const told = config === undefined ? await byWorker(await service(), session, call) : undefined;
      if (told) return { explanation: told, by: 'the worker, by its rules of now' };
      const { facts, state } = await findSession(await service(), session);
      return explainedBy(await here(), facts, call, state);
    });
  } finally {
    over.resolve();
  }
}

const explainedBy = async (judge: LocalJudge, ...asked: Parameters<LocalJudge['explain']>) => ({
  explanation: await judge.explain(...asked),
  by: judge.config,
});

/** Undefined for a session that is closed: no worker judges for it any more. */
async function byWorker(
  countersign: AnyCountersign,
  session: string,
  { tool, arguments: args }: Explained,
): Promise<Explanation | undefined> {
  try {
    return await (await countersign.session(session)).explain(tool, args);
  } catch (error) {
    if (isCountersignError(error) && error.code === 'session_closed') return undefined;
    throw error;
  }
}
