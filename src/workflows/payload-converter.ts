/** How workflows read what they are sent. */
import { type PayloadConverter, ValueError, defaultPayloadConverter } from '@temporalio/common';

/**
 * JSON, as everywhere. What cannot be decoded is undefined, which every reader of messages refuses as a message of another form: anybody in the namespace
 * can send such a thing, and a workflow whose converter throws could never get past it, nor take a decision again.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: (value) => defaultPayloadConverter.toPayload(value),
  fromPayload: <T>(payload: Parameters<PayloadConverter['fromPayload']>[0]): T => {
    try {
      return defaultPayloadConverter.fromPayload<T>(payload);
    } catch (error) {
      if (error instanceof ValueError || error instanceof SyntaxError) return undefined as T;
      throw error;
    }
  },
};
