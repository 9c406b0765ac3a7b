/** What can be asked of the benchmark. */
import { parseArgs } from 'node:util';

export interface Options {
  json: boolean;
  /** With the rows of 10,000 calls. */
  soak: boolean;
  /** Parts to run; all where absent. */
  only?: readonly string[];
  /** File to draw the picture into. */
  picture?: string;
}

export const USAGE = `npm run bench [-- OPTIONS]

Measures Countersign against the least that Temporal can be asked to do, on this machine, in about five minutes.

  --json           print one JSON object instead of tables
  --soak           also the rows with 10,000 calls (about forty minutes)
  --only A,B       only these parts: %PARTS%
  --picture FILE   draw the main rows as SVG
  --help`;

/** Throws TypeError for options that do not exist. */
export function parseOptions(args: string[], parts: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: 'boolean', default: false },
      soak: { type: 'boolean', default: false },
      only: { type: 'string' },
      picture: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const only = values.only?.split(',');
  const unknown = only?.find((name) => !parts.includes(name));
  if (unknown !== undefined) throw new TypeError(`There is no part ${unknown}. Parts: ${parts.join(', ')}`);
  const { json, soak, picture } = values;
  return { json, soak, ...(only && { only }), ...(picture !== undefined && { picture }) };
}
