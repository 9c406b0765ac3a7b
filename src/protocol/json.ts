/** What JSON can say. Everything that crosses a workflow's border is made of this. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether two values are the same JSON, in their canonical form (RFC 8785): the order of keys does not count. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [ours, theirs] = [Object.entries(a), new Map<string, unknown>(Object.entries(b))];
  return (
    ours.length === theirs.size && ours.every(([key, value]) => theirs.has(key) && isSameJson(value, theirs.get(key)))
  );
}
