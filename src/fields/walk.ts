/** Navigation in a schema: what a wrapper wraps, the fields of a part, the schema at a path. */
import { z } from 'zod';
import { aboutField, type About } from './field.js';

type Schema = z.core.$ZodType;
type Shape = Readonly<Record<string, Schema>>;

/** Without wrappers: optional, nullable, and the input side of a transform. */
export function bare(schema: Schema): Schema {
  if (schema instanceof z.ZodPipe) return bare(schema.in);
  if (
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable
  )
    return bare(schema.unwrap());
  return schema;
}

/** The forms that a value may have; a single one without a choice. */
export const alternatives = (schema: Schema): readonly Schema[] => {
  const inner = bare(schema);
  return inner instanceof z.ZodUnion ? inner.options.flatMap(alternatives) : [inner];
};

/** The fields of an object; undefined for anything else. */
export const shapeOf = (schema: Schema): Shape | undefined => {
  const inner = bare(schema);
  return inner instanceof z.ZodObject ? inner.shape : undefined;
};

/** The required key that identifies one of several kinds of object. */
export const ownKey = (schema: Schema): string | undefined =>
  Object.entries(shapeOf(schema) ?? {}).find(
    ([, inner]) => !(inner instanceof z.ZodExactOptional || inner instanceof z.ZodOptional),
  )?.[0];

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The form that a value was intended to have; undefined if this cannot be determined. */
export function meantForm(schema: Schema, value: unknown): Schema | undefined {
  const forms = alternatives(schema);
  if (Array.isArray(value)) return forms.find((form) => form instanceof z.ZodArray);
  if (!isObject(value))
    return forms.length === 1
      ? forms[0]
      : forms.find((form) => !shapeOf(form) && !(form instanceof z.ZodArray));
  const objects = forms.filter((form) => shapeOf(form));
  if (objects.length < 2) return objects.at(0);
  const named = objects.filter((form) => Object.hasOwn(value, ownKey(form) ?? ''));
  return named.length === 1 ? named[0] : undefined;
}

/** The schema at a path of a value; undefined if the path leaves the schema. */
export function schemaAt(root: Schema, path: readonly PropertyKey[], input: unknown): Schema | undefined {
  let schema: Schema | undefined = root;
  let value = input;
  for (const step of path) {
    const form: Schema | undefined = schema && meantForm(schema, value);
    schema = form instanceof z.ZodArray ? form.element : form && shapeOf(form)?.[String(step)];
    value = valueAt(value, [step]);
  }
  return schema;
}

export const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (at, key) =>
      typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined,
    value,
  );

export interface PlacedField {
  readonly path: readonly string[];
  readonly schema: Schema;
  readonly about: About;
}

/** All fields of a part, depth first; nested parts are entered, not listed. */
export function fieldsOf(part: Schema, path: readonly string[] = []): readonly PlacedField[] {
  const shape = alternatives(part).map(shapeOf).find(Boolean);
  if (shape) return Object.entries(shape).flatMap(([key, inner]) => fieldsOf(inner, [...path, key]));
  const about = aboutField(part);
  return about ? [{ path, schema: part, about }] : [];
}
