/** Reads the configuration file. */
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { PolicyCase } from '../policy/cases.ts';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type Node, type ParseError, getNodeValue, parseTree, printParseErrorCode } from 'jsonc-parser';
import { isErrno } from '../common/errno.ts';
import { CountersignError } from '../protocol/errors.ts';
import { CONFIG_FILE } from '../protocol/names.ts';
import { compileRules, hashOf, type Rules } from '../policy/rules.ts';
import { type Config, withDefaults } from './defaults.ts';
import { faultsOf, invalid, nodeAt, pointer, type SourceFile } from './diagnose.ts';
import { deafRules } from './deaf-rules.ts';
import { type KnownTool, conflicts, unknownNames } from './names.ts';
import { notifierProblems } from './notifiers.ts';
import { casesSchema } from './cases-schema.ts';
import { type ConfigFile, configSchema } from './schema.ts';
import { wideGlobs } from './wide-globs.ts';

export interface LoadedConfig {
  config: Config;
  rules: Rules;
  /** Absolute path of the file; absent when there is none and the defaults hold. */
  path?: string;
  /** `sha256:` of the whole configuration, whatever its layout and comments. */
  hash: string;
}

const ajv = new Ajv2020({ allErrors: true, verbose: true, strict: true, allowUnionTypes: true });
const validateConfig = ajv.compile<ConfigFile>(configSchema);
const validateCases = ajv.compile<PolicyCase[]>(casesSchema);

/**
 * Reads `path`, or `countersign.config.jsonc` in the working folder, or (when that does not exist) takes the defaults.
 * Throws `invalid_config` with `file:line:column`, a JSON pointer and the nearest known name, a line for each of the first ten faults.
 */
export async function loadConfig(path?: string, tools?: readonly KnownTool[]): Promise<LoadedConfig> {
  const file = resolve(path ?? CONFIG_FILE);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (path === undefined && isErrno(error, 'ENOENT')) return loaded({});
    const why = error instanceof Error ? error.message : String(error);
    throw new CountersignError('invalid_config', `${file}: cannot be read: ${why}`, { cause: error });
  }
  return { ...parseConfig(text, path ?? CONFIG_FILE, tools), path: file };
}

/**
 * The file that is given, or the first of `folders` that has a `countersign.config.jsonc`, or the defaults. A folder of that name is none: the sandbox
 * holds the name with one while a command runs.
 * `tools`: those that rules may name, where they are not the built-in ones alone.
 */
export async function findConfig(
  given: string | undefined,
  folders: readonly string[],
  tools?: readonly KnownTool[],
): Promise<LoadedConfig> {
  if (given !== undefined) return loadConfig(given, tools);
  const there = folders
    .map((folder) => join(folder, CONFIG_FILE))
    .find((file) => statSync(file, { throwIfNoEntry: false })?.isDirectory() === false);
  return there === undefined ? loaded({}) : loadConfig(there, tools);
}

/** The configuration in a text. `fileName` is for messages only. Throws `invalid_config` as {@link loadConfig} does. */
export function parseConfig(text: string, fileName: string, tools?: readonly KnownTool[]): LoadedConfig {
  const { value, root, file } = readJsonc(text, fileName, validateConfig);
  const problems = [
    ...unknownNames(value, tools),
    ...deafRules(value, tools),
    ...wideGlobs(value),
    ...conflicts(value),
    ...notifierProblems(value),
  ];
  if (problems.length > 0)
    throw invalid(
      file,
      problems.map(({ path, message }) => ({ offset: nodeAt(root, path).offset, field: pointer(path), message })),
    );
  return loaded(value);
}

/** Cases for `countersign policy test`: JSON with comments, a list. Throws `invalid_config` as {@link loadConfig} does. */
export const parseCases = (text: string, fileName: string): PolicyCase[] =>
  readJsonc(text, fileName, validateCases).value;

/** A text that must be JSON with comments of a certain form. */
function readJsonc<Value>(
  text: string,
  name: string,
  validate: ValidateFunction<Value>,
): { value: Value; root: Node; file: SourceFile } {
  const file: SourceFile = { name, text: text.replace(/^\uFEFF/, '') };
  const root = parseSource(file);
  const value: unknown = getNodeValue(root);
  if (!validate(value)) throw invalid(file, faultsOf(root, validate.errors ?? []));
  return { value, root, file };
}

function loaded(file: ConfigFile): LoadedConfig {
  const config = withDefaults(file);
  return { config, rules: compileRules(config), hash: hashOf(config) };
}

function parseSource(file: SourceFile): Node {
  const errors: ParseError[] = [];
  const root = parseTree(file.text, errors, { allowTrailingComma: true });
  const [first] = errors;
  const wrong = (offset: number, message: string): CountersignError => invalid(file, [{ offset, field: '', message }]);
  if (first !== undefined)
    throw wrong(first.offset, `is not valid JSON with comments (${printParseErrorCode(first.error)})`);
  if (root === undefined) throw wrong(0, 'is empty; {} is the smallest configuration');
  const twice = repeatedName(root);
  if (twice?.value === '__proto__') throw wrong(twice.offset, 'the name "__proto__" is not allowed');
  if (twice !== undefined)
    throw wrong(
      twice.offset,
      `the name ${JSON.stringify(twice.value)} stands here twice; one of them would be ignored`,
    );
  return root;
}

/** A property name that its object has already: JSON parsers silently keep one, and it may be the laxer. */
function repeatedName(node: Node): Node | undefined {
  const seen = new Set<unknown>();
  for (const child of node.children ?? []) {
    const name = node.type === 'object' ? child.children?.[0] : undefined;
    if (name !== undefined && (seen.has(name.value) || name.value === '__proto__')) return name;
    if (name !== undefined) seen.add(name.value);
    const below = repeatedName(child);
    if (below !== undefined) return below;
  }
  return undefined;
}
