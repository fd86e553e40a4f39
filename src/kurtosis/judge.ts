/**
 * From sums of powers to what is taken: the same code whatever backend made the sums, so that masks are the same bit for
 * bit. A station goes with all its polarisations, since half a station's sample is nobody's sample.
 */
import type { Limits, PowerShape } from './limits.js';
import { LEAST_SPECTRA, LimitBook, type KurtosisPlan } from './plan.js';
import { STEPS_PER_OCTAVE, type RoundedCurve } from './rounded.js';

/** What was decided of a block. */
export interface Judgement {
  /** Windows are [edges[w], edges[w + 1]). */
  readonly edges: Int32Array;
  /** mask : [w][c][s], 1 where a station's samples are taken. */
  readonly mask: Uint8Array;
  /** offenders : [w][c][a], 1 where an input's own kurtosis lies above its limits, 2 below, 4 more of a pair of windows; kept windows' too. */
  readonly offenders: Uint8Array;
  /** present : [w][c][s], spectra that came; undefined where all did. */
  readonly present: Uint32Array | undefined;
  /** Windows in which most inputs and channels would have gone at once. */
  readonly everywhere: readonly number[];
  /** common : [w][c], 1 where more than half of the stations offended. */
  readonly common: Uint8Array;
  /** Inputs' windows that were too short, too weak or silent, and so not judged. */
  readonly unjudged: number;
}

/** Fewer cells than this are not everywhere. */
const LEAST_CELLS = 8;

export class Judge {
  private readonly book: LimitBook;
  private readonly pairBook: LimitBook;
  private readonly fences = new Map<number, Fence>();

  constructor(private readonly plan: KurtosisPlan) {
    this.book = new LimitBook(plan.sigmas);
    this.pairBook = new LimitBook(plan.sigmas + 1);
  }

  /** sums : [w][c][a][S1, S2]. */
  judge(edges: Int32Array, sums: Float64Array, present: Uint32Array | undefined): Judgement {
    const { channels, inputs, stations, over, bursts } = this.plan;
    const windows = edges.length - 1;
    const mask = new Uint8Array(windows * channels * stations);
    const offenders = new Uint8Array(windows * channels * inputs);
    const common = new Uint8Array(windows * channels);
    const everywhere: number[] = [];
    /** judged : [w][c], stations that something can be said of. */
    const judged = new Uint16Array(windows * channels);
    let unjudged = 0;
    for (let w = 0; w < windows; w++) {
      const length = edges[w + 1] - edges[w];
      for (let c = 0; c < channels; c++) {
        const row = { at: w * channels + c, channel: c, length, sums, present, offenders };
        const together = over === 'inputs' ? this.judgeTogether(row) : undefined;
        const told = together ?? this.judgeEach(row);
        unjudged += told.unjudged;
        judged[row.at] = told.stations;
      }
    }
    if (over === 'each') {
      this.judgePairs(edges, sums, present, offenders);
      this.takeBetween(windows, offenders);
    }
    for (let w = 0; w < windows; w++) {
      let cells = 0;
      let taken = 0;
      for (let c = 0; c < channels; c++) {
        const at = w * channels + c;
        cells += judged[at];
        const offending = this.takeStations(at, offenders, mask);
        taken += offending;
        if (2 * offending > judged[at]) common[at] = 1;
      }
      if (cells >= LEAST_CELLS && 2 * taken > cells) {
        everywhere.push(w);
        if (bursts === 'keep') mask.fill(0, w * channels * stations, (w + 1) * channels * stations);
      }
    }
    return { edges, mask, offenders, present, everywhere, common, unjudged };
  }

  /** Stations of a row that have an offending input, and into the mask with them. */
  private takeStations(at: number, offenders: Uint8Array, mask: Uint8Array): number {
    const { inputs, stations, polarisations } = this.plan;
    let offending = 0;
    for (let a = 0; a < inputs; a++) {
      if (offenders[at * inputs + a] === 0) continue;
      mask[at * stations + Math.floor(a / polarisations)] = 1;
      offending++;
      // The other polarisation goes with it.
      if (polarisations === 2) a |= 1;
    }
    return offending;
  }

  /** Every input of a window's channel for itself. */
  private judgeEach(row: Row): Told {
    const { inputs, stations, polarisations, flaggedInputs } = this.plan;
    const { sums, present } = row;
    const shape = this.shapeOf(row.channel);
    const curve = this.curveOf(row.channel);
    let fence = this.fenceOf(row.length, shape, curve);
    let [unjudged, judgedStations, silent] = [0, stations, 0];
    const first = row.at * inputs;
    for (let a = 0; a < inputs; a++) {
      if (a % polarisations === 0) silent = 0;
      if (present)
        fence = this.fenceOf(present[row.at * stations + Math.floor(a / polarisations)], shape, curve);
      const s1 = sums[2 * (first + a)];
      // Nearly all windows are noise of a usual level, and end here.
      if (s1 >= fence.leastPower && s1 <= fence.mostPower) {
        const squares = sums[2 * (first + a) + 1] / (s1 * s1);
        if (squares >= fence.low && squares <= fence.high) continue;
      }
      const isAsked = flaggedInputs[a] === 0;
      const verdict = isAsked ? verdictOf(s1, sums[2 * (first + a) + 1], fence, shape, curve) : UNJUDGED;
      if (verdict === UNJUDGED) {
        if (isAsked) unjudged++;
        if (++silent === polarisations) judgedStations--;
      } else row.offenders[first + a] = verdict;
    }
    return { stations: judgedStations, unjudged };
  }

  /**
   * Something loud that is on for half of a window looks like noise there: 1/½ − 1 = 1. With the window before or after
   * it does not. So windows that nobody took are judged in pairs too, by one standard deviation more, and both go.
   */
  private judgePairs(
    edges: Int32Array,
    sums: Float64Array,
    present: Uint32Array | undefined,
    offenders: Uint8Array,
  ): void {
    const { channels, inputs, stations, polarisations, flaggedInputs } = this.plan;
    const perWindow = channels * inputs;
    for (let w = 0; w + 2 < edges.length; w++) {
      for (let c = 0; c < channels; c++) {
        const shape = this.shapeOf(c);
        const curve = this.curveOf(c);
        let fence = this.fenceOf(edges[w + 2] - edges[w], shape, curve, 'pair');
        const from = w * perWindow + c * inputs;
        for (let a = 0; a < inputs; a++) {
          const [x, y] = [from + a, from + a + perWindow];
          if (present) {
            const at = (w * channels + c) * stations + Math.floor(a / polarisations);
            fence = this.fenceOf(present[at] + present[at + channels * stations], shape, curve, 'pair');
          }
          const s1 = sums[2 * x] + sums[2 * y];
          const s2 = sums[2 * x + 1] + sums[2 * y + 1];
          if (s1 >= fence.leastPower && s1 <= fence.mostPower) {
            const squares = s2 / (s1 * s1);
            if (squares >= fence.low && squares <= fence.high) continue;
          }
          // Only what neither was taken for alone (a pair's own verdict is told apart), and of inputs that are asked.
          if (flaggedInputs[a] === 1 || isAlone(offenders[x]) || isAlone(offenders[y])) continue;
          const verdict = verdictOf(s1, s2, fence, shape, curve);
          if (verdict === ABOVE || verdict === BELOW) {
            offenders[x] = PAIRED + verdict;
            offenders[y] = PAIRED + verdict;
          }
        }
      }
    }
  }

  /** What lies between two that were taken alone goes too, and what lies between one and the block's end. */
  private takeBetween(windows: number, offenders: Uint8Array): void {
    const { flaggedInputs } = this.plan;
    const perWindow = this.plan.channels * this.plan.inputs;
    if (windows < 2) return;
    for (let w = 0; w < windows; w++) {
      for (let at = w * perWindow; at < (w + 1) * perWindow; at++) {
        if (offenders[at] !== 0 || flaggedInputs[at % this.plan.inputs] === 1) continue;
        const before = w === 0 ? EDGE : offenders[at - perWindow];
        if (before !== EDGE && !isAlone(before)) continue;
        const after = w === windows - 1 ? EDGE : offenders[at + perWindow];
        if (after !== EDGE && !isAlone(after)) continue;
        offenders[at] = PAIRED + (before === EDGE ? after : before);
      }
    }
  }

  /** What of S1 and S2/S1² is certainly noise: a little inside the limits, which decide near them. */
  private fenceOf(
    spectra: number,
    shape: PowerShape,
    curve: RoundedCurve | undefined,
    of: 'window' | 'pair' = 'window',
  ): Fence {
    const key = 4 * spectra + (shape === 1 ? 1 : 0) + (of === 'pair' ? 2 : 0);
    const found = this.fences.get(key);
    if (found) return found;
    const fence = makeFence(of === 'pair' ? this.pairBook : this.book, spectra, shape, curve);
    this.fences.set(key, fence);
    return fence;
  }

  /** The mean over inputs, each in units of its own spread; undefined where fewer than two can be judged. */
  private judgeTogether({ at: row, channel, length, sums, present, offenders }: Row): Told | undefined {
    const { inputs, polarisations, stations, flaggedInputs } = this.plan;
    if (length < LEAST_SPECTRA) return undefined;
    const shape = this.shapeOf(channel);
    const curve = this.curveOf(channel);
    let sum = 0;
    let count = 0;
    let unjudged = 0;
    for (let a = 0; a < inputs; a++) {
      if (flaggedInputs[a] === 1) continue;
      const at = row * inputs + a;
      const isWhole = !present || present[row * stations + Math.floor(a / polarisations)] === length;
      const off = isWhole ? offsetOf(sums[2 * at], sums[2 * at + 1], length, shape, curve) : NaN;
      if (Number.isNaN(off)) unjudged++;
      else {
        sum += off;
        count++;
      }
    }
    if (count < 2) return undefined;
    const { low, high } = this.book.of(length, shape, count);
    const verdict = sum / count > high ? ABOVE : sum / count < low ? BELOW : 0;
    if (verdict !== 0)
      for (let a = 0; a < inputs; a++) if (flaggedInputs[a] === 0) offenders[row * inputs + a] = verdict;
    let judgedStations = 0;
    for (let s = 0; s < stations; s++) {
      const mine = flaggedInputs.subarray(s * polarisations, (s + 1) * polarisations);
      if (mine.includes(0)) judgedStations++;
    }
    return { stations: judgedStations, unjudged };
  }

  private shapeOf = (channel: number): PowerShape => (channel < this.plan.realChannels ? 0.5 : 1);
  private curveOf = (channel: number): RoundedCurve | undefined =>
    this.plan.curves[channel < this.plan.realChannels ? 'real' : 'complex'];
}

/** A window's channel: where it stands among all, [w][c]. */
interface Row {
  readonly at: number;
  readonly channel: number;
  readonly length: number;
  readonly sums: Float64Array;
  readonly present: Uint32Array | undefined;
  readonly offenders: Uint8Array;
}

interface Told {
  readonly stations: number;
  readonly unjudged: number;
}

interface Fence {
  readonly spectra: number;
  /** None where there are too few spectra. */
  readonly limits: Limits | undefined;
  /** Of S1, and of S2/S1². */
  readonly leastPower: number;
  readonly mostPower: number;
  readonly low: number;
  readonly high: number;
}

function makeFence(
  book: LimitBook,
  spectra: number,
  shape: PowerShape,
  curve: RoundedCurve | undefined,
): Fence {
  if (spectra < LEAST_SPECTRA)
    return { spectra, limits: undefined, leastPower: Infinity, mostPower: -Infinity, low: 0, high: 0 };
  const limits = book.of(spectra, shape);
  // Of rounded noise: what lies within the limits whatever its level.
  let [low, high] = [1 + limits.low, 1 + limits.high];
  for (const [n, mean] of curve?.means.entries() ?? []) {
    const spread = curve?.spreads[n] ?? 1;
    low = Math.max(low, mean + spread * limits.low);
    high = Math.min(high, mean + spread * limits.high);
  }
  const ratioAt = (kurtosis: number): number =>
    (1 + (kurtosis * (spectra - 1)) / (spectra * shape + 1)) / spectra;
  const width = ratioAt(high) - ratioAt(low);
  const last = curve ? 2 ** (curve.firstOctave + (curve.means.length - 1) / STEPS_PER_OCTAVE) : 0;
  return {
    spectra,
    limits,
    leastPower: curve ? curve.leastPower * spectra : Number.MIN_VALUE,
    mostPower: curve ? last * spectra : Number.MAX_VALUE,
    low: ratioAt(low) + 1e-9 * width,
    high: ratioAt(high) - 1e-9 * width,
  };
}

export const ABOVE = 1;
export const BELOW = 2;
const UNJUDGED = 3;
/** Added where a pair of windows offended, and neither alone. */
const PAIRED = 4;
/** Beyond the block's first or last window. */
const EDGE = 255;
const isAlone = (offence: number): boolean => offence === ABOVE || offence === BELOW;
/** Which of the two an offence is. */
export const sideOf = (offence: number): number => offence % PAIRED;

function verdictOf(
  s1: number,
  s2: number,
  { limits, spectra }: Fence,
  shape: PowerShape,
  curve: RoundedCurve | undefined,
): number {
  if (!limits) return UNJUDGED;
  const off = offsetOf(s1, s2, spectra, shape, curve);
  if (off > limits.high) return ABOVE;
  if (off < limits.low) return BELOW;
  return Number.isNaN(off) ? UNJUDGED : 0;
}

/** SK less what noise has on average, over the spread that rounding leaves it; NaN where nothing can be said. */
export function offsetOf(
  s1: number,
  s2: number,
  spectra: number,
  shape: PowerShape,
  curve: RoundedCurve | undefined,
): number {
  if (s1 === 0) return NaN;
  const kurtosis = ((spectra * shape + 1) / (spectra - 1)) * ((spectra * s2) / (s1 * s1) - 1);
  if (!curve) return kurtosis - 1;
  const power = s1 / spectra;
  if (power >= curve.plainFrom && power <= curve.plainTo) return kurtosis - 1;
  if (power < curve.leastPower) return NaN;
  const place = (Math.log2(power) - curve.firstOctave) * STEPS_PER_OCTAVE;
  const last = curve.means.length - 1;
  if (place >= last) return (kurtosis - curve.means[last]) / curve.spreads[last];
  const n = Math.floor(place);
  const part = place - n;
  const between = (of: Float64Array): number => of[n] + part * (of[n + 1] - of[n]);
  return (kurtosis - between(curve.means)) / between(curve.spreads);
}
