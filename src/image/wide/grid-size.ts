/** Sides of grids: whole pairs of tiles, with fast transforms. */

/** Cells on a side of the tiles that visibilities are sorted into, at least the largest support. */
export const TILE_CELLS = 16;

/** Tiles of one colour never overlap, so there must be an even number of them along each axis. */
const STEP = 2 * TILE_CELLS;

/** Vector operations for each element of a pass; a large part of each is reading and writing. */
const passCosts: Readonly<Record<number, number>> = { 2: 6, 3: 8, 4: 8, 5: 13, 7: 19, 8: 11 };

/**
 * The passes of a transform: fours and eights first, as few as possible, then the odd primes up to 7. Undefined for a
 * length with another prime factor, or too few twos.
 */
export function radicesOf(length: number): readonly number[] | undefined {
  let twos = 0;
  let rest = length;
  for (; rest % 2 === 0; rest /= 2) twos++;
  if (twos < 2) return undefined;
  const radices: number[] = [];
  for (; twos % 3 !== 0; twos -= 2) radices.push(4);
  for (; twos > 0; twos -= 3) radices.push(8);
  for (const prime of [3, 5, 7]) for (; rest % prime === 0; rest /= prime) radices.push(prime);
  return rest === 1 ? radices : undefined;
}

/** Operations for each element of a transform of this length. */
export const transformCost = (length: number): number =>
  (radicesOf(length) ?? [Number.POSITIVE_INFINITY]).reduce(
    (sum, radix) => sum + (passCosts[radix] ?? radix),
    0,
  );

/** All sides from `least` to `most` cells, or the next larger one where there is none between. */
export function gridSides(least: number, most: number): number[] {
  const sides: number[] = [];
  for (let cells = Math.ceil(least / STEP) * STEP; cells <= most || sides.length === 0; cells += STEP) {
    if (radicesOf(cells)) sides.push(cells);
  }
  return sides;
}
