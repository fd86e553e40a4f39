/**
 * Comparable rates. A shared machine changes speed from one second to the next, so contestants alternate in short
 * rounds, and ratios are computed within each round. A round goes forwards and backwards: a GPU at its power limit is
 * slower after hard work, by 5 % and more.
 */
import { setImmediate } from 'node:timers/promises';

/** Work done, in units; with the seconds it took if measured by a more precise clock, as on a GPU. */
export type Work = number | { readonly work: number; readonly seconds: number };

export interface Contestant {
  /** One repetition. */
  run(): Promise<Work>;
}

export interface MeasureOptions {
  readonly rounds: number;
  /** Minimum duration of each contestant in a round. */
  readonly secondsPerTurn: number;
}

interface Spread {
  readonly median: number;
  /** The interquartile range over the median. */
  readonly spread: number;
}

/** Rates in units per second: rates[contestant][round]. */
export async function measure(
  contestants: readonly Contestant[],
  { rounds, secondsPerTurn }: MeasureOptions,
): Promise<number[][]> {
  const rates = contestants.map((): number[] => []);
  for (const contestant of contestants) await repeatFor(secondsPerTurn / 4, contestant); // warms up caches, pages, clocks
  const there = [...contestants.entries()];
  const thereAndBack = [...there, ...[...there].reverse()];
  for (let round = 0; round < rounds; round++) {
    const done = contestants.map((): Done => ({ work: 0, elapsedS: 0 }));
    for (const [n, contestant] of thereAndBack) {
      const { work, elapsedS } = await repeatFor(secondsPerTurn / 2, contestant);
      done[n] = { work: done[n].work + work, elapsedS: done[n].elapsedS + elapsedS };
      await setImmediate(); // a contestant without any await would block signals
    }
    done.forEach(({ work, elapsedS }, n) => rates[n].push(work / elapsedS));
  }
  return rates;
}

interface Done {
  readonly work: number;
  readonly elapsedS: number;
}

/** At least one repetition, until they took so long together. */
export async function repeatFor(seconds: number, contestant: Contestant): Promise<Done> {
  let work = 0;
  let elapsedS = 0;
  do {
    const started = performance.now();
    const done = await contestant.run();
    work += typeof done === 'number' ? done : done.work;
    elapsedS += typeof done === 'number' ? (performance.now() - started) / 1000 : done.seconds;
  } while (elapsedS < seconds);
  return { work, elapsedS };
}

/** Linear interpolation; `at` from 0 to 1. */
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
