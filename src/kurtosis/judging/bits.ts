/** Inputs of a group as bits, the first of them the lowest. */

/** The place of the lowest bit; there must be one. The next is found in `bits & (bits − 1)`. */
export const lowest = (bits: number): number => 31 - Math.clz32(bits & -bits);

/** How many of 16 bits are set. */
export function countOf(bits: number): number {
  const pairs = bits - ((bits >> 1) & 0x5555);
  const fours = (pairs & 0x3333) + ((pairs >> 2) & 0x3333);
  return ((((fours + (fours >> 4)) & 0x0f0f) * 0x0101) >> 8) & 0x1f;
}

/** One bit, the lower, for each station of two polarisations of which either input is set. */
export const eitherOf = (bits: number): number => (bits | (bits >> 1)) & 0x5555;
