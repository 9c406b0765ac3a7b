/** The form of a file of policy cases. */
import Type from 'typebox';
import { SESSION_KINDS } from '../protocol/session.ts';
import { TIERS } from '../protocol/tool.ts';

const closed = { additionalProperties: false } as const;
const { Optional } = Type;
const text = Type.String({ minLength: 1, maxLength: 1_000 });

export const casesSchema = Type.Array(
  Type.Object(
    {
      name: Optional(text),
      session: Optional(
        Type.Object(
          {
            kind: Optional(Type.Enum([...SESSION_KINDS])),
            agent: Optional(text),
            channel: Optional(Type.Union([text, Type.Null()])),
            provider: Optional(text),
            group: Optional(text),
            owner: Optional(text),
            workspace: Optional(text),
          },
          closed,
        ),
      ),
      tool: text,
      arguments: Type.Record(Type.String(), Type.Unknown()),
      expect: Type.Object(
        {
          verdict: Type.Enum(['run', 'ask', 'deny', 'invalid']),
          rule: Optional(text),
          tier: Optional(Type.Enum([...TIERS])),
          code: Optional(text),
        },
        closed,
      ),
    },
    closed,
  ),
);
