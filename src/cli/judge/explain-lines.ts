/** `countersign explain --jsonl`: one call a line, one answer a line, in the order of the lines. */
import { isJsonObject } from '../../protocol/json.ts';
import { CountersignError } from '../../protocol/errors.ts';
import { LINE_BYTES, parseCallLine } from '../calls/call-lines.ts';
import { type InputLine, readLines } from '../io/json-lines.ts';
import { printJson } from '../io/output.ts';
import { reportOf } from '../status.ts';
import type { Explain } from './explainer.ts';

export async function explainLines(explain: Explain): Promise<void> {
  for await (const input of readLines(process.stdin, LINE_BYTES)) {
    printJson({ line: input.line, ...(await answer(input, explain)) });
  }
}

async function answer(input: InputLine, explain: Explain): Promise<object> {
  try {
    const { tool, arguments: args, session } = parseCallLine(input, { callId: null, session: null, tool: null });
    if (!isJsonObject(args))
      throw new CountersignError('invalid_arguments', 'Arguments are a JSON object.', { field: '' });
    return (await explain({ tool, arguments: args }, session)).explanation;
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
