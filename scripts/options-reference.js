// Writes docs/options.md: every option once, with the commands that have it. With --check: compares it with the
// existing file.
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { commands } from '../dist/cli/commands.js';
import { pathOf, registered, variantsOf } from '../dist/cli/startup/whole-program.js';

const page = new URL('../docs/options.md', import.meta.url).pathname;

/**
 * @typedef {object} Row
 * @property {string} flags
 * @property {string} group
 * @property {Set<string>} helps With its default, for each command.
 * @property {string[]} commands
 */
/**
 * @param {{ readonly defaultValue?: unknown }} option
 * @returns {string | undefined}
 */
const presetOf = ({ defaultValue: value }) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

/** @type {Map<string, Row>} */
const rows = new Map();
for (const { name, words } of variantsOf(commands))
  for (const command of await registered(commands, name, [...words]))
    for (const option of command.options) {
      if (option.hidden) continue;
      const { flags, long = flags, description, defaultValueDescription: chosen } = option;
      const preset = chosen ?? presetOf(option);
      const group = (option.helpGroupHeading ?? 'Options:').replace(/:$/, '');
      /** @type {Row} */
      const row = rows.get(long) ?? { flags, group, helps: new Set(), commands: [] };
      row.helps.add(preset === undefined ? description : `${description} (default: ${preset})`);
      row.commands.push([pathOf(command).replace(/^corella /, ''), ...words].join(' '));
      rows.set(long, row);
    }

/** The default if it is the same in every command. @param {Set<string>} helps */
function helpOf(helps) {
  const [first] = helps;
  return helps.size === 1 ? first : first.replace(/ \(default: .*\)$/s, '');
}
/** @param {string} text */
const inCell = (text) => text.replaceAll('|', '\\|');

const lines = [
  '# Options',
  '',
  'Every option, with the commands that have it. `corella COMMAND --help all` shows those of one command, with its defaults. In an observation file the same things are fields: [observation.md](observation.md).',
  '',
];
for (const group of new Set([...rows.values()].map((row) => row.group))) {
  lines.push(`## ${group}`, '', '| option | what it does | commands |', '| --- | --- | --- |');
  for (const { flags, helps, commands: having } of [...rows.values()].filter((row) => row.group === group))
    lines.push(
      `| \`${inCell(flags)}\` | ${inCell(helpOf(helps)).replaceAll('<', '&lt;')} | ${having.join(', ')} |`,
    );
  lines.push('');
}
const made = await format(lines.join('\n'), { ...(await resolveConfig(page)), parser: 'markdown' });
if (!process.argv.includes('--check')) writeFileSync(page, made);
else if (readFileSync(page, 'utf8') !== made) {
  console.error('docs/options.md is not made from the options as they are now: run npm run options');
  process.exitCode = 1;
}
