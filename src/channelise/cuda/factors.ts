/** Which transforms a length is made of, and how one too long for a block is cut in two. */

interface Factors {
  /** Largest first: the first level of a transform needs no twiddles. Their product is the length. */
  readonly radices: readonly number[];
}

/** The longest transform a thread does in registers. */
const MOST_POINTS = 16;

/** The radices of a length that primes up to 13 make up: as few as can be, and those as small; nothing for any other. */
export function factorise(length: number): Factors | undefined {
  let rest = length;
  for (const prime of [2, 3, 5, 7, 11, 13]) {
    while (rest % prime === 0) rest /= prime;
  }
  return rest === 1 ? { radices: fewest(length, MOST_POINTS, new Map()) ?? [] } : undefined;
}

/** None of them larger than `most`, nor than the one before it. */
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
  /** Made up of small factors, always. */
  readonly first: number;
  readonly second: number;
  /** Whether the second is too. */
  readonly smooth: boolean;
}

/**
 * length = first · second, where small factors make up both: the second as long as a block does well, `wellPoints`, so
 * that of the first, which reads voltages column by column, a block takes many columns side by side; or as square as can
 * be, where that leaves too much. Else the small factors apart.
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
