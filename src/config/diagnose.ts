/** Where in the file something is wrong, and what was probably meant. */
import { findNodeAtLocation, type Node } from 'jsonc-parser';
import type { ErrorObject } from 'ajv';
import { nearestNames } from '../tools/index.ts';
import { CountersignError } from '../protocol/errors.ts';

export interface SourceFile {
  name: string;
  text: string;
}

/** `file:line:column`, counted from 1. */
export function position({ name, text }: SourceFile, offset: number): string {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return `${name}:${before.length}:${(before.at(-1) ?? '').length + 1}`;
}

export const pointer = (path: readonly (string | number)[]): string =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const pathOf = (jsonPointer: string): string[] =>
  jsonPointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

export function invalid(file: SourceFile, offset: number, field: string, message: string): CountersignError {
  return new CountersignError(
    'invalid_config',
    `${position(file, offset)}: ${field === '' ? '' : `${field}: `}${message}`,
    { field },
  );
}

/** The node at a path; where there is none, the nearest one above it. */
export function nodeAt(root: Node, path: readonly (string | number)[]): Node {
  for (let length = path.length; length > 0; length -= 1) {
    const parts = path.slice(0, length).map(toIndex);
    const node = findNodeAtLocation(root, parts);
    if (node !== undefined) return node;
  }
  return root;
}

const toIndex = (part: string | number): string | number =>
  typeof part === 'string' && /^\d+$/.test(part) ? Number(part) : part;

/** The error of ajv's list that says most: the deepest, and an unknown name before what follows from it. */
export function fromAjv(file: SourceFile, root: Node, errors: readonly ErrorObject[]): CountersignError {
  const deepest = [...errors].sort((a, b) => weight(b) - weight(a))[0];
  if (deepest === undefined) return invalid(file, 0, '', 'is not valid');
  const path = pathOf(deepest.instancePath);
  const extra = unknownName(deepest);
  if (extra === undefined) return invalid(file, nodeAt(root, path).offset, pointer(path), message(deepest));
  const property = nodeAt(root, path).children?.find((child) => child.children?.[0]?.value === extra);
  // Each alternative of a union complains of the same name; what any of them would have taken is near enough to be meant.
  const known = errors
    .filter((error) => error.instancePath === deepest.instancePath && unknownName(error) === extra)
    .flatMap((error) => Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {}));
  const text = `unknown name ${JSON.stringify(extra)}${didYouMean(extra, known)}`;
  return invalid(file, property?.offset ?? nodeAt(root, path).offset, pointer([...path, extra]), text);
}

const unknownName = ({ keyword, params }: ErrorObject): string | undefined => {
  const name: unknown = keyword === 'additionalProperties' ? params['additionalProperty'] : undefined;
  return typeof name === 'string' ? name : undefined;
};

const weight = (error: ErrorObject): number =>
  error.instancePath.split('/').length * 10 +
  (error.keyword === 'additionalProperties' ? 5 : error.keyword === 'anyOf' ? 1 : 3);

function message({ keyword, params, message: text = 'is not valid', data, instancePath }: ErrorObject): string {
  if (keyword === 'enum' && Array.isArray(params['allowedValues'])) {
    const allowed = params['allowedValues'].map(String);
    const hint = typeof data === 'string' ? didYouMean(data, allowed) : '';
    const later = instancePath === '/shell/backend' ? '; containers and remote nodes come in a later version' : '';
    return `${JSON.stringify(data)} is none of ${allowed.join(', ')}${hint}${later}`;
  }
  if (keyword === 'anyOf') return 'must have exactly one of exact, glob, host, under';
  if (keyword === 'pattern')
    return `${JSON.stringify(data)} does not have the right form (${String(params['pattern'])})`;
  return text;
}

/** `; did you mean "x"?` where a known name is near, else nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  const [near] = nearestNames(name, [...new Set(known)]);
  return near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`;
}
