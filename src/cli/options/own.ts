/**
 * Options of a command that are no fields of an observation, declared as fields too: these give help, checks and
 * defaults.
 */
import { Option, type Command } from 'commander';
import { z } from 'zod';
import { refuse } from '../../core/errors.js';
import { aboutField, alternatives, fromText, helpOf, withChoices, type Filled } from '../../fields/index.js';

/** Argument of a command's action: fields with a default are present. */
export type Options<Part extends z.ZodObject> = Filled<Part>;

/** Adds an option for each field. A key is the flag's name in commander's form: --start-tick is `startTick`. */
export function addFields(command: Command, part: z.ZodObject): Command {
  for (const [key, schema] of Object.entries<z.core.$ZodType>(part.shape)) {
    const option = optionOf(command, schema);
    if (option.attributeName() !== key) throw new Error(`${command.name()}: ${key} is not ${option.flags}`);
    command.addOption(option);
  }
  return command;
}

function optionOf(command: Command, schema: z.core.$ZodType): Option {
  const about = aboutField(schema);
  if (about?.flag === undefined) throw new Error(`${command.name()}: an option without a flag`);
  const { default: preset, otherwise, group = 'Options', flag } = about;
  const option = new Option(
    flag,
    helpOf(preset === undefined ? about : { ...about, default: undefined, otherwise: undefined }),
  );
  option.helpGroup(`${group}:`);
  if (option.required || option.optional)
    option.argParser((text: string, before: unknown) => {
      const isAgain = command.getOptionValueSource(option.attributeName()) === 'cli';
      return read(schema, option.long ?? flag, text, isAgain ? before : undefined);
    });
  // A flag not given is absent instead of false, so that code can test whether it was given.
  if (preset !== undefined && preset !== false)
    option.default(
      preset,
      otherwise ?? (Array.isArray(preset) ? 'none' : `${preset as string | number | boolean}`),
    );
  return withChoices(option, schema).makeOptionMandatory(!(schema instanceof z.ZodExactOptional));
}

/** A list is given by repeating the option. */
function read(schema: z.core.$ZodType, flag: string, text: string, before: unknown): unknown {
  const list = alternatives(schema).find((form) => form instanceof z.ZodArray);
  if (list)
    return [...((before as readonly unknown[] | undefined) ?? []), fromText(list.element, text, flag).value];
  if (before !== undefined)
    refuse(flag, `is given twice, '${before as string | number | boolean}' and '${text}'`, 'give it once');
  return fromText(schema, text, flag).value;
}
