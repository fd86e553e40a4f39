// Writes the tables of messages and errors of docs/json.md; those of the commands above them are written by hand, and a
// test holds them to what is printed. With --check: compares them with what is there.
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { explained } from '../dist/messages/index.js';

const page = new URL('../docs/json.md', import.meta.url).pathname;

/** @param {string} text */
const inCell = (text) => text.replaceAll('|', '\\|');

const there = readFileSync(page, 'utf8');
const lines = [there.slice(0, there.indexOf('## Messages\n'))];

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
else if (there !== made) {
  console.error('the messages of docs/json.md are not as declared now: run npm run json');
  process.exitCode = 1;
}
