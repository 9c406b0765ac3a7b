import { once } from 'node:events';
import { type IncomingHttpHeaders, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeRequest } from '../../src/approval/render/index.ts';
import { type Notice, withoutSecrets } from '../../src/notify/index.ts';
import type { JsonObject } from '../../src/protocol/json.ts';
import { detailsOf } from '../approval/render/support.ts';

export function noticeOf(args: JsonObject = { command: 'npm test' }, rest: Partial<Notice> = {}): Notice {
  const details = detailsOf({ arguments: args });
  const request = { ...details.request, route: ['leaf', 'main'] };
  const view = withoutSecrets(describeRequest(details, { route: request.route, now: 1_000 }));
  return { id: 'msg_1', at: 1_000, channel: 'inbox', kind: 'requested', request, view, ...rest };
}

export interface Received {
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
}

/** `hang` never answers; a number is a status. Answers are given in order, the last one again and again. */
export type Answer = number | 'hang' | { status: number; headers: Record<string, string> };

export interface Receiver extends AsyncDisposable {
  url: string;
  received: Received[];
}

export async function receiver(...answers: Answer[]): Promise<Receiver> {
  const received: Received[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({
        url: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
        at: Date.now(),
      });
      const answer = answers[Math.min(received.length, answers.length) - 1] ?? 200;
      if (answer === 'hang') return;
      const { status, headers } = typeof answer === 'number' ? { status: answer, headers: {} } : answer;
      response.writeHead(status, headers).end('a body with secret-of-the-receiver');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

export const silent = { log: { warn: () => undefined } } as const;
