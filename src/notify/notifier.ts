/** One way of telling people. */
import type { Logger } from 'pino';
import type { Writable } from 'node:stream';
import type { NotifierConfig } from '../config/notifiers.ts';
import type { Notice } from './notice.ts';

export interface Notifier {
  readonly type: NotifierConfig['type'];
  /** Rejects where people could not be told; a {@link NotTold} says why in words that hold no secret. */
  tell(notice: Notice, signal: AbortSignal): Promise<void>;
}

/** What the service lends to notifiers. */
export interface Surroundings {
  log: Pick<Logger, 'warn'>;
  /** Where `terminal` writes. Default: standard error, where it is a terminal. */
  terminal?: Writable & { isTTY?: boolean };
}

/** Why people could not be told. The message goes into logs and to the session: it names no address and no secret. */
export class NotTold extends Error {
  override readonly name = 'NotTold';
  /** True where another try may succeed. */
  readonly temporary: boolean;
  /** Milliseconds to wait before it, where the receiver said so. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    { temporary = false, retryAfterMs }: { temporary?: boolean; retryAfterMs?: number | undefined } = {},
  ) {
    super(message);
    this.temporary = temporary;
    this.retryAfterMs = retryAfterMs;
  }
}
