/** Types that authors of tools rely on; checked by tsc, never run. */
import { Type } from 'typebox';
import { defineTool, type Tool } from '../../src/tools/define-tool.ts';
import type { FileReader, ToolContext } from '../../src/tools/tool-context.ts';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const proves = <_T extends true>(): void => undefined;

const tool = defineTool({
  name: 'example',
  label: 'Example',
  description: '',
  parameters: Type.Object({
    path: Type.String(),
    limit: Type.Optional(Type.Integer()),
    mode: Type.Union([Type.Literal('a'), Type.Literal('b')]),
  }),
  tier: 'read_only',
  effect: 'read',
  limits: { timeoutMs: 1, maxTries: 1, backoffMs: 1, maxBackoffMs: 1 },
  groups: [],
  needs: ['files'],
  version: 1,
  subjects: (args) => [{ kind: 'path', argument: 'path', path: args.path, access: 'read' }],
  summary: ({ path }) => path,
  async execute(args, context) {
    proves<Equal<typeof args.path, string>>();
    proves<Equal<typeof args.limit, number | undefined>>();
    proves<Equal<typeof args.mode, 'a' | 'b'>>();
    // What the tool needs is there; what it did not ask for may be missing.
    proves<Equal<typeof context.files, FileReader>>();
    proves<Equal<typeof context.writer, ToolContext['writer']>>();
    // @ts-expect-error -- no such argument
    void args.nothing;
    // @ts-expect-error -- not asked for, so perhaps missing
    void context.shell.run;
    return { output: null };
  },
});

export const forgotten: Tool = tool;

defineTool({
  ...tool,
  // @ts-expect-error -- no such handle
  needs: ['network-of-dreams'],
});
