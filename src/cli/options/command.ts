/** What all commands share: a way to join the program, common options, examples under every --help. */
import { Option, type Command } from 'commander';
import { backendChoices, type BackendChoice } from '../../core/backend-kinds.js';
import { CorellaError, refuse } from '../../core/errors.js';
import { HELP_OPTION } from '../startup/help-option.js';
import { isUnit } from './quantity.js';

/** One file per command exports one of these; commands.ts lists them. */
export type RegisterCommand = (program: Command) => void;

export interface CommonOptions {
  readonly json?: true;
  readonly quiet?: true;
}

export interface BackendOptions extends CommonOptions {
  readonly backend: BackendChoice;
  readonly threads?: number;
}

/** Of `openBackend`: threads where they were asked for. */
export const threadsOf = ({ threads }: Pick<BackendOptions, 'threads'>): { readonly threads?: number } =>
  threads === undefined ? {} : { threads };

/** An option whose default --help tells in the user's words. */
export const optionWith = <Value>(
  flags: string,
  description: string,
  parse: (text: string, before: Value) => Value,
  preset: { readonly value: Value; readonly words: string },
): Option => new Option(flags, description).argParser(parse).default(preset.value, preset.words);

/** What a parser refuses without knowing for which option is told with the option's name. */
export function nameOptionsInErrors(command: Command): void {
  command.commands.forEach(nameOptionsInErrors);
  for (const option of command.options) {
    const { parseArg } = option;
    if (!parseArg) continue;
    option.argParser((text: string, before: unknown): unknown => {
      try {
        return parseArg(text, before);
      } catch (error) {
        if (error instanceof CorellaError && error.where === ANY_OPTION) {
          refuse(option.long ?? option.flags, error.what, error.fix);
        }
        throw error;
      }
    });
  }
}

/** Commander counts the words it cannot place; which one it was, and why, is more use. */
export function refuseExcess(program: Command): void {
  const allow = (command: Command): void => {
    command.allowExcessArguments();
    command.commands.forEach(allow);
  };
  allow(program);
  program.hook('preAction', (_, command) => {
    const { registeredArguments: places, args } = command;
    if (args.length <= places.length || places.at(-1)?.variadic === true) return;
    // A unit that stands apart is the last word, and may have been taken for a file.
    const apart = process.argv.findIndex(
      (word, k) => args.includes(word) && isUnit(word) && /^[\d.+-]+$/.test(process.argv[k - 1]),
    );
    if (apart > 0) {
      const [number, unit] = process.argv.slice(apart - 1);
      refuse(command.name(), `'${unit}' stands apart from its number`, `write ${number}${unit}`);
    }
    const names = places.map((place) => place.name());
    refuse(
      command.name(),
      `'${args[places.length]}' is one word too many`,
      names.length === 0 ? 'it takes options alone' : `it takes ${names.join(', ')} and options`,
    );
  });
}

/** Where a parser that serves several options stands. */
export const ANY_OPTION = 'option';

/** Of options that say it all at once: given again, the second would replace the first without a word. */
export const asOne = (text: string, before: string | undefined): string =>
  before === undefined
    ? text
    : refuse(ANY_OPTION, `is given twice, '${before}' and '${text}'`, 'give it once');

/** Options that were given although they mean nothing here are refused: ignoring one would mislead. */
export function refuseGiven(command: Command, names: readonly string[], why: string): void {
  for (const option of command.options) {
    const name = option.attributeName();
    if (names.includes(name) && command.getOptionValueSource(name) === 'cli')
      refuse(option.long ?? option.flags, why, 'leave it out');
  }
}

export function addCommonOptions(command: Command): Command {
  return command
    .optionsGroup('Running:')
    .helpOption(...HELP_OPTION)
    .option('--json', 'print one JSON document on standard output, nothing else')
    .option('--quiet', 'no progress, only the result');
}

export function addBackendOptions(command: Command): Command {
  return addCommonOptions(command)
    .option('--backend <name>', `where to compute: ${backendChoices.join(', ')}`, parseBackend, 'auto')
    .option('--threads <number>', 'threads of the cpu backend (default: one per core)', parseCount);
}

export function addExamples(
  command: Command,
  examples: readonly (readonly [line: string, what: string])[],
): Command {
  const text = examples.map(([line, what]) => `  $ corella ${line}\n      ${what}`).join('\n');
  return command.addHelpText('after', `\nExamples:\n${text}\n`);
}

function parseBackend(text: string): BackendChoice {
  const name = backendChoices.find((known) => known === text);
  return name ?? refuse('--backend', `'${text}' is not a backend`, `choose ${backendChoices.join(', ')}`);
}

export function parseCount(text: string): number {
  const value = readNumber(text);
  if (!Number.isSafeInteger(value) || value < 1)
    refuse(ANY_OPTION, `'${text}' is not a whole number above 0`);
  return value;
}

export function parseWhole(text: string): number {
  const value = readNumber(text);
  if (value < 0) refuse(ANY_OPTION, `'${text}' is negative`, 'give 0 or more');
  if (!Number.isSafeInteger(value)) refuse(ANY_OPTION, `'${text}' is not a whole number`);
  return value;
}

/** NaN where it is none. */
function readNumber(text: string): number {
  const value = text.trim() === '' ? NaN : Number(text);
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER)
    refuse(ANY_OPTION, `'${text}' is too large`, `give at most ${Number.MAX_SAFE_INTEGER}`);
  return value;
}
