// Command lines inside sentences and tables are not run, but their command and options must exist.
import { Command } from 'commander';
import { commands } from '../../dist/cli/commands.js';

/** @returns {Promise<Map<string, Set<string>>>} the options of each command, long and short. */
export async function knownOptions() {
  const program = new Command();
  for (const { load } of Object.values(commands)) (await load())(program);
  return new Map(
    program.commands.map((command) => [
      command.name(),
      new Set([...['--help', '-h'], ...optionsOf(command)]),
    ]),
  );
}

/**
 * Options of a command and its subcommands.
 * @param {Command} command
 * @returns {string[]}
 */
function optionsOf(command) {
  return [
    ...command.options.flatMap(({ long, short }) => [long, short].filter((name) => name !== undefined)),
    ...command.commands.flatMap(optionsOf),
  ];
}

/**
 * @param {string} text
 * @param {Map<string, Set<string>>} known
 * @returns {string[]}
 */
export function inlineFaults(text, known) {
  const prose = text.replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/[^\n]/g, ''));
  return prose.split('\n').flatMap((line, n) =>
    [...line.matchAll(/`corella ([a-z]+)([^`]*)`/g)].flatMap(([, name, rest]) => {
      if (name === 'help') return [];
      const options = known.get(name);
      // `corella gains` may be a word in a file.
      if (!options) return rest === '' ? [] : [`line ${n + 1}: there is no command 'corella ${name}'`];
      return [...rest.matchAll(/(?<=\s)--?[a-z][a-z-]*/g)]
        .map(([option]) => option)
        .filter((option) => !options.has(option))
        .map((option) => `line ${n + 1}: corella ${name} has no ${option}`);
    }),
  );
}
