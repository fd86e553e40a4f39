/**
 * From sums of powers to what is taken: the same code whatever backend made the sums, so that masks are the same bit for
 * bit. An input goes alone, or with its station where the plan says so.
 */
import { extendRuns } from './extend.js';
import type { Limits, PowerShape } from './limits.js';
import { LEAST_SPECTRA, LimitBook, type KurtosisPlan } from './plan.js';
import { STEPS_PER_OCTAVE, type RoundedCurve } from './rounded.js';
import { Together } from './together.js';
import { ABOVE, BELOW, isAlone, offsetOf, PAIRED, TOGETHER, UNJUDGED } from './verdicts.js';

/** What was decided of a block. */
export interface Judgement {
  /** Windows are [edges[w], edges[w + 1]). */
  readonly edges: Int32Array;
  /** mask : [w][c][a], 1 where an input's samples are taken. */
  readonly mask: Uint8Array;
  /**
   * offenders : [w][c][a], 1 where an input's own kurtosis lies above its limits, 2 below; 4 more of a pair of windows, 8 more
   * of inputs or windows together. Kept windows' too.
   */
  readonly offenders: Uint8Array;
  /** present : [w][c][a], spectra that came; undefined where all did. */
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
  private readonly together: Together;

  constructor(private readonly plan: KurtosisPlan) {
    this.together = new Together(plan);
    this.book = new LimitBook(plan.sigmas);
    this.pairBook = new LimitBook(plan.sigmas + 1);
  }

  /** sums : [w][c][a][S1, S2]. */
  judge(edges: Int32Array, sums: Float64Array, present: Uint32Array | undefined): Judgement {
    const { channels, inputs, over, bursts } = this.plan;
    const windows = edges.length - 1;
    const mask = new Uint8Array(windows * channels * inputs);
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
    const weakBursts = over === 'each' ? this.together.judge({ edges, sums, present, offenders }) : [];
    if (over === 'each') this.takeNeighbours(windows, offenders, judged);
    if (bursts === 'take') for (const w of weakBursts) this.takeWindow(w, offenders);
    const touched = rowsWithAny(offenders, inputs);
    for (let w = 0; w < windows; w++) {
      let cells = 0;
      let taken = 0;
      for (let c = 0; c < channels; c++) {
        const at = w * channels + c;
        cells += judged[at];
        if (touched[at] === 0) continue;
        const offending = this.takeInputs(at, offenders, mask);
        taken += offending;
        if (2 * offending > judged[at]) common[at] = 1;
      }
      if (cells >= LEAST_CELLS && 2 * taken > cells) {
        everywhere.push(w);
        if (bursts === 'keep') mask.fill(0, w * channels * inputs, (w + 1) * channels * inputs);
      } else if (weakBursts.includes(w)) {
        // Kept as it is: what single channels lose, they lose for themselves.
        everywhere.push(w);
        common.fill(1, w * channels, (w + 1) * channels);
      }
    }
    return { edges, mask, offenders, present, everywhere, common, unjudged };
  }

  /** Into the mask with a row's offending inputs; how many stations have one. */
  private takeInputs(at: number, offenders: Uint8Array, mask: Uint8Array): number {
    const { inputs, stations, polarisations, takes } = this.plan;
    let offending = 0;
    for (let s = 0, n = at * inputs; s < stations; s++, n += polarisations) {
      let any = 0;
      for (let p = 0; p < polarisations; p++) {
        if (offenders[n + p] === 0) continue;
        mask[n + p] = 1;
        any = 1;
      }
      offending += any;
      if (any === 1 && takes === 'stations') mask.fill(1, n, n + polarisations);
    }
    return offending;
  }

  /** Windows beside those in which most stations offend. */
  private takeNeighbours(windows: number, offenders: Uint8Array, judged: Uint16Array): void {
    const { channels, inputs, flaggedInputs } = this.plan;
    const touched = rowsWithAny(offenders, inputs);
    const heard = new Uint8Array(windows);
    const more = new Uint8Array(windows);
    for (let c = 0; c < channels; c++) {
      let any = false;
      for (let w = 0; w < windows; w++) {
        const at = w * channels + c;
        heard[w] = touched[at] === 1 && 2 * this.offendingStations(at, offenders) > judged[at] ? 1 : 0;
        any ||= heard[w] === 1;
      }
      if (!any) continue;
      more.set(heard);
      extendRuns(more);
      for (let w = 0; w < windows; w++) {
        if (heard[w] === 1 || more[w] === 0) continue;
        const from = (w * channels + c) * inputs;
        for (let a = 0; a < inputs; a++)
          if (offenders[from + a] === 0 && flaggedInputs[a] === 0) offenders[from + a] = TOGETHER + ABOVE;
      }
    }
  }

  private offendingStations(at: number, offenders: Uint8Array): number {
    const { inputs, polarisations } = this.plan;
    let offending = 0;
    for (let n = at * inputs; n < (at + 1) * inputs; n += polarisations)
      if (offenders[n] !== 0 || offenders[n + polarisations - 1] !== 0) offending++;
    return offending;
  }

  /** All that is asked of a window: it was louder in all channels together. */
  private takeWindow(window: number, offenders: Uint8Array): void {
    const { channels, inputs, flaggedInputs } = this.plan;
    for (let at = window * channels * inputs; at < (window + 1) * channels * inputs; at++)
      if (offenders[at] === 0 && flaggedInputs[at % inputs] === 0) offenders[at] = TOGETHER + ABOVE;
  }

  /** Every input of a window's channel for itself. */
  private judgeEach(row: Row): Told {
    const { inputs, stations, polarisations, flaggedInputs } = this.plan;
    const { sums, present } = row;
    const shape = this.shapeOf(row.channel);
    const curve = this.curveOf(row.channel);
    let fence = this.fenceOf(row.length, shape, curve);
    let { leastPower, mostPower, low, high } = fence;
    let unjudged = 0;
    let judgedStations = stations;
    let lastSilent = -1;
    const first = row.at * inputs;
    for (let a = 0; a < inputs; a++) {
      if (present) {
        fence = this.fenceOf(present[first + a], shape, curve);
        ({ leastPower, mostPower, low, high } = fence);
      }
      const s1 = sums[2 * (first + a)];
      const s2 = sums[2 * (first + a) + 1];
      // Nearly all windows are noise of a usual level, and end here.
      if (s1 >= leastPower && s1 <= mostPower && s2 >= low * s1 * s1 && s2 <= high * s1 * s1) continue;
      const isAsked = flaggedInputs[a] === 0;
      const verdict = isAsked ? verdictOf(s1, s2, fence, shape, curve) : UNJUDGED;
      if (verdict === UNJUDGED) {
        if (isAsked) unjudged++;
        // A station of which no polarisation can be judged.
        if (polarisations === 1 || (a % 2 === 1 && lastSilent === a - 1)) judgedStations--;
        lastSilent = a;
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
    const { channels, inputs, flaggedInputs } = this.plan;
    const perWindow = channels * inputs;
    for (let w = 0; w + 2 < edges.length; w++) {
      for (let c = 0; c < channels; c++) {
        const shape = this.shapeOf(c);
        const curve = this.curveOf(c);
        let fence = this.fenceOf(edges[w + 2] - edges[w], shape, curve, 'pair');
        let { leastPower, mostPower, low, high } = fence;
        const from = w * perWindow + c * inputs;
        for (let a = 0; a < inputs; a++) {
          const x = from + a;
          const y = x + perWindow;
          if (present) {
            fence = this.fenceOf(present[x] + present[y], shape, curve, 'pair');
            ({ leastPower, mostPower, low, high } = fence);
          }
          const s1 = sums[2 * x] + sums[2 * y];
          const s2 = sums[2 * x + 1] + sums[2 * y + 1];
          if (s1 >= leastPower && s1 <= mostPower && s2 >= low * s1 * s1 && s2 <= high * s1 * s1) continue;
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
    const { flaggedInputs, inputs } = this.plan;
    const perWindow = this.plan.channels * inputs;
    if (windows < 2) return;
    for (let w = 0; w < windows; w++) {
      const isFirst = w === 0;
      const isLast = w === windows - 1;
      for (let at = w * perWindow; at < (w + 1) * perWindow; at++) {
        const before = isFirst ? EDGE : offenders[at - perWindow];
        if (before === 0 || offenders[at] !== 0 || (before !== EDGE && !isAlone(before))) continue;
        const after = isLast ? EDGE : offenders[at + perWindow];
        if (after !== EDGE && !isAlone(after)) continue;
        if (flaggedInputs[at % inputs] === 1) continue;
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
      const isWhole = !present || present[at] === length;
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

/** rows : [w][c], 1 where a row of inputs has any offender: few have, and the others need no look. */
function rowsWithAny(offenders: Uint8Array, inputs: number): Uint8Array {
  const rows = new Uint8Array(offenders.length / inputs);
  let at = offenders.findIndex((one) => one !== 0);
  while (at >= 0 && at < offenders.length) {
    if (offenders[at] !== 0) {
      const row = Math.floor(at / inputs);
      rows[row] = 1;
      at = (row + 1) * inputs;
    } else at++;
  }
  return rows;
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
  // Of rounded noise: what lies within the limits at every level that is near enough to noise of real numbers.
  let [low, high] = [1 + limits.low, 1 + limits.high];
  const [first, end] = curve ? nearlyPlain(curve) : [0, 0];
  for (let n = first; n < end; n++) {
    const [mean, spread] = [curve?.means[n] ?? 1, curve?.spreads[n] ?? 1];
    low = Math.max(low, mean + spread * limits.low);
    high = Math.min(high, mean + spread * limits.high);
  }
  const ratioAt = (kurtosis: number): number =>
    (1 + (kurtosis * (spectra - 1)) / (spectra * shape + 1)) / spectra;
  const width = ratioAt(high) - ratioAt(low);
  const powerAt = (n: number): number => 2 ** ((curve?.firstOctave ?? 0) + n / STEPS_PER_OCTAVE);
  return {
    spectra,
    limits,
    leastPower: curve ? powerAt(first) * spectra : Number.MIN_VALUE,
    mostPower: curve ? powerAt(end - 1) * spectra : Number.MAX_VALUE,
    low: ratioAt(low) + 1e-9 * width,
    high: ratioAt(high) - 1e-9 * width,
  };
}

/** From which entry of a curve to which mean and spread are 1 to a twentieth and a tenth. */
function nearlyPlain({ means, spreads }: RoundedCurve): readonly [first: number, end: number] {
  const isNear = (mean: number, n: number): boolean =>
    Math.abs(mean - 1) < 0.05 && Math.abs(spreads[n] - 1) < 0.1;
  const first = Math.max(0, means.findIndex(isNear));
  const after = means.findIndex((mean, n) => n > first && !isNear(mean, n));
  return [first, after < 0 ? means.length : after];
}

/** Beyond the block's first or last window. */
const EDGE = 255;

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
