/** Arguments as they came from a model → arguments that a tool may be given, or the error that tells the model what to change. */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { ERRORS, type ErrorCode } from '../protocol/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts';
import { LIMITS } from '../protocol/limits.ts';
import type { CallError } from '../protocol/outcome.ts';
import { nearestNames } from './catalogue.ts';
import type { Tool } from './define-tool.ts';

export type Validated = { ok: true; arguments: JsonObject } | { ok: false; error: CallError };

/**
 * Checks form (plain JSON, no prototype keys, depth, size), then the tool's schema, then its own `check`. Types are never coerced;
 * defaults are filled in on a copy. Never throws. Quick: a few microseconds once the tool's schema is compiled.
 */
export function validateArguments(tool: Tool, raw: unknown): Validated {
  try {
    const form = copyJson(raw);
    if (form.problem !== undefined) return refuse(tool, form.code, form.problem, form.field);
    const copy = form.value;
    if (!isJsonObject(copy))
      return refuse(tool, 'invalid_arguments', `arguments must be an object, as {${exampleOf(tool)}}`, '');
    const check = validatorOf(tool);
    if (!check(copy)) {
      const { field, message } = explainAll(tool, copy, check.errors ?? []);
      return refuse(tool, 'invalid_arguments', message, field);
    }
    const wrong = tool.check?.(copy);
    if (wrong !== undefined) return refuse(tool, 'invalid_arguments', wrong.message, wrong.field);
    return { ok: true, arguments: copy };
  } catch (error) {
    // A getter or proxy that throws is no JSON, whatever it throws.
    return refuse(
      tool,
      'invalid_arguments',
      `arguments could not be read as JSON: ${error instanceof Error ? error.message : 'unknown error'}`,
      '',
    );
  }
}

const OPTIONS = { strict: false, useDefaults: true, coerceTypes: false, verbose: false, logger: false } as const;

/** The tool's validator, compiled once. */
function compiledBy(ajv: Ajv): (tool: Tool) => ValidateFunction {
  const validators = new WeakMap<Tool, ValidateFunction>();
  return (tool) => {
    let validator = validators.get(tool);
    if (validator === undefined) {
      validator = ajv.compile(tool.parameters);
      validators.set(tool, validator);
    }
    return validator;
  };
}

/** Stops at the first error: most arguments have none. */
const validatorOf = compiledBy(new Ajv({ ...OPTIONS, allErrors: false }));
const thoroughValidatorOf = compiledBy(new Ajv({ ...OPTIONS, allErrors: true }));

/** The tool's schema as plain JSON, for models to read. */
export const schemaOf = (tool: Tool): JsonObject => JSON.parse(JSON.stringify(tool.parameters)) as JsonObject;

function refuse(tool: Tool, code: ErrorCode, message: string, field: string | undefined): Validated {
  const error: CallError = { kind: ERRORS[code], code, message: `${tool.name}: ${message}`, schema: schemaOf(tool) };
  if (field !== undefined) error.field = field;
  return { ok: false, error };
}

// Form: one walk that copies, so that nothing the caller keeps hold of is changed by defaults.

type Form = { value: Json; problem?: undefined } | { code: ErrorCode; problem: string; field: string };

/** Names that reach an object's prototype in careless code further on. */
const PROTOTYPE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

class FormError extends Error {
  readonly code: ErrorCode;
  readonly field: string;
  constructor(code: ErrorCode, message: string, path: readonly (string | number)[]) {
    super(message);
    this.code = code;
    this.field = pointer(path);
  }
}

function copyJson(raw: unknown): Form {
  const path: (string | number)[] = [];
  let bytes = 0;
  const spend = (amount: number): void => {
    bytes += amount;
    if (bytes > LIMITS.argumentBytes) {
      throw new FormError(
        'arguments_too_large',
        `arguments are larger than ${LIMITS.argumentBytes / 1024} KB as JSON; write long content to a file in parts`,
        [],
      );
    }
  };
  const text = (value: string): string => {
    if (value.length > LIMITS.argumentBytes) spend(value.length);
    if (!value.isWellFormed())
      throw new FormError(
        'invalid_arguments',
        'text holds half of a surrogate pair, which is no character; leave it out',
        path,
      );
    spend(Buffer.byteLength(JSON.stringify(value)));
    return value;
  };
  const copy = (value: unknown, depth: number): Json => {
    if (value === null || typeof value === 'boolean') return (spend(5), value);
    if (typeof value === 'string') return text(value);
    if (typeof value === 'number') {
      if (!Number.isFinite(value)) throw new FormError('invalid_arguments', `${value} is no JSON number`, path);
      spend(String(value).length);
      return value;
    }
    if (typeof value !== 'object')
      throw new FormError('invalid_arguments', `a value of type ${typeof value} is no JSON`, path);
    if (depth >= LIMITS.argumentDepth)
      throw new FormError('invalid_arguments', `arguments are nested deeper than ${LIMITS.argumentDepth} levels`, path);
    spend(2);
    return Array.isArray(value) ? copyArray(value, depth) : copyObject(value, depth);
  };
  const copyArray = (value: readonly unknown[], depth: number): Json[] => {
    // A sparse array may claim any length; each element costs at least two bytes of JSON.
    if (value.length * 2 > LIMITS.argumentBytes) spend(value.length * 2);
    const result: Json[] = [];
    for (let i = 0; i < value.length; i += 1) {
      path.push(i);
      spend(1);
      result.push(copy(value[i], depth + 1));
      path.pop();
    }
    return result;
  };
  const copyObject = (value: object, depth: number): JsonObject => {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
      throw new FormError('invalid_arguments', 'an object with a class is no JSON', path);
    const result: JsonObject = {};
    for (const [key, member] of Object.entries(value)) {
      path.push(key);
      if (PROTOTYPE_KEYS.has(key))
        throw new FormError('invalid_arguments', `"${key}" is not allowed as a name anywhere in arguments`, path);
      text(key);
      spend(2);
      result[key] = copy(member, depth + 1);
      path.pop();
    }
    return result;
  };
  try {
    return { value: copy(raw, 0) };
  } catch (error) {
    if (!(error instanceof FormError)) throw error;
    return { code: error.code, problem: error.message, field: error.field };
  }
}

/** RFC 6901. */
const pointer = (path: readonly (string | number)[]): string =>
  path.map((part) => `/${String(part).slice(0, 200).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

// What ajv says → what the model should do.

interface Explained {
  field: string;
  message: string;
  /** Another field that the message speaks of. */
  about?: string;
}

/** So many errors are named at once: a call is corrected twice at most. */
const NAMED = 5;
/** Whoever sends more arguments than this made no slip: looking for all that is wrong would only take time. */
const MANY = 100;

/** The first error, and behind it those in other fields. */
function explainAll(tool: Tool, args: JsonObject, [first]: readonly ErrorObject[]): Explained {
  if (first === undefined) return { field: '', message: 'arguments do not fit the schema' };
  const said = explain(tool, args, first);
  if (Object.keys(args).length > MANY) return said;
  const named = [said];
  const check = thoroughValidatorOf(tool);
  const errors = check(args) ? [] : (check.errors ?? []);
  // Of alternatives, each says what it lacks, though one is enough.
  const others = errors.some(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf') ? [] : errors;
  for (const error of others.slice(0, 4 * NAMED)) {
    const one = explain(tool, args, error);
    const isSaid = named.some(({ field, about }) => one.field === field || one.field === about);
    if (named.length < NAMED && !isSaid) named.push(one);
  }
  return { field: said.field, message: named.map(({ message }) => message).join('; also: ') };
}

function explain(tool: Tool, args: JsonObject, error: ErrorObject): Explained {
  const { instancePath, params } = error as ErrorObject<string, Record<string, unknown>>;
  switch (error.keyword) {
    case 'additionalProperties': {
      const name = String(params['additionalProperty']).slice(0, 100);
      const known = knownProperties(tool, instancePath);
      const [nearest] = nearestNames(name, known);
      const hint = nearest === undefined ? `known: ${known.join(', ')}` : `did you mean "${nearest}"?`;
      return { field: `${instancePath}${pointer([name])}`, message: `there is no argument "${name}"; ${hint}` };
    }
    case 'required': {
      const name = String(params['missingProperty']);
      const similar = Object.keys(args).filter(
        (key) => nearestNames(key, [name]).length > 0 && !knownProperties(tool, '').includes(key),
      );
      const field = `${instancePath}${pointer([name])}`;
      const message = `"${name}" is required`;
      if (similar[0] === undefined) return { field, message };
      return { field, message: `${message}; rename "${similar[0]}"`, about: pointer([similar[0]]) };
    }
    case 'type':
      return {
        field: instancePath,
        message: `${label(instancePath)} must be ${String(params['type'])}, not ${typeName(valueAt(args, instancePath))}; values are not converted`,
      };
    case 'enum':
    case 'const':
      return {
        field: instancePath,
        message: `${label(instancePath)} must be ${[params['allowedValues'] ?? params['allowedValue']]
          .flat()
          .map((v) => JSON.stringify(v))
          .join(' or ')}`,
      };
    default:
      return { field: instancePath, message: `${label(instancePath)} ${error.message ?? 'does not fit the schema'}` };
  }
}

const label = (path: string): string => (path === '' ? 'arguments' : `"${path.slice(1)}"`);

const typeName = (value: Json | undefined): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
};

function valueAt(args: Json, path: string): Json | undefined {
  let value: Json | undefined = args;
  for (const part of path.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) value = value[Number(key)];
    else if (value !== undefined && isJsonObject(value) && Object.hasOwn(value, key)) value = value[key];
    else return undefined;
  }
  return value;
}

function knownProperties(tool: Tool, path: string): string[] {
  // Nested objects of unknown names are rare; their own keys are in the schema that goes with the error.
  return path === '' ? Object.keys(tool.parameters.properties) : [];
}

const exampleOf = (tool: Tool): string =>
  Object.keys(tool.parameters.properties)
    .slice(0, 2)
    .map((name) => `"${name}": …`)
    .join(', ');
