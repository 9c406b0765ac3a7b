/** What becomes of a session that the worker cannot look at. */
import { ServiceError } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, it } from 'vitest';
import { admitSession } from '../../src/activities/admit-session.ts';
import type { Dependencies } from '../../src/activities/dependencies.ts';
import type { OpenedAnswer } from '../../src/protocol/session.ts';
import { MAIN_FACTS as facts } from '../support/session-facts.ts';

/** Of an attempt in which the reading of the session fails. */
function admit(attempt: number, error: Error): Promise<OpenedAnswer> {
  const environment = new MockActivityEnvironment({
    attempt,
    workflowExecution: { workflowId: 'session/s', runId: 'r' },
  });
  const dependencies = { sessions: { read: () => Promise.reject(error) } } as unknown as Dependencies;
  return environment.run(() => admitSession(dependencies, facts));
}

it('a fault of the worker is tried again, and is a refusal in the end', async () => {
  const fault = new TypeError('no such thing');
  await expect(admit(3, fault)).rejects.toBe(fault);
  expect(await admit(4, fault)).toEqual({
    opened: false,
    code: 'internal',
    message: 'The worker could not look at this session: no such thing',
  });
});

it('a server that is away is waited for', async () => {
  const away = new ServiceError('the server is away');
  await expect(admit(40, away)).rejects.toBe(away);
});
