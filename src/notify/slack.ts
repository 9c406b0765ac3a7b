/** A Slack-compatible incoming webhook. Foreign text stands in elements that are not read as markup, and in code in the fallback. */
import type { NotifierConfig } from '../config/notifiers.ts';
import { NotTold, type Notifier } from './notifier.ts';
import { type Notice, commands, facts, opening, shortPreview } from './notice.ts';
import { postJson } from './post.ts';
import { withRetries } from './retry.ts';
import { readSecret } from './secret.ts';

type SlackConfig = Extract<NotifierConfig, { type: 'slack' }>;

export function slackNotifier({ urlEnv, urlFile }: SlackConfig): Notifier {
  return {
    type: 'slack',
    async tell(notice, signal) {
      const url = await readSecret(urlEnv, urlFile);
      const { protocol } = URL.parse(url) ?? {};
      if (protocol !== 'https:' && protocol !== 'http:')
        throw new NotTold('the address of the incoming webhook is no whole http or https address');
      const body = JSON.stringify(slackMessage(notice));
      await withRetries(() => postJson(url, body, {}, signal), signal);
    },
  };
}

type Json = string | boolean | Json[] | { [name: string]: Json };

/** The message: blocks for Slack itself, `text` for notifications and for other receivers. */
export function slackMessage(notice: Notice): Json {
  const preview = shortPreview(notice);
  return {
    text: fallback(notice),
    // Nothing that is named here is to be fetched and shown.
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: opening(notice), emoji: false } },
      richText({ type: 'rich_text_section', elements: facts(notice).flatMap(factElements) }),
      ...(preview.length === 0
        ? []
        : [richText({ type: 'rich_text_preformatted', elements: [{ type: 'text', text: preview.join('\n') }] })]),
      richText({ type: 'rich_text_preformatted', elements: [{ type: 'text', text: commands(notice).join('\n') }] }),
      ...(notice.link === undefined
        ? []
        : [
            richText({
              type: 'rich_text_section',
              elements: [{ type: 'link', url: notice.link, text: 'The call in the Temporal UI' }],
            }),
          ]),
    ],
  };
}

const richText = (element: Json): Json => ({ type: 'rich_text', elements: [element] });

const factElements = ({ name, value }: { name: string; value: string }): Json[] => [
  { type: 'text', text: `${name}: `, style: { bold: true } },
  { type: 'text', text: value === '' ? '(empty)' : value, style: { code: true } },
  { type: 'text', text: '\n' },
];

/** One line. What is foreign is code, out of which no backtick leads, with the three signs that Slack reads there as entities. */
function fallback(notice: Notice): string {
  const shown = new Set(['Tool', 'Session', 'Expires']);
  const parts = facts(notice).filter(({ name }) => shown.has(name));
  const told = parts.map(({ name, value }) => `${name.toLowerCase()} \`${inCode(value)}\``).join(', ');
  return `${opening(notice)}: ${told}. \`${commands(notice)[0] ?? ''}\``;
}

const inCode = (text: string): string =>
  text.replaceAll('`', 'ˋ').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
