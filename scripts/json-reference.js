// Writes docs/json.md: what every command prints with --json, and every message. With --check: compares it with the
// existing file.
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { explained, jsonDocuments } from '../dist/messages/index.js';
import { inFlags } from '../dist/observation/flags.js';

const page = new URL('../docs/json.md', import.meta.url).pathname;

/** @param {string} text */
const inCell = (text) => inFlags(text).replaceAll('|', '\\|');

/** @param {Readonly<Record<string, import('../dist/messages/documents.js').JsonField>>} fields */
const table = (fields) => [
  '| field | when | what |',
  '| --- | --- | --- |',
  ...Object.entries(fields).map(([name, field]) => {
    const [when, what] = typeof field === 'string' ? ['', field] : field;
    return `| \`${name}\` | ${inCell(when)} | ${inCell(what)} |`;
  }),
  '',
];

const lines = [
  '# JSON for machines',
  '',
  'With `--json` a command prints one JSON document on standard output and nothing else there; progress stays on standard error. `live` prints one object a line as things happen. This page is made from the declarations in `src/messages`.',
  '',
  '**Version.** Every document has `"jsonVersion": 1`. The number goes up when a field is removed or changes its meaning; new fields may come at any time, so readers ignore what they do not know. A test compares these tables with what is printed, field by field; fields within fields are in words.',
  '',
  '**Messages.** Every document has `messages`: notes and warnings beside the result, of each its `code`, `severity` (`note`, `warning`, `error`), `data`, and its `text` in English. Programs act on code and data; the text may change. `corella help CODE` explains a code, and [all of them](#messages) are listed below.',
  '',
  '**Errors.** Where a command refuses or fails, the document has',
  '',
  ...table({
    jsonVersion: '1',
    error:
      '`code` ([errors](#errors)), `message`, the line on standard error; `where`, `what` and `fix` apart, where they are known',
  }),
  'and the exit code is 1 (of `compare` 2: its 1 means that files differ). Exit code 2 means that the result is there, in the document, and something that was asked for is not in it; messages of severity `error` say what.',
  '',
  '**Conventions.** Units are in the name: `…Hz`, `…S` (seconds), `…Deg`, `…Jy`, `…Db`, `…Bytes`; times end in `Utc` and are ISO 8601. What JSON cannot hold (NaN) is `null`. `seconds` is how long the work took. The tables leave `jsonVersion` and `messages` out, and of `live` the `event` and `at`, when it was printed (UTC).',
  '',
];
for (const { of, about, fields, rows } of jsonDocuments) {
  lines.push(`## corella ${of}`, '');
  if (about) lines.push(about, '');
  if (Object.keys(fields).length > 0) lines.push(...table(fields));
  if (rows) lines.push(rows.about, '', ...table(rows.fields));
}

/** @param {readonly import('../dist/messages/index.js').Explained[]} all */
const messageTable = (all) => [
  '| code | severity | what it means | data |',
  '| --- | --- | --- | --- |',
  ...all.map(({ code, severity, data, help }) => {
    const fields = Object.entries(data).map(([name, what]) => `\`${name}\`: ${what}`);
    return `| \`${code}\` | ${severity} | ${inCell(help)} | ${inCell(fields.join('; '))} |`;
  }),
  '',
];
const isError = (/** @type {import('../dist/messages/index.js').Explained} */ { kind }) => kind === 'error';
lines.push('## Messages', '', ...messageTable(explained.filter((one) => !isError(one))));
lines.push(
  '## Errors',
  '',
  'The fields of an error are those above.',
  '',
  '| code | what it means |',
  '| --- | --- |',
  ...explained.filter(isError).map(({ code, help }) => `| \`${code}\` | ${inCell(help)} |`),
  '',
);
const made = await format(lines.join('\n'), { ...(await resolveConfig(page)), parser: 'markdown' });
if (!process.argv.includes('--check')) writeFileSync(page, made);
else if (readFileSync(page, 'utf8') !== made) {
  console.error('docs/json.md is not made from the declarations as they are now: run npm run json');
  process.exitCode = 1;
}
