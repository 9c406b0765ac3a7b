/** Writes countersign.config.schema.json from the schema that files are checked by: `node src/config/publish.ts`. */
import { writeFileSync } from 'node:fs';
import { configSchema } from './schema.ts';

/** What the published file contains. */
export function publishedSchema(): string {
  return `${JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...configSchema }, undefined, 2)}\n`;
}

if (import.meta.main)
  writeFileSync(new URL('../../countersign.config.schema.json', import.meta.url), publishedSchema());
