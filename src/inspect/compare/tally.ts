/** Differences between the numbers of two files, collected by part while reading. */
import type { Axis, Part } from './content.js';

/** Differing numbers or facts of one name. */
export interface Difference {
  /** 'values', 'flags', 'times', 'positions', 'header', … */
  readonly what: string;
  /** The first difference, in words. */
  readonly where: string;
  /** Its values in the first file and in the second; undefined if absent. */
  readonly a: string | number | boolean | undefined;
  readonly b: string | number | boolean | undefined;
  /** How many differ, and how many were compared. */
  readonly count: number;
  readonly of: number;
  /** For numbers: the largest difference, its position, and its fraction of the largest number. */
  readonly largest?: number;
  readonly largestAt?: string;
  readonly relative?: number;
}

export interface Tally {
  readonly what: string;
  of: number;
  count: number;
  first?: { readonly where: string; readonly a: number; readonly b: number };
  largest: number;
  largestAt: string;
  /** The largest finite number of either file. */
  scale: number;
}

export const newTally = (what: string): Tally => ({
  what,
  of: 0,
  count: 0,
  largest: 0,
  largestAt: '',
  scale: 0,
});

/** How near two numbers of a part must be. */
interface Nearness {
  /** In the numbers' own unit. */
  readonly within: number;
  /** Whether whole numbers must be equal regardless. */
  readonly wholeExactly: boolean;
}

export function addScale(tally: Tally, { numbers }: Part): void {
  for (const number of numbers) {
    const size = Math.abs(number);
    if (size > tally.scale && size < Infinity) tally.scale = size;
  }
}

/** Compares two parts of one shape. */
export function addPart(
  tally: Tally,
  at: string,
  a: Part,
  b: Part,
  { within, wholeExactly }: Nearness,
): void {
  const [ours, theirs] = [a.numbers, b.numbers];
  tally.of += ours.length;
  for (let k = 0; k < ours.length; k++) {
    const [x, y] = [ours[k], theirs[k]];
    if (x === y || (x !== x && y !== y)) continue;
    const apart = Math.abs(x - y);
    if (!(apart <= tally.largest)) {
      // NaN against a number counts as infinitely far.
      tally.largest = Number.isNaN(apart) ? Infinity : apart;
      tally.largestAt = placeOf(at, a.axes, k);
    }
    const isNear = apart <= within && !(wholeExactly && Number.isInteger(x) && Number.isInteger(y));
    if (isNear) continue;
    tally.count++;
    tally.first ??= { where: placeOf(at, a.axes, k), a: x, b: y };
  }
}

/** 'integration 3, channel 2, baseline stand3–stand1, re'. */
function placeOf(at: string, axes: readonly Axis[], index: number): string {
  let rest = index;
  const names: string[] = [];
  for (const { name, size, label = String } of [...axes].reverse()) {
    names.unshift([name, label(rest % size)].filter((word) => word !== '').join(' '));
    rest = Math.floor(rest / size);
  }
  return [at, ...names].filter((word) => word !== '').join(', ');
}

export const differenceOf = ({ what, of, count, first, largest, largestAt, scale }: Tally): Difference[] =>
  first
    ? [{ what, ...first, count, of, largest, largestAt, ...(scale > 0 && { relative: largest / scale }) }]
    : [];
