/**
 * Rates that can be compared. A shared machine changes speed from one second to the next, so contestants take
 * turns in short rounds, and only what happened within a round is divided by each other.
 */

export interface Contestant {
  /** One repetition; returns the work done, in units. */
  run(): Promise<number>;
}

export interface MeasureOptions {
  readonly rounds: number;
  /** Each contestant works at least this long in a round. */
  readonly secondsPerTurn: number;
}

export interface Spread {
  readonly median: number;
  /** The distance between the quartiles over the median. */
  readonly spread: number;
}

/** Rates in units per second: rates[contestant][round]. */
export async function measure(
  contestants: readonly Contestant[],
  { rounds, secondsPerTurn }: MeasureOptions,
): Promise<number[][]> {
  const rates = contestants.map((): number[] => []);
  for (const contestant of contestants) await turn(contestant, secondsPerTurn / 4); // caches, pages, clocks
  for (let round = 0; round < rounds; round++) {
    for (const [n, contestant] of contestants.entries())
      rates[n].push(await turn(contestant, secondsPerTurn));
  }
  return rates;
}

async function turn(contestant: Contestant, seconds: number): Promise<number> {
  const started = performance.now();
  let work = 0;
  let elapsedS = 0;
  do {
    work += await contestant.run();
    elapsedS = (performance.now() - started) / 1000;
  } while (elapsedS < seconds);
  return work / elapsedS;
}

/** Linear between neighbours; `at` from 0 to 1. */
export function quantile(values: readonly number[], at: number): number {
  const sorted = [...values].sort((x, y) => x - y);
  const place = at * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

export function spreadOf(values: readonly number[]): Spread {
  const median = quantile(values, 0.5);
  return { median, spread: (quantile(values, 0.75) - quantile(values, 0.25)) / median };
}

/** The median over rounds of one rate divided by the other. */
export const medianRatio = (rates: readonly number[], others: readonly number[]): number =>
  quantile(
    rates.map((rate, round) => rate / others[round]),
    0.5,
  );
