/** The reference of all fields, as Markdown: generated from their declarations. */
import { allowedWords, fieldsOf, type PlacedField } from '../fields/index.js';
import { productFields, productNames } from '../products/index.js';
import { observation } from './schema.js';

const parts = ['source', 'front', 'flags', 'gains', 'page', 'machine'] as const;

/** A heading and a table for each part and each product. */
export function fieldReference(): string {
  const outside = fieldsOf(observation).filter(
    ({ path }) => ![...parts, 'products'].some((part) => part === path[0]),
  );
  return [
    section('The observation itself', outside),
    ...parts.map((part) => section(`\`${part}\``, fieldsOf(observation.shape[part]))),
    ...productNames.map((name) => section(`\`products\`: \`${name}\``, fieldsOf(productFields[name]))),
  ].join('\n');
}

const section = (title: string, fields: readonly PlacedField[]): string =>
  [
    `### ${title}\n`,
    '| field | what it is | values | default | may change | flag |',
    '| --- | --- | --- | --- | --- | --- |',
    ...fields.map(
      ({ path, schema, about }) =>
        `| ${[
          `\`${path.join('.')}\``,
          about.help,
          allowedWords(schema),
          about.otherwise ?? (about.default === undefined ? '' : `\`${JSON.stringify(about.default)}\``),
          { never: 'no', cut: 'at a cut', spectrum: 'at any spectrum' }[about.changes],
          about.flag === undefined ? '' : `\`${about.flag}\``,
        ]
          .map((text) => text.replaceAll('|', '\\|'))
          .join(' | ')} |`,
    ),
    '',
  ].join('\n');
