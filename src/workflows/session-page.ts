/** What a session's page in the Temporal UI says of what waits. */
import { setCurrentDetails } from '@temporalio/workflow';
import { shortCode } from '../protocol/approval.ts';
import { plainMarkdown, plainTime } from '../protocol/markdown.ts';
import type { Session } from './session-state.ts';

const LINES_SHOWN = 20;

export function showPending(self: Session): void {
  const waiting = Object.values(self.approvals.pending).map(({ request }) => request);
  const lines = waiting
    .slice(0, LINES_SHOWN)
    .map(
      ({ digest, tool, session: from, expiresAt }) =>
        `- \`${shortCode(digest)}\` ${plainMarkdown(tool)} of session ${plainMarkdown(from)}, until ${plainTime(expiresAt)}`,
    );
  const more = waiting.length > LINES_SHOWN ? [`- and ${waiting.length - LINES_SHOWN} more`] : [];
  setCurrentDetails(waiting.length === 0 ? '' : ['**Waits for people**', '', ...lines, ...more].join('\n'));
}
