/**
 * What of S1 and S2/S1² is certainly noise, in tables: nearly all windows are, and need no more than a look. A fence lies a
 * little inside the limits (limits.ts, rounded.ts), which decide near them, so that whoever looks may round as it likes.
 *
 * An entry is found by the first bits of S1: its octave and a 64th of it.
 */
import { areSameEdges } from '../core/windows.js';
import type { Limits, PowerShape } from './limits.js';
import { LEAST_SPECTRA, LimitBook, type KurtosisPlan } from './plan.js';
import { roundedAt, STEPS_PER_OCTAVE, type RoundedCurve } from './rounded.js';

/** A window, or two that follow on each other. */
export type Span = 'window' | 'pair';

export interface Fence {
  readonly spectra: number;
  /** Of S1, both within; none passes where there are too few spectra. */
  readonly leastPower: number;
  readonly mostPower: number;
  /** Of S2/S1² in SK. */
  readonly scale: number;
  readonly firstKey: number;
  /**
   * entries : [keyOf(S1) − firstKey][low, high, offset, spread], one alone where S1 does not matter. S2/S1² of noise lies
   * between low and high, and SK less noise's mean, over its spread, is (scale·S2/S1² − offset)/spread.
   */
  readonly entries: Float64Array;
}

/** Numbers of an entry. */
export const ENTRY = 4;
/** Numbers of a fence's head as native code reads it (kurtosis_screen.h). */
export const HEAD = 6;

/** The fences of a block's windows. */
export interface Fencing {
  readonly edges: Int32Array;
  readonly fences: readonly Fence[];
  /** places : [w][complex, real][window, pair], which of the fences; a pair is a window and the next. */
  readonly places: Int32Array;
  /** heads : [fence][least power, most, scale, first key, entries, where they begin]; tables : all entries, one fence after the other. */
  readonly heads: Float64Array;
  readonly tables: Float64Array;
}

const asNumber = new Float64Array(1);
const asWords = new Uint32Array(asNumber.buffer);
/** The word that holds the exponent. */
const UPPER = new Uint8Array(Uint16Array.of(1).buffer)[0];
/** Bits of that word below a 64th of an octave. */
const KEY_SHIFT = 14;
export function keyOf(s1: number): number {
  asNumber[0] = s1;
  return asWords[UPPER] >>> KEY_SHIFT;
}
/** The smallest number of a key. */
export function firstOf(key: number): number {
  asWords[UPPER] = key << KEY_SHIFT;
  asWords[1 - UPPER] = 0;
  return asNumber[0];
}

/** Limits and fences by the number of spectra, made when first asked for. */
export class FenceBook {
  private readonly books: Readonly<Record<Span, LimitBook>>;
  private readonly limits = new Map<number, Limits>();
  private readonly fences = new Map<number, Fence>();
  private last: Fencing | undefined;
  /** What was asked for last: most ask for the same again. */
  private lastLimits: { readonly key: number; readonly limits: Limits } | undefined;

  constructor(private readonly plan: KurtosisPlan) {
    this.books = { window: new LimitBook(plan.sigmas), pair: new LimitBook(plan.sigmas + 1) };
  }

  /** Undefined where there are too few spectra. */
  limitsOf(spectra: number, shape: PowerShape, span: Span): Limits | undefined {
    if (spectra < LEAST_SPECTRA) return undefined;
    const key = keyOfSpan(spectra, shape, span);
    if (this.lastLimits?.key === key) return this.lastLimits.limits;
    let limits = this.limits.get(key);
    if (!limits) {
      limits = this.books[span].of(spectra, shape);
      this.limits.set(key, limits);
    }
    this.lastLimits = { key, limits };
    return limits;
  }

  /** Of blocks that are divided alike it is the same. */
  fencing(edges: Int32Array): Fencing {
    if (this.last && areSameEdges(this.last.edges, edges)) return this.last;
    const windows = edges.length - 1;
    const fences: Fence[] = [];
    const known = new Map<Fence, number>();
    const places = new Int32Array(4 * windows);
    const placeOf = (fence: Fence): number => {
      const found = known.get(fence);
      if (found !== undefined) return found;
      known.set(fence, fences.length);
      return fences.push(fence) - 1;
    };
    // Where no channel is of real numbers theirs are not asked for, nor is the pair of the last window, which has no next.
    const real = this.plan.realChannels > 0 ? 0.5 : 1;
    for (let w = 0; w < windows; w++)
      for (const [kind, shape] of ([1, real] as const).entries()) {
        const alone = placeOf(this.fenceOf(edges[w + 1] - edges[w], shape, 'window'));
        const isLast = w === windows - 1;
        const pair = isLast ? alone : placeOf(this.fenceOf(edges[w + 2] - edges[w], shape, 'pair'));
        places.set([alone, pair], 4 * w + 2 * kind);
      }
    this.last = { edges: edges.slice(), fences, places, ...packed(fences) };
    return this.last;
  }

  private fenceOf(spectra: number, shape: PowerShape, span: Span): Fence {
    const key = keyOfSpan(spectra, shape, span);
    const found = this.fences.get(key);
    if (found) return found;
    const curve = this.plan.curves[shape === 1 ? 'complex' : 'real'];
    const fence = makeFence(this.limitsOf(spectra, shape, span), spectra, shape, curve);
    this.fences.set(key, fence);
    return fence;
  }
}

const keyOfSpan = (spectra: number, shape: PowerShape, span: Span): number =>
  4 * spectra + (shape === 1 ? 1 : 0) + (span === 'pair' ? 2 : 0);

function packed(fences: readonly Fence[]): Pick<Fencing, 'heads' | 'tables'> {
  const heads = new Float64Array(HEAD * fences.length);
  const tables = new Float64Array(fences.reduce((sum, { entries }) => sum + entries.length, 0));
  let at = 0;
  for (const [n, { leastPower, mostPower, scale, firstKey, entries }] of fences.entries()) {
    heads.set([leastPower, mostPower, scale, firstKey, entries.length / ENTRY, at / ENTRY], HEAD * n);
    tables.set(entries, at);
    at += entries.length;
  }
  return { heads, tables };
}

/** Of the fence's width or of a power: verdicts of what lies on the fence round otherwise. */
const MARGIN = 1e-9;

function makeFence(
  limits: Limits | undefined,
  spectra: number,
  shape: PowerShape,
  curve: RoundedCurve | undefined,
): Fence {
  const scale = (spectra * (spectra * shape + 1)) / (spectra - 1);
  if (!limits) {
    const entries = Float64Array.of(Infinity, -Infinity, 0, 1);
    return { spectra, leastPower: Infinity, mostPower: -Infinity, scale, firstKey: 0, entries };
  }
  const ratioAt = (kurtosis: number): number =>
    (1 + (kurtosis * (spectra - 1)) / (spectra * shape + 1)) / spectra;
  /** Within all of these, and SK's middle by the last of them. */
  const entryOf = (noises: readonly (readonly [mean: number, spread: number])[]): readonly number[] => {
    const low = ratioAt(Math.max(...noises.map(([mean, spread]) => mean + spread * limits.low)));
    const high = ratioAt(Math.min(...noises.map(([mean, spread]) => mean + spread * limits.high)));
    const [mean, spread] = noises[noises.length - 1];
    const width = high - low;
    return [
      low + MARGIN * width,
      high - MARGIN * width,
      (spectra * shape + 1) / (spectra - 1) + mean,
      spread,
    ];
  };
  if (!curve) {
    const entries = Float64Array.from(entryOf([[1, 1]]));
    return {
      ...{ spectra, leastPower: Number.MIN_VALUE, mostPower: Number.MAX_VALUE },
      ...{ scale, firstKey: 0, entries },
    };
  }
  const [least, most] = [
    curve.leastPower * (1 + MARGIN),
    knotOf(curve, curve.means.length - 1) * (1 - MARGIN),
  ];
  const [leastPower, mostPower] = [least * spectra, most * spectra];
  const firstKey = keyOf(leastPower);
  const keys = Array.from({ length: keyOf(mostPower) - firstKey + 1 }, (_, n) => firstKey + n);
  const entries = keys.flatMap((key) =>
    entryOf(
      noisesBetween(
        curve,
        Math.max(least, firstOf(key) / spectra),
        Math.min(most, firstOf(key + 1) / spectra),
      ),
    ),
  );
  return { spectra, leastPower, mostPower, scale, firstKey, entries: Float64Array.from(entries) };
}

const knotOf = ({ firstOctave }: RoundedCurve, n: number): number =>
  2 ** (firstOctave + n / STEPS_PER_OCTAVE);

/** Mean and spread at both ends, where the curve bends, where it counts as plain, and last in the middle. */
function noisesBetween(
  curve: RoundedCurve,
  from: number,
  to: number,
): readonly (readonly [mean: number, spread: number])[] {
  const { plainFrom, plainTo } = curve;
  const firstKnot = Math.ceil((Math.log2(from) - curve.firstOctave) * STEPS_PER_OCTAVE);
  const endKnot = Math.ceil((Math.log2(to) - curve.firstOctave) * STEPS_PER_OCTAVE);
  const knots = Array.from({ length: Math.max(0, endKnot - firstKnot) }, (_, n) =>
    knotOf(curve, firstKnot + n),
  );
  const middle = (from + to) / 2;
  return [
    ...[from, to, ...knots].map((power) => roundedAt(curve, power)),
    ...(from <= plainTo && to >= plainFrom ? [[1, 1] as const] : []),
    middle >= plainFrom && middle <= plainTo ? [1, 1] : roundedAt(curve, middle),
  ];
}
