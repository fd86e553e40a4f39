/** Fields on a command line: their help, and the parsing of their values. */
import { z } from 'zod';
import { refuse } from '../core/errors.js';
import { rangeWords, type About } from './field.js';
import { problemsOf, type Problem } from './problems.js';
import { alternatives } from './walk.js';

/** The help with its range, and how the default is chosen. */
export function helpOf({ help, range, unit, otherwise, default: preset }: About): string {
  const within = range?.least !== undefined && range.most !== undefined ? `, ${rangeWords(range, unit)}` : '';
  const chosen =
    otherwise ?? (typeof preset === 'string' || typeof preset === 'number' ? String(preset) : undefined);
  return `${help}${within}${chosen === undefined ? '' : ` (default: ${chosen})`}`;
}

/** `form`: text, a number or a list, as the check accepts; `value`: the checked value. */
export function fromText(
  schema: z.core.$ZodType,
  given: unknown,
  flag: string,
): { readonly form: unknown; readonly value: unknown } {
  if (typeof given === 'boolean') return { form: given, value: given };
  const texts = [given].flat().map(String);
  const isList = alternatives(schema).some((form) => form instanceof z.ZodArray);
  if (texts.length > 1 && !isList)
    refuse(flag, `is given twice, '${texts.join("' and '")}'`, 'give it once', 'value.invalid');
  const [text] = texts;
  const words = texts.flatMap((one) => one.split(',').map((word) => word.trim())).filter((one) => one !== '');
  const number = text.trim() === '' ? Number.NaN : Number(text);
  const isNumber = Number.isFinite(number);
  const forms: readonly unknown[] = isList ? [words, words.map(Number)] : isNumber ? [text, number] : [text];
  const tried = forms.map((form) => ({ form, problems: problemsFor(schema, form) }));
  const accepted = tried.find(({ problems }) => problems.length === 0);
  if (accepted) return { form: accepted.form, value: z.parse(schema, accepted.form) };
  const { what, fix } = tried[isList ? 0 : tried.length - 1].problems[0];
  // null as a path is only for files.
  return refuse(flag, what, fix.replace(/, or null$/, ''), 'value.invalid');
}

export function problemsFor(schema: z.core.$ZodType, value: unknown): readonly Problem[] {
  const checked = z.safeParse(schema, value);
  return checked.success ? [] : problemsOf(schema, checked.error.issues, value);
}

const choices = new WeakMap<object, readonly string[]>();

/** Stores the words that an option accepts, for completion. */
export function withChoices<Option extends object>(option: Option, schema: z.core.$ZodType): Option {
  const forms = alternatives(schema).flatMap((form) =>
    form instanceof z.ZodArray ? alternatives(form.element) : [form],
  );
  choices.set(
    option,
    forms.flatMap((form) => (form instanceof z.ZodEnum ? form.options.map(String) : [])),
  );
  return option;
}

/** Empty if any value may be given. */
export const choicesOf = (option: object): readonly string[] => choices.get(option) ?? [];
