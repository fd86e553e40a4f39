// Writes the JSON Schema of observation files, or with --check compares it with the one that is there.
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { observationJsonSchema } from '../dist/observation/index.js';

const path = new URL('../docs/observation.schema.json', import.meta.url).pathname;
const settings = await resolveConfig(path);
const text = await format(JSON.stringify(observationJsonSchema()), { ...settings, parser: 'json' });

if (!process.argv.includes('--check')) writeFileSync(path, text);
else if (readFileSync(path, 'utf8') !== text) {
  console.error('docs/observation.schema.json is not that of src/observation: run npm run schema');
  process.exitCode = 1;
}
