/** Limits on tools and on arguments, as errors that say which and where. */
import type { Json, JsonObject } from '../protocol/json.ts';

export interface ToolLimitSettings {
  /** Parameters of one tool. */
  parameters: number;
  /** Nesting of its schema. */
  schemaDepth: number;
}

export interface ArgumentLimitSettings {
  arrayItems: number;
  /** Bytes of UTF-8. */
  stringBytes: number;
  argumentDepth: number;
}

/** What is over a limit. `field` is a JSON pointer into what was checked. */
export interface LimitProblem {
  field: string;
  message: string;
}

/** Checks a tool's parameter schema. Undefined when it is within the limits. */
export function toolOverLimit(name: string, schema: object, limits: ToolLimitSettings): LimitProblem | undefined {
  const count = Object.keys(record(record(schema)?.['properties']) ?? {}).length;
  if (count > limits.parameters) {
    return {
      field: '/properties',
      message: `${name} has ${count} parameters; at most ${limits.parameters} are allowed (limits.parameters)`,
    };
  }
  const depth = schemaDepth(schema);
  if (depth <= limits.schemaDepth) return undefined;
  return {
    field: '',
    message: `the schema of ${name} is ${depth} levels deep; at most ${limits.schemaDepth} are allowed (limits.schemaDepth)`,
  };
}

const record = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;

/** Levels of values that a schema describes: 1 for an object of plain values. Past 64 it is as good as without end. */
function schemaDepth(schema: unknown, level = 1): number {
  const node = record(schema);
  if (node === undefined || level > 64) return level - 1;
  const below = [
    ...Object.values(record(node['properties']) ?? {}),
    ...Object.values(record(node['patternProperties']) ?? {}),
    node['items'],
    node['additionalProperties'],
  ];
  const besides = ['anyOf', 'oneOf', 'allOf'].flatMap((key) =>
    Array.isArray(node[key]) ? (node[key] as unknown[]) : [],
  );
  const nests = below.filter((one) => isContainer(one)).map((one) => schemaDepth(one, level + 1));
  return Math.max(level, ...nests, ...besides.map((one) => schemaDepth(one, level)));
}

function isContainer(schema: unknown): boolean {
  const node = record(schema);
  return (
    node !== undefined &&
    ['properties', 'items', 'patternProperties', 'anyOf', 'oneOf', 'allOf'].some((key) => Object.hasOwn(node, key))
  );
}

/** Checks a call's arguments. Undefined when they are within the limits. */
export function argumentsOverLimit(args: JsonObject, limits: ArgumentLimitSettings): LimitProblem | undefined {
  const visit = (value: Json, field: string, depth: number): LimitProblem | undefined => {
    if (typeof value === 'string') return textOverLimit(value, field, limits.stringBytes);
    if (typeof value !== 'object' || value === null) return undefined;
    if (depth > limits.argumentDepth) {
      return {
        field,
        message: `arguments are nested deeper than ${limits.argumentDepth} levels (limits.argumentDepth)`,
      };
    }
    if (Array.isArray(value) && value.length > limits.arrayItems) {
      return {
        field,
        message: `a list of ${value.length} elements; at most ${limits.arrayItems} are allowed (limits.arrayItems)`,
      };
    }
    for (const [key, one] of Object.entries(value)) {
      const found = visit(one, `${field}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return visit(args, '', 1);
}

function textOverLimit(text: string, field: string, limit: number): LimitProblem | undefined {
  const bytes = text.length > limit / 3 ? Buffer.byteLength(text) : 0;
  return bytes > limit
    ? { field, message: `a text of ${bytes} bytes; at most ${limit} are allowed (limits.stringBytes)` }
    : undefined;
}
