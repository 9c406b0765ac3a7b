/** `countersign explain --jsonl`: one call a line, one answer a line, in the order of the lines. */
import type { SessionFacts } from '../../protocol/session.ts';
import { isJsonObject } from '../../protocol/json.ts';
import { CountersignError } from '../../protocol/errors.ts';
import { LINE_BYTES, parseCallLine } from '../calls/call-lines.ts';
import { type InputLine, readLines } from '../io/json-lines.ts';
import { type LocalJudge, folderFacts } from './local-judge.ts';
import { printJson } from '../io/output.ts';
import { type KnownFacts, sessionKnown } from '../sessions/find-session.ts';
import { reportOf } from '../status.ts';

export async function explainLines(judge: LocalJudge, given: { session?: string; workspace?: string }): Promise<void> {
  const sessions = new Map<string, Promise<KnownFacts>>();
  const find = (id: string): Promise<KnownFacts> => {
    const known = sessions.get(id) ?? sessionKnown(id);
    sessions.set(id, known);
    return known;
  };
  const folder = await folderFacts(given.workspace ?? '.');
  for await (const input of readLines(process.stdin, LINE_BYTES)) {
    printJson({ line: input.line, ...(await answer(input, judge, (id) => lookUp(id ?? given.session, find, folder))) });
  }
}

const lookUp = async (
  id: string | undefined,
  find: (id: string) => Promise<KnownFacts>,
  folder: SessionFacts,
): Promise<KnownFacts> => (id === undefined ? { facts: { ...folder, above: [] }, state: 'open' } : find(id));

async function answer(
  input: InputLine,
  judge: LocalJudge,
  sessionOf: (id: string | undefined) => Promise<KnownFacts>,
): Promise<object> {
  try {
    const { tool, arguments: args, session } = parseCallLine(input, { callId: null, session: null, tool: null });
    if (!isJsonObject(args))
      throw new CountersignError('invalid_arguments', 'Arguments are a JSON object.', { field: '' });
    const { facts, state } = await sessionOf(session);
    return await judge.explain(facts, { tool, arguments: args }, state);
  } catch (error) {
    const report = reportOf(error);
    return {
      verdict: report.kind === 'ValidationError' ? 'invalid' : 'deny',
      tier: null,
      rule: null,
      trace: [],
      error: report,
    };
  }
}
