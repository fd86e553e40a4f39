/** Every command with its options, for completion, the reference page and tests. */
import { Command } from 'commander';
import type { RegisterCommand } from '../options/command.js';

/** The required part of the registry; completion, itself a command, cannot import it. */
export type Commands = Readonly<
  Record<
    string,
    { readonly summary: string; readonly about: string; readonly load: () => Promise<RegisterCommand> }
  >
>;

/** A command and its subcommands. `words` of the command line, like --direct, may determine its options. */
export async function registered(
  commands: Commands,
  name: string,
  words: readonly string[] = [],
): Promise<Command[]> {
  const program = new Command('corella').configureHelp({ visibleCommands: (one) => [...one.commands] });
  const before = process.argv;
  process.argv = [...before.slice(0, 2), name, ...words];
  try {
    (await commands[name].load())(program);
  } finally {
    process.argv = before;
  }
  program.commands[0].description(commands[name].about);
  const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
  return all(program.commands[0]);
}

/** "corella farm submit". */
export const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();

/** All commands, with those that have two sets of options listed twice. */
export const variantsOf = (
  commands: Commands,
): readonly { readonly name: string; readonly words: readonly string[] }[] => [
  ...Object.keys(commands).map((name) => ({ name, words: [] })),
  { name: 'image', words: ['--direct'] },
];
