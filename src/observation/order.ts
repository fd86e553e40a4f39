/** Keys in the order in which the schema declares them, so that files read alike. */
import { meantForm, shapeOf, alternatives } from '../fields/index.js';
import { z } from 'zod';
import { observation, type Observation } from './schema.js';

export const inSchemaOrder = (given: Observation): Observation => ordered(observation, given) as Observation;

function ordered(schema: z.core.$ZodType, value: unknown): unknown {
  if (Array.isArray(value)) {
    const list = alternatives(schema).find((form) => form instanceof z.ZodArray);
    return list ? value.map((one) => ordered(list.element, one)) : value;
  }
  const form = meantForm(schema, value);
  const shape = form && shapeOf(form);
  if (!shape || typeof value !== 'object' || value === null) return value;
  const given = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.keys(shape)
      .filter((key) => given[key] !== undefined)
      .map((key) => [key, ordered(shape[key], given[key])]),
  );
}
