/** Common parts of all commands: registration and common options. */
import type { Command } from 'commander';
import type { BackendChoice } from '../../core/backend-kinds.js';
import { CorellaError, refuse } from '../../core/errors.js';
import { isUnit } from './quantity.js';

/** One file per command exports one of these; commands.ts lists them. */
export type RegisterCommand = (program: Command) => void;

/** What a command does, loaded when it runs: its help needs its options alone. */
export const whenRun =
  <Arguments extends readonly unknown[]>(load: () => Promise<(...given: Arguments) => unknown>) =>
  async (...given: Arguments): Promise<void> => {
    await (
      await load()
    )(...given);
  };

export interface CommonOptions {
  readonly json?: true;
  readonly quiet?: true;
}

export interface BackendOptions extends CommonOptions {
  readonly backend: BackendChoice;
  readonly threads?: number;
}

/** Options for `openBackend`: threads if given. */
export const threadsOf = ({ threads }: Pick<BackendOptions, 'threads'>): { readonly threads?: number } =>
  threads === undefined ? {} : { threads };

/** Adds the option's name to errors of parsers that do not know it. */
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
          refuse(option.long ?? option.flags, error.what, error.fix, error.kind);
        }
        throw error;
      }
    });
  }
}

/** Commander only counts unexpected arguments; this reports which one it is, and why. */
export function refuseExcess(program: Command): void {
  const allow = (command: Command): void => {
    command.allowExcessArguments();
    command.commands.forEach(allow);
  };
  allow(program);
  program.hook('preAction', (_, command) => {
    const { registeredArguments: places, args } = command;
    if (args.length <= places.length || places.at(-1)?.variadic === true) return;
    // A unit after a space is the last word, and may have been parsed as a file.
    const apart = process.argv.findIndex(
      (word, k) => args.includes(word) && isUnit(word) && /^[\d.+-]+$/.test(process.argv[k - 1]),
    );
    if (apart > 0) {
      const [number, unit] = process.argv.slice(apart - 1);
      refuse(command.name(), `'${unit}' is separated from its number`, `write ${number}${unit}`);
    }
    const names = places.map((place) => place.name());
    refuse(
      command.name(),
      `'${args[places.length]}' is an unexpected argument`,
      names.length === 0 ? 'it takes options alone' : `it takes ${names.join(', ')} and options`,
      'argument.unexpected',
    );
  });
}

/** Placeholder for the name in errors of a parser that serves several options. */
export const ANY_OPTION = 'option';

/** Refuses given options that have no effect here: ignoring one would mislead. */
export function refuseGiven(command: Command, names: readonly string[], why: string): void {
  for (const option of command.options) {
    const name = option.attributeName();
    if (names.includes(name) && command.getOptionValueSource(name) === 'cli')
      refuse(option.long ?? option.flags, why, 'leave it out', 'unsupported');
  }
}
