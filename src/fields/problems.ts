/** Describes what is wrong with a value: which field, its value, and the allowed values. */
import { z } from 'zod';
import { meantName } from '../core/spelling.js';
import { aboutField, rangeWords } from './field.js';
import { formOf } from './quantities.js';
import { alternatives, bare, meantForm, ownKey, schemaAt, shapeOf, valueAt } from './walk.js';

type Schema = z.core.$ZodType;
type Issue = z.core.$ZodIssue;

export interface Problem {
  readonly path: readonly PropertyKey[];
  /** The last step of the path is an unknown key. */
  readonly unknownKey?: true;
  readonly what: string;
  readonly fix: string;
}

const listed = (values: readonly unknown[]): string => {
  const texts = values.map(String);
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1) ?? ''}`;
};

/** The allowed values: "a whole number from 1 to 256". */
export function allowedWords(schema: Schema): string {
  const about = aboutField(schema);
  const range = rangeWords(about?.range, about?.unit);
  const words = formWords(schema);
  return range === '' ? words : `${words}, ${range}`;
}

function formWords(schema: Schema): string {
  if (schema instanceof z.ZodExactOptional || schema instanceof z.ZodOptional)
    return formWords(schema.unwrap());
  if (schema instanceof z.ZodNullable) return `${formWords(schema.unwrap())}, or null`;
  const own = formOf(schema);
  if (own) return own.words;
  const forms = alternatives(schema);
  const choices = forms.map(choicesOf);
  if (choices.every((some) => some !== undefined)) return listed(choices.flat());
  if (forms.length > 1) {
    const objects = forms.filter((form) => shapeOf(form));
    return objects.length > 1
      ? `one of ${listed(objects.map(ownKey))}`
      : forms.map((form) => (form === schema ? '' : formWords(form))).join(', or ');
  }
  const [form] = forms;
  if (form instanceof z.ZodArray) return `a list: ${formWords(form.element)}`;
  const shape = shapeOf(form);
  if (shape) return `the keys ${Object.keys(shape).join(', ')}`;
  return form === schema ? 'another value' : formWords(form);
}

/** The values of a plain choice. */
const choicesOf = (form: Schema): readonly unknown[] | undefined =>
  form instanceof z.ZodEnum ? form.options : form instanceof z.ZodLiteral ? [...form.values] : undefined;

const written = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? Array.isArray(value)
      ? 'a list'
      : 'a set of keys'
    : JSON.stringify(value);

/** Problems of a value that the schema refused. */
export const problemsOf = (root: Schema, issues: readonly Issue[], input: unknown): Problem[] =>
  issues.flatMap((issue) => explained(root, issue, [], input));

function explained(
  root: Schema,
  issue: Issue,
  base: readonly PropertyKey[],
  input: unknown,
): readonly Problem[] {
  const path = [...base, ...issue.path];
  const value = valueAt(input, path);
  const schema = schemaAt(root, path, input);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => unknownKey(schema, path, key, value));
  if (issue.code === 'invalid_union' && schema) return ofUnion(root, schema, issue, path, input);
  const fix = 'params' in issue && typeof issue.params?.fix === 'string' ? issue.params.fix : undefined;
  return [
    {
      path,
      what:
        value === undefined
          ? 'is missing'
          : issue.code === 'custom'
            ? issue.message.startsWith('is ')
              ? `${written(value)} ${issue.message}`
              : issue.message
            : issue.code === 'too_small' && Array.isArray(value)
              ? 'is empty'
              : `${written(value)} is not allowed`,
      fix: fix ?? (schema ? `give ${allowedWords(schema)}` : 'leave it out'),
    },
  ];
}

/** Reports the problems of the intended form; if none can be identified, lists the forms. */
function ofUnion(
  root: Schema,
  schema: Schema,
  issue: z.core.$ZodIssueInvalidUnion,
  path: readonly PropertyKey[],
  input: unknown,
): readonly Problem[] {
  const value = valueAt(input, path);
  const forms = alternatives(schema);
  const meant = meantForm(schema, value);
  const union = bare(schema);
  if (meant && (shapeOf(meant) || meant instanceof z.ZodArray) && union instanceof z.ZodUnion) {
    const at = union.options.findIndex((option) => alternatives(option).includes(meant));
    return (issue.errors.at(at) ?? []).flatMap((one) => explained(root, one, path, input));
  }
  const names = forms.filter((form) => shapeOf(form)).map((form) => ownKey(form) ?? '');
  if (names.length > 1 && typeof value === 'object' && value !== null) {
    const given = Object.keys(value);
    const both = names.filter((name) => given.includes(name));
    const near = given.map((key) => meantName(key, names)).find((name) => name !== undefined);
    const choice = `give exactly one of ${names.join(', ')}`;
    return [
      {
        path,
        what: both.length > 1 ? `has ${both.join(' and ')}` : `has none of ${names.join(', ')}`,
        fix: near === undefined || both.length > 1 ? choice : `did you mean '${near}'?`,
      },
    ];
  }
  return [
    {
      path,
      what: value === undefined ? 'is missing' : `${written(value)} is not allowed`,
      fix: `give ${allowedWords(schema)}`,
    },
  ];
}

function unknownKey(
  schema: Schema | undefined,
  path: readonly PropertyKey[],
  key: string,
  value: unknown,
): Problem {
  const form = schema && (meantForm(schema, value) ?? schema);
  const known = Object.keys((form && shapeOf(form)) ?? {});
  const near = meantName(key, known);
  return {
    path: [...path, key],
    unknownKey: true,
    what: 'is not a key that is known here',
    fix: near === undefined ? `known are ${known.join(', ')}` : `did you mean '${near}'?`,
  };
}
