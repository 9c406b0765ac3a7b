/** A line in the service's log. */
import type { Notifier, Surroundings } from './notifier.ts';
import { commands, facts, opening } from './notice.ts';

export function logNotifier({ log }: Surroundings): Notifier {
  return {
    type: 'log',
    async tell(notice) {
      const { channel, request, kind, role, link } = notice;
      const { session, callId, tool, tier, route } = request;
      const [first] = facts(notice);
      const text = `${opening(notice)}: ${first?.value ?? ''}; ${commands(notice)[0] ?? ''}`;
      log.warn(
        {
          channel,
          session,
          callId,
          tool,
          tier,
          route,
          kind,
          ...(role !== undefined && { role }),
          ...(link !== undefined && { link }),
        },
        text,
      );
    },
  };
}
