/** Posts JSON: a time limit, no redirects, and reasons that name neither address nor body. */
import { request } from 'undici';
import { NotTold } from './notifier.ts';

const TRY_MS = 4_000;
/** Of an answer nothing is wanted but that it ends. */
const ANSWER_BYTES = 64 * 1024;

/** Rejects with {@link NotTold} for every answer that is not 2xx. */
export async function postJson(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const limit = AbortSignal.timeout(TRY_MS);
  try {
    const answer = await request(url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'user-agent': 'countersign', ...headers },
      signal: AbortSignal.any([limit, signal]),
      // Each is told of seldom; a kept connection would only be found dead.
      reset: true,
    });
    await answer.body.dump({ limit: ANSWER_BYTES }).catch(() => undefined);
    check(answer.statusCode, answer.headers['retry-after']);
  } catch (error) {
    if (error instanceof NotTold) throw error;
    if (limit.aborted) throw new NotTold(`no answer within ${TRY_MS / 1_000} s`, { temporary: true });
    throw new NotTold(failureOf(error), { temporary: true });
  }
}

function check(status: number, retryAfter: string | string[] | undefined): void {
  if (status >= 200 && status < 300) return;
  if (status >= 300 && status < 400)
    throw new NotTold(`answered ${status}: redirects are not followed, give the final address`);
  const seconds = Number(retryAfter);
  throw new NotTold(`answered ${status}`, {
    temporary: status >= 500 || status === 429 || status === 408,
    retryAfterMs: retryAfter !== undefined && Number.isFinite(seconds) ? Math.max(0, seconds * 1_000) : undefined,
  });
}

/** `ECONNREFUSED` and the like: codes, because messages may hold the address. */
function failureOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string' && /^[A-Z0-9_]{3,40}$/.test(at.code))
      return `not reached (${at.code})`;
  }
  return 'not reached';
}
