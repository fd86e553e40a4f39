/** Help of a command: the most used options on one screen, and with --help all every option by group. */
import { Help, type Command, type Option } from 'commander';

export const HELP_OPTION = ['-h, --help [all]', 'show help; all: every option, by group'] as const;

/** A command line without "corella", and what it does. */
export type Example = readonly [line: string, what: string];

export interface CommandHelp {
  /** Options of the short help, in its order: "--out". All if absent. */
  readonly common?: readonly string[];
  /** The short help shows the first three. */
  readonly examples: readonly Example[];
}

const SHORT_EXAMPLES = 3;
const helps = new WeakMap<Command, CommandHelp>();

/** Called after the options of a command are declared. */
export function addHelp(command: Command, help: CommandHelp): Command {
  for (const name of help.common ?? [])
    if (!command.options.some(({ long }) => long === name))
      throw new Error(`${command.name()}: ${name} is not one of its options`);
  helps.set(command, help);
  return command;
}

/** For commander's configureHelp. */
export const formatHelp = (command: Command, helper: Help): string =>
  asksForAll(process.argv.slice(2)) ? fullHelp(command, helper) : shortHelp(command, helper);

/** --help all, or help COMMAND all. */
const asksForAll = (words: readonly string[]): boolean =>
  words.some((word, k) => ['-h', '--help'].includes(word) && words[k + 1] === 'all') ||
  (words[0] === 'help' && words.length > 2 && words.at(-1) === 'all');

export function fullHelp(command: Command, helper: Help): string {
  const { examples = [] } = helps.get(command) ?? {};
  return Help.prototype.formatHelp.call(helper, command, helper) + exampleText(examples);
}

/** At most 40 lines of 80 columns, which a test checks. */
export function shortHelp(command: Command, helper: Help): string {
  const own = helps.get(command);
  if (!own) return Help.prototype.formatHelp.call(helper, command, helper);
  const byName = new Map(command.options.map((option) => [option.long, option]));
  const common = own.common?.map((name) => byName.get(name)).filter((option) => option !== undefined);
  const shown = common ?? command.options.filter(({ hidden }) => !hidden);
  const short = Object.assign(Object.create(helper) as Help, {
    visibleOptions: () => [...shown],
    optionDescription: (option: Option) => brief(Help.prototype.optionDescription.call(helper, option)),
    groupItems: <Item>(unsorted: readonly Item[], visible: readonly Item[]) =>
      new Map(
        visible.length === 0
          ? []
          : [[unsorted === (command.options as readonly unknown[]) ? 'Options:' : 'Commands:', [...visible]]],
      ),
  });
  return (
    Help.prototype.formatHelp.call(short, command, short) +
    exampleText(own.examples.slice(0, SHORT_EXAMPLES)) +
    `\n${pathOf(command)} --help all shows every option and example.\n`
  );
}

/** The first clause of a text, and of its default. */
function brief(text: string): string {
  const [, all, preset] = /^(.*?)(?: \(default: (.*)\))?$/s.exec(text) as unknown as [
    string,
    string,
    string?,
  ];
  return firstClause(all) + (preset === undefined ? '' : ` (default: ${firstClause(preset)})`);
}

/** Up to the first semicolon outside brackets. */
const firstClause = (text: string): string => /^(?:\([^)]*\)|[^;(])*/.exec(text)?.[0] ?? text;

const exampleText = (examples: readonly Example[]): string =>
  examples.length === 0
    ? ''
    : `\nExamples:\n${examples.map(([line, what]) => `  $ corella ${line}\n      ${what}\n`).join('')}`;

const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
