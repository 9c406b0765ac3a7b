/** Tools in the form in which each provider's interface takes them. */
import type { JsonObject } from '../../protocol/json.ts';

export const TOOL_FORMATS = ['json', 'anthropic', 'openai', 'gemini'] as const;
export type ToolFormat = (typeof TOOL_FORMATS)[number];

export interface OfferedTool {
  name: string;
  label: string;
  description: string;
  parameters: JsonObject;
  tier: string;
  effect: string;
}

/** What goes into a request's `tools`. */
export function formatTools(tools: readonly OfferedTool[], format: Exclude<ToolFormat, 'json'>): JsonObject[] {
  switch (format) {
    case 'anthropic':
      return tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters }));
    case 'openai':
      return tools.map(({ name, description, parameters }) => ({
        type: 'function',
        function: { name, description, parameters },
      }));
    case 'gemini':
      // `parameters` takes a subset of OpenAPI that knows no additionalProperties; this one takes JSON Schema.
      return [
        {
          functionDeclarations: tools.map(({ name, description, parameters }) => ({
            name,
            description,
            parametersJsonSchema: parameters,
          })),
        },
      ];
  }
}
