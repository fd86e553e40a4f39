/** Which transforms a length is made of, and how one too long for a block is cut in two. */

export interface Factors {
  /** Largest first: the first level of a transform needs no twiddles. Their product is the length. */
  readonly radices: readonly number[];
}

/** The radices of a length that 2, 3, 5 and 7 make up; nothing for any other. */
export function factorise(length: number): Factors | undefined {
  let rest = length;
  let twos = 0;
  for (; rest % 2 === 0; rest /= 2) twos++;
  const odd: number[] = [];
  for (const prime of [7, 5, 3]) {
    for (; rest % prime === 0; rest /= prime) odd.push(prime);
  }
  if (rest !== 1) return undefined;
  // As few levels of at most 16 as there can be, and those as even as can be: 1024 is 16 · 8 · 8.
  const levels = Math.ceil(twos / 4);
  const powers = Array.from(
    { length: levels },
    (_, n) => 2 ** (Math.floor(twos / levels) + (n < twos % levels ? 1 : 0)),
  );
  return { radices: [...powers, ...odd].sort((x, y) => y - x) };
}

export interface Split {
  /** Made up of small factors, always. */
  readonly first: number;
  readonly second: number;
  /** Whether the second is too. */
  readonly smooth: boolean;
}

/** length = first · second: as square as can be where small factors make it up, else the small factors apart. */
export function splitPoints(length: number, mostPoints: number, mostRadices: number): Split {
  const fits = (points: number): boolean => {
    const factors = factorise(points);
    return factors !== undefined && factors.radices.length <= mostRadices && points <= mostPoints;
  };
  const divisors = divisorsOf(length);
  const squarest = divisors
    .filter((d) => fits(d) && fits(length / d))
    .sort((x, y) => Math.abs(Math.log(x / (length / x))) - Math.abs(Math.log(y / (length / y))))
    .at(0);
  if (squarest !== undefined) return { first: squarest, second: length / squarest, smooth: true };
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
