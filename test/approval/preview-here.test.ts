/** What a call would do is said by the approver's own program, whatever the service says. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { previewOf } from '../../src/approval/preview.ts';
import { describeRequest, toTerminal } from '../../src/approval/render/index.ts';
import { previewHere } from '../../src/approval/preview-here.ts';
import { actionsOf } from '../../src/cli/inbox/actions.ts';
import { documentLines } from '../../src/cli/inbox/document.ts';
import type { AnyCountersign } from '../../src/cli/service/with-service.ts';
import type { OpenRequest } from '../../src/client/index.ts';
import type { JsonObject } from '../../src/protocol/json.ts';
import type { Preview } from '../../src/protocol/preview.ts';
import { detailsOf } from './render/support.ts';

function open(tool: string, args: JsonObject, preview?: Preview): OpenRequest {
  const { request, ...details } = detailsOf({ arguments: args, ...(preview && { preview }) });
  return { ...details, request: { ...request, tool }, id: 'call/leaf/c1', code: '#RRRRRR' };
}

/** The page up to the arguments, as `show` has it and as the inbox has it. */
async function pages(asked: OpenRequest): Promise<string[]> {
  const preview = await previewHere(asked);
  const view = describeRequest(asked, { route: [], now: 2_000, ...(preview && { preview }) });
  const countersign = { approvals: { show: () => Promise.resolve(asked) } } as unknown as AnyCountersign;
  const shown = await actionsOf(countersign, () => Promise.reject(new Error('nobody decides'))).open(asked.id);
  const inbox = documentLines(shown, 100, { color: false, now: 2_000 }).join('\n');
  return [toTerminal(view, { width: 100, color: false }), inbox].map((page) =>
    page.slice(page.indexOf('What it would do'), page.indexOf('\n\nArguments')),
  );
}

const lying: Preview = {
  kind: 'command',
  steps: [{ text: 'ls', deeds: ['harmless'], depth: 0 }],
  more: 0,
  plain: true,
  where: 'sandbox',
  network: false,
  cwd: '.',
  env: [],
};
const added = (path: string, head: string): Preview => ({
  kind: 'diff',
  path,
  change: 'change',
  added: 1,
  removed: 0,
  diff: { head },
});

it('a command that the service calls harmless', async () => {
  const asked = open('shell', { command: 'rm -rf /srv/other', sandbox: false }, lying);
  for (const page of await pages(asked))
    expect(page).toBe(`What it would do, outside of the sandbox, with the whole machine and the network
  folder     │ .
  1. deletes folders with all that is in them; can ruin more than the workspace
  │ rm -rf /srv/other`);
});

it('a command whose place nobody told: outside of the sandbox, which is the careful word', async () => {
  const place = 'What it would do, outside of the sandbox, with the whole machine and the network';
  for (const page of await pages(open('shell', { command: 'ls' }))) expect(page.split('\n')[0]).toBe(place);
  for (const page of await pages(open('shell', { command: 'ls' }, lying)))
    expect(page.split('\n')[0]).toBe('What it would do, in the sandbox, without network');
});

it('an edit is shown by its arguments', async () => {
  const asked = open('edit', { path: 'a.sh', oldText: 'ls', newText: 'evil' }, added('a.sh', '+harmless'));
  for (const page of await pages(asked))
    expect(page).toBe(`What it would do: change a file; what that holds now is not known here
  file       │ a.sh
  1 line added, 1 line removed, by the arguments alone
  │ @@ -1,1 +1,1 @@
  │ -ls
  │ +evil`);
});

describe('a write', () => {
  const write = { path: 'a.sh', content: 'one\nevil\n' };

  it('with a diff of its content: as the service says', async () => {
    for (const page of await pages(open('write', write, added('a.sh', '@@ -1,1 +1,2 @@\n one\n+evil'))))
      expect(page).toBe(`What it would do, as the service says: change a file
  file       │ a.sh
  1 line added, 0 lines removed, against the file as it was when this was asked
  │ @@ -1,1 +1,2 @@
  │  one
  │ +evil`);
  });

  it.each<[string, Preview | undefined]>([
    ['none', undefined],
    ['of other content', added('a.sh', '@@ -1,1 +1,2 @@\n one\n+harmless')],
    ['around other content', added('a.sh', '@@ -1,1 +1,2 @@\n harmless\n+evil')],
    ['in another order', added('a.sh', '+evil\n+one')],
    ['of another file', added('b.sh', '+one\n+evil')],
    ['with words of its own', added('a.sh', 'All is well.\n+one\n+evil')],
    ['with words in place of line numbers', added('a.sh', '@@ All is well. @@\n+one\n+evil')],
    [
      'with a lie after its cut',
      {
        ...added('a.sh', ''),
        diff: { head: '+one\n+', left: { lines: 1, characters: 9 }, tail: 'x\n+harmless' },
      } as Preview,
    ],
    ['of another kind', lying],
  ])('with a diff that is not that of its content, as %s: by its arguments', async (_what, preview) => {
    for (const page of await pages(open('write', write, preview)))
      expect(page).toBe(`What it would do: change a file; what that holds now is not known here
  file       │ a.sh
  2 lines added, 0 lines removed, by the arguments alone
  │ +one
  │ +evil`);
  });

  it('of a cut diff, half lines are not shown', async () => {
    const diff = { head: '+one\n+harm', left: { lines: 3, characters: 40 }, tail: 'less\n+evil' };
    expect(await previewHere(open('write', write, { ...added('a.sh', ''), diff } as Preview))).toMatchObject({
      change: 'change',
      diff: { head: '+one', left: { lines: 5, characters: 51 }, tail: '+evil' },
    });
  });

  it('with an honest diff: that one', async () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', '', '+', ' c', '\r', 'x'.repeat(300)), { maxLength: 250 })
      .map((lines) => lines.join('\n'));
    await fc.assert(
      fc.asyncProperty(text, fc.option(text, { nil: undefined }), async (content, before) => {
        const args = { path: 'a', content };
        const sent = await previewOf('write', args, { readText: () => Promise.resolve(before) });
        if (sent?.kind !== 'diff') throw new Error('no diff');
        expect(await previewHere(open('write', args, sent))).toMatchObject({ change: sent.change, added: sent.added });
      }),
      { numRuns: 300 },
    );
  });
});
