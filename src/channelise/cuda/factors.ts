/** The transforms that make up a length, and the split in two of one too long for a block. */

interface Factors {
  /** Largest first: the first level of a transform needs no twiddles. Their product is the length. */
  readonly radices: readonly number[];
}

/** The longest transform a thread does in registers. */
const MOST_POINTS = 16;

/**
 * The radices of a length with prime factors up to 13: as few as possible, then as small as possible; undefined for
 * other lengths.
 */
export function factorise(length: number): Factors | undefined {
  let rest = length;
  for (const prime of [2, 3, 5, 7, 11, 13]) {
    while (rest % prime === 0) rest /= prime;
  }
  return rest === 1 ? { radices: fewest(length, MOST_POINTS, new Map()) ?? [] } : undefined;
}

/** None of them larger than `most`, or than the one before it. */
function fewest(
  length: number,
  most: number,
  known: Map<string, readonly number[] | undefined>,
): readonly number[] | undefined {
  if (length === 1) return [];
  const key = `${length} ${most}`;
  if (known.has(key)) return known.get(key);
  let best: readonly number[] | undefined;
  for (let radix = Math.min(most, length); radix > 1; radix--) {
    if (length % radix !== 0) continue;
    const others = fewest(length / radix, radix, known);
    if (others && (!best || costsLess([radix, ...others], best))) best = [radix, ...others];
  }
  known.set(key, best);
  return best;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const costsLess = (some: readonly number[], others: readonly number[]): boolean =>
  some.length === others.length ? sum(some) < sum(others) : some.length < others.length;

interface Split {
  /** Always a product of small factors. */
  readonly first: number;
  readonly second: number;
  /** Whether the second is too. */
  readonly smooth: boolean;
}

/**
 * length = first · second, where both have small factors: the second as long as suits a block, `wellPoints`, so that a
 * block processes many columns of the first, which reads voltages column by column; or as square as possible, where
 * that leaves too much. Otherwise the small factors are separated.
 */
export function splitPoints(
  length: number,
  { wellPoints, mostPoints, mostRadices }: Record<'wellPoints' | 'mostPoints' | 'mostRadices', number>,
): Split {
  const fits = (points: number): boolean => {
    const factors = factorise(points);
    return factors !== undefined && factors.radices.length <= mostRadices && points <= mostPoints;
  };
  const divisors = divisorsOf(length).sort((x, y) => y - x);
  const seconds = divisors.filter((d) => fits(d) && fits(length / d));
  const second =
    seconds.find((d) => d <= wellPoints && length / d <= wellPoints) ??
    seconds.findLast((d) => d >= length / d);
  if (second !== undefined) return { first: length / second, second, smooth: true };
  const first = Math.max(...divisors.filter(fits));
  return { first, second: length / first, smooth: false };
}

function divisorsOf(length: number): number[] {
  const divisors: number[] = [];
  for (let d = 1; d * d <= length; d++) {
    if (length % d === 0) divisors.push(d, length / d);
  }
  return divisors;
}
