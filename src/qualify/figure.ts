/** A qualification figure: a question, its measured answer, and the required range. */
import type { Backend } from '../backend/backend.js';
import type { FigureName } from './names.js';
import type { Picture } from '../draw/index.js';

/** The equipment of a figure. */
export interface Rig {
  readonly backend: Backend;
  /** All figures together take less than a minute on two cores; otherwise errors are smaller and cases more. */
  readonly quick: boolean;
  /** An empty folder for files, removed afterwards. */
  readonly folder: string;
}

/** One measurement with its threshold. */
export interface Check {
  readonly what: string;
  readonly measured: number;
  readonly unit: string;
  /** The pass criterion, in words; absent if there is none. */
  readonly wanted?: string;
  readonly result: 'pass' | 'fail' | 'reported';
}

export interface Plot {
  /** For screen readers, and where pictures are not shown. */
  readonly caption: string;
  readonly picture: Picture;
}

/** Numbers without a threshold. */
export interface FigureTable {
  readonly caption: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface Findings {
  readonly checks: readonly Check[];
  readonly plots?: readonly Plot[];
  readonly tables?: readonly FigureTable[];
  readonly remarks?: readonly string[];
}

export interface Figure {
  /** Name for `--only`. */
  readonly name: FigureName;
  readonly title: string;
  /** The method, and why it would reveal a fault. */
  readonly about: string;
  /** Needs an otherwise idle machine, so it is measured only on request. */
  readonly onRequest?: true;
  readonly measure: (rig: Rig) => Promise<Findings>;
}

const check = (what: string, measured: number, unit: string, wanted: string, passes: boolean): Check => ({
  what,
  measured,
  unit,
  wanted,
  // NaN means that nothing was measured: it never passes.
  result: passes && !Number.isNaN(measured) ? 'pass' : 'fail',
});

export const atMost = (what: string, measured: number, most: number, unit = ''): Check =>
  check(what, measured, unit, `≤ ${limit(most, unit)}`, measured <= most);

export const atLeast = (what: string, measured: number, least: number, unit = ''): Check =>
  check(what, measured, unit, `≥ ${limit(least, unit)}`, measured >= least);

export const within = (what: string, measured: number, least: number, most: number, unit = ''): Check =>
  check(
    what,
    measured,
    unit,
    `${limit(least)} … ${limit(most, unit)}`,
    measured >= least && measured <= most,
  );

/** A count of properties that must all hold. */
export const all = (what: string, right: number, of: number): Check =>
  check(what, right, `of ${of}`, `all ${of}`, right === of && of > 0);

/** No threshold: the number is only reported. */
export const reported = (what: string, measured: number, unit = ''): Check => ({
  what,
  measured,
  unit,
  result: 'reported',
});

/** Four digits suffice for a computed threshold. */
const limit = (value: number, unit = ''): string => {
  const words = `${Number(value.toPrecision(4))}`.replace('-', '−');
  return unit === '' ? words : `${words} ${unit}`;
};
