// Writes the files made from the fields of an observation: its JSON Schema, and the tables of docs/observation.md. With
// --check: compares them with the existing files.
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { fieldReference, observationJsonSchema, supportTable } from '../dist/observation/index.js';

/** @param {string} name */
const inDocs = (name) => new URL(`../docs/${name}`, import.meta.url).pathname;
const schema = inDocs('observation.schema.json');
const page = inDocs('observation.md');
const settings = await resolveConfig(schema);

/**
 * The page with generated text between a pair of marks.
 * @param {string} text
 * @param {string} what
 * @param {string} made
 */
function between(text, what, made) {
  const [begin, end] = [`<!-- ${what}: made by npm run schema -->\n`, `<!-- end of ${what} -->`];
  const [before, rest] = text.split(begin);
  return `${before}${begin}\n${made}\n${end}${rest.split(end)[1]}`;
}
const made = new Map([
  [schema, await format(JSON.stringify(observationJsonSchema()), { ...settings, parser: 'json' })],
  [page, between(between(readFileSync(page, 'utf8'), 'fields', fieldReference()), 'support', supportTable())],
]);

for (const [path, text] of made) {
  if (!process.argv.includes('--check')) writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text) {
    console.error(`${path} is not made from src/observation as it is now: run npm run schema`);
    process.exitCode = 1;
  }
}
