/** Facts given by neither the file nor the user. */
import type { UnknownFact } from './format.js';

/** The list of unknown facts, if there are any. */
export function unknownFactsOf(missing: Readonly<Partial<Record<UnknownFact, boolean>>>): {
  readonly unknownFacts?: readonly UnknownFact[];
} {
  const unknownFacts = (['frequency', 'start'] as const).filter((what) => missing[what] === true);
  return unknownFacts.length > 0 ? { unknownFacts } : {};
}

export const isUnknown = (
  { unknownFacts }: { readonly unknownFacts?: readonly UnknownFact[] | undefined },
  what: UnknownFact,
): boolean => unknownFacts?.includes(what) === true;
