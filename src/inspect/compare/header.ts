/** Facts and numbers of a header, including the format's own cards. */
import type { Content, FactValue, Part } from './content.js';

/** Each format has its own cards, which are compared only between files of one format. */
export type Extent = 'with cards' | 'without cards';

export function headerFacts({ facts, cards }: Content, extent: Extent): Map<string, FactValue> {
  const all = new Map(facts);
  if (extent === 'without cards') return all;
  for (const [name, value] of cards)
    if (Array.isArray(value)) all.set(`card ${name}`, value.join('\n'));
    else if (typeof value !== 'object') all.set(`card ${name}`, value);
  return all;
}

/** Columns of tables and arrays of a header. */
export const cardParts = (cards: Content['cards']): Part[] =>
  [...cards].flatMap(([name, value]) =>
    value instanceof Float64Array
      ? [{ name, axes: [{ name: 'number', size: value.length }], numbers: value, nature: 'exact' as const }]
      : [],
  );
