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

/** What is wrong in one place of the file. */
export interface Fault {
  offset: number;
  /** JSON pointer; '' for the file as a whole. */
  field: string;
  message: string;
}

/** What one error tells at most. */
const MOST_FAULTS = 10;

/** One error, a line for each fault, in the order of the file; its field is that of the first. */
export function invalid(file: SourceFile, faults: readonly Fault[]): CountersignError {
  const inOrder = faults.toSorted((a, b) => a.offset - b.offset);
  const lines = inOrder
    .slice(0, MOST_FAULTS)
    .map(({ offset, field, message: text }) => `${position(file, offset)}: ${field === '' ? '' : `${field}: `}${text}`);
  const more = inOrder.length - lines.length;
  if (more > 0) lines.push(`and ${more} more`);
  return new CountersignError('invalid_config', lines.join('\n'), { field: inOrder[0]?.field ?? '' });
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

/** What ajv's errors tell, one fault for each place and name. */
export function faultsOf(root: Node, errors: readonly ErrorObject[]): Fault[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf').map(({ instancePath }) => instancePath);
  unions.sort((a, b) => a.length - b.length);
  // Of a union each alternative complains, also of what is below.
  const placeOf = ({ instancePath, params }: ErrorObject): string =>
    unions.find((path) => `${instancePath}/`.startsWith(`${path}/`)) ??
    JSON.stringify([instancePath, params['additionalProperty'], params['missingProperty']]);
  return [...Map.groupBy(errors, placeOf).values()].map((group) => faultOf(root, group));
}

/** By the error that says most: the deepest, and an unknown name before what follows from it. */
function faultOf(root: Node, errors: readonly ErrorObject[]): Fault {
  const deepest = errors.toSorted((a, b) => weight(b) - weight(a))[0];
  if (deepest === undefined) return { offset: 0, field: '', message: 'is not valid' };
  const path = pathOf(deepest.instancePath);
  const extra = unknownName(deepest);
  if (extra === undefined)
    return { offset: nodeAt(root, path).offset, field: pointer(path), message: message(deepest) };
  const property = nodeAt(root, path).children?.find((child) => child.children?.[0]?.value === extra);
  // Each alternative of a union complains of the same name; what any of them would have taken is near enough to be meant.
  const known = errors
    .filter((error) => error.instancePath === deepest.instancePath && unknownName(error) === extra)
    .flatMap((error) => Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {}));
  return {
    offset: property?.offset ?? nodeAt(root, path).offset,
    field: pointer([...path, extra]),
    message: `unknown name ${JSON.stringify(extra)}${didYouMean(extra, known)}`,
  };
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
    const later = instancePath === '/shell/backend' ? ' (containers and remote nodes come in a later version)' : '';
    return `${JSON.stringify(data)} is none of ${allowed.join(', ')}${later}${hint}`;
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
