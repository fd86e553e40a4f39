/** What a figure of the qualification is: a question to the instrument, its measured answer, and where it must lie. */
import type { Backend } from '../backend/backend.js';
import type { Picture } from '../draw/index.js';

/** Whatever a figure may use. */
export interface Rig {
  readonly backend: Backend;
  /** Under a minute on two cores for all figures together; else smaller errors and more cases. */
  readonly quick: boolean;
  /** An empty folder for files, gone afterwards. */
  readonly folder: string;
}

/** One measurement beside its threshold. */
export interface Check {
  readonly what: string;
  readonly measured: number;
  readonly unit: string;
  /** What passes, in words; nothing where it is only told. */
  readonly wanted?: string;
  readonly verdict: 'pass' | 'fail' | 'told';
}

export interface Plot {
  /** Said by screen readers, and where pictures are not shown. */
  readonly caption: string;
  readonly picture: Picture;
}

/** Numbers that no threshold belongs to. */
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
  /** As `--only` takes it. */
  readonly name: string;
  readonly title: string;
  /** What is done, and why it would show a fault. */
  readonly about: string;
  /** Takes a machine that does nothing else, so it is measured where somebody asks for it. */
  readonly onRequest?: true;
  readonly measure: (rig: Rig) => Promise<Findings>;
}

const check = (what: string, measured: number, unit: string, wanted: string, passes: boolean): Check => ({
  what,
  measured,
  unit,
  wanted,
  // Not a number is no measurement: it never passes.
  verdict: passes && !Number.isNaN(measured) ? 'pass' : 'fail',
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

/** A count of what must be so: all of them. */
export const all = (what: string, right: number, of: number): Check =>
  check(what, right, `of ${of}`, `all ${of}`, right === of && of > 0);

/** No threshold: the number is told. */
export const told = (what: string, measured: number, unit = ''): Check => ({
  what,
  measured,
  unit,
  verdict: 'told',
});

/** Four digits say a threshold that was itself worked out. */
const limit = (value: number, unit = ''): string => {
  const words = `${Number(value.toPrecision(4))}`.replace('-', '−');
  return unit === '' ? words : `${words} ${unit}`;
};
