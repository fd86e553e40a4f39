/** The JSON Schema of observation files, for completion and checks in editors. */
import { z } from 'zod';
import { aboutField, formOf, rangeWords, type About } from '../fields/index.js';
import { observation, OBSERVATION_VERSION } from './schema.js';
import { sourceKinds } from './parts/source.js';

type Json = z.core.JSONSchema.BaseSchema;

/** With descriptions, defaults and ranges of the fields, and patterns of quantities. */
export function observationJsonSchema(): object {
  const schema = z.toJSONSchema(observation, {
    io: 'input',
    // Each field has its own description; a shared type behind a reference could not.
    reused: 'inline',
    override: ({ zodSchema, jsonSchema }) => {
      const form = formOf(zodSchema);
      if (form?.pattern !== undefined) withPattern(jsonSchema, form.pattern);
      const about = aboutField(zodSchema);
      if (about) describe(jsonSchema, about);
    },
  });
  const source = schema.properties?.source as Json;
  source.oneOf = sourceKinds.map((kind) => ({
    type: 'object',
    properties: { [kind]: {} },
    required: [kind],
  }));
  return { title: `Corella observation, version ${OBSERVATION_VERSION}`, ...schema };
}

/** Applies to text values. */
function withPattern(json: Json, pattern: string): void {
  for (const one of [json, ...(json.anyOf ?? [])])
    if (typeof one === 'object' && one.type === 'string') one.pattern = pattern;
}

function describe(json: Json, about: About): void {
  const { help, unit, range, otherwise, default: preset } = about;
  const more = [
    ...(unit === undefined ? [] : [`numbers are in ${unit}`]),
    ...(range === undefined ? [] : [rangeWords(range, unit)]),
    ...(otherwise === undefined ? [] : [`default: ${otherwise}`]),
  ];
  json.description = more.length === 0 ? help : `${help} (${more.join('; ')})`;
  if (preset !== undefined) json.default = preset;
  if (range)
    for (const one of [json, ...(json.anyOf ?? [])])
      if (typeof one === 'object' && (one.type === 'number' || one.type === 'integer')) bound(one, range);
}

function bound(json: Json, { least, above, most }: NonNullable<About['range']>): void {
  if (least !== undefined) json.minimum = least;
  if (above !== undefined) json.exclusiveMinimum = above;
  if (most !== undefined) json.maximum = most;
}
