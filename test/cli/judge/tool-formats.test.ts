import { describe, expect, it } from 'vitest';
import { formatTools } from '../../../src/cli/judge/tool-formats.ts';

const parameters = {
  type: 'object',
  required: ['path'],
  properties: { path: { type: 'string' } },
  additionalProperties: false,
};
const tool = { name: 'read', label: 'Read file', description: 'Reads.', parameters, tier: 'read_only', effect: 'read' };

describe('tools for a provider', () => {
  it('anthropic: name, description, input_schema', () => {
    expect(formatTools([tool], 'anthropic')).toEqual([
      { name: 'read', description: 'Reads.', input_schema: parameters },
    ]);
  });

  it('openai: a function with parameters', () => {
    expect(formatTools([tool], 'openai')).toEqual([
      { type: 'function', function: { name: 'read', description: 'Reads.', parameters } },
    ]);
  });

  it('gemini: one tool with all declarations, whose schema is JSON Schema', () => {
    expect(formatTools([tool, tool], 'gemini')).toEqual([
      {
        functionDeclarations: [
          { name: 'read', description: 'Reads.', parametersJsonSchema: parameters },
          { name: 'read', description: 'Reads.', parametersJsonSchema: parameters },
        ],
      },
    ]);
  });
});
