/** Payloads as others wrote them. */
import { type Payload, defaultPayloadConverter } from '@temporalio/common';

/** The value; undefined where there is none, or none that can be read: anybody in the namespace writes what they like into a workflow of their own. */
export function oneValue<T>(payload: Payload | null | undefined): T | undefined {
  try {
    return payload ? (defaultPayloadConverter.fromPayload<T>(payload) ?? undefined) : undefined;
  } catch {
    // Of an encoding that we do not know, or not what it says it is.
    return undefined;
  }
}
