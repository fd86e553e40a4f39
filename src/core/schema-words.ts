/** Error messages of schemas for external JSON, in our own wording. */
import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'a list' : (kinds[typeof value] ?? typeof value);
const kinds: Readonly<Partial<Record<string, string>>> = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  tuple: 'a list',
  int: 'a whole number',
  record: 'an object',
};
const wanted = (expected: string): string => kinds[expected] ?? expected;
const listed = (values: readonly unknown[]): string =>
  values.map((value) => JSON.stringify(value)).join(' or ');

/** The library's message if the schema has none. */
const UNSAID = 'Invalid input';

function unionWords({ message, errors }: z.core.$ZodIssueInvalidUnion, value: unknown): string {
  if (message !== UNSAID) return message;
  const values = errors.flat().map((issue) => (issue.code === 'invalid_value' ? issue.values : undefined));
  return values.length > 0 && !values.includes(undefined)
    ? `is ${JSON.stringify(value)} where ${listed(values.flat())} belongs`
    : `is ${kindOf(value)} of no form that is known here`;
}

/** `input` is the value that the schema checked: zod leaves the value out of its issues. */
export function issueWords(issue: Issue, input: unknown): string {
  const value = issue.path.reduce<unknown>(
    (at, key) =>
      typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined,
    input,
  );
  if (value === undefined && issue.code !== 'custom') return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `is ${kindOf(value)} where ${wanted(issue.expected)} belongs`;
    case 'invalid_value':
      return `is ${JSON.stringify(value)} where ${listed(issue.values)} belongs`;
    case 'too_small':
      return `is too ${'origin' in issue && issue.origin === 'array' ? 'short' : 'small'}: at least ${String(issue.minimum)}${issue.inclusive === false ? ', and more,' : ''} is wanted`;
    case 'too_big':
      return `is too ${'origin' in issue && issue.origin === 'array' ? 'long' : 'large'}: at most ${String(issue.maximum)} is wanted`;
    case 'unrecognized_keys':
      return `has unknown ${issue.keys.length === 1 ? 'field' : 'fields'} ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`;
    case 'invalid_union':
      return unionWords(issue, value);
    case 'invalid_format':
      return `is not written as it should be (${issue.format})`;
    case 'custom':
    case 'invalid_element':
    case 'invalid_key':
    case 'not_multiple_of':
      return issue.message;
  }
}
