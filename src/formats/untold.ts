/** What neither a file nor the user told. */
import type { Untold } from './format.js';

/** The fact that something was not told, where that is so. */
export function untoldFacts(missing: Readonly<Partial<Record<Untold, boolean>>>): {
  readonly untold?: readonly Untold[];
} {
  const untold = (['frequency', 'start'] as const).filter((what) => missing[what] === true);
  return untold.length > 0 ? { untold } : {};
}

export const isUntold = (
  { untold }: { readonly untold?: readonly Untold[] | undefined },
  what: Untold,
): boolean => untold?.includes(what) === true;
