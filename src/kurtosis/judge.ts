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
  /** offenders : [w][c][a], 1 where an input's own kurtosis lies above its limits, 2 below; kept windows' too. */
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

  constructor(private readonly plan: KurtosisPlan) {
    this.book = new LimitBook(plan.sigmas);
  }

  /** sums : [w][c][a][S1, S2]. */
  judge(edges: Int32Array, sums: Float64Array, present: Uint32Array | undefined): Judgement {
    const { channels, inputs, stations, polarisations, over, bursts } = this.plan;
    const windows = edges.length - 1;
    const mask = new Uint8Array(windows * channels * stations);
    const offenders = new Uint8Array(windows * channels * inputs);
    const common = new Uint8Array(windows * channels);
    const everywhere: number[] = [];
    let unjudged = 0;
    for (let w = 0; w < windows; w++) {
      let cells = 0;
      let taken = 0;
      for (let c = 0; c < channels; c++) {
        const row = w * channels + c;
        const asked =
          over === 'inputs' ? this.judgeTogether(row, c, edges[w + 1] - edges[w], sums, present, offenders) : undefined;
        const judged = asked ?? this.judgeEach(row, c, edges[w + 1] - edges[w], sums, present, offenders);
        unjudged += judged.unjudged;
        cells += judged.stations;
        let offending = 0;
        for (let s = 0; s < stations; s++) {
          let offends = 0;
          for (let p = 0; p < polarisations; p++)
            offends |= offenders[row * inputs + s * polarisations + p];
          if (offends === 0) continue;
          mask[row * stations + s] = 1;
          offending++;
        }
        taken += offending;
        if (2 * offending > judged.stations) common[row] = 1;
      }
      if (cells >= LEAST_CELLS && 2 * taken > cells) {
        everywhere.push(w);
        if (bursts === 'keep') mask.fill(0, w * channels * stations, (w + 1) * channels * stations);
      }
    }
    return { edges, mask, offenders, present, everywhere, common, unjudged };
  }

  /** Every input of a window's channel for itself. */
  private judgeEach(
    row: number,
    channel: number,
    length: number,
    sums: Float64Array,
    present: Uint32Array | undefined,
    offenders: Uint8Array,
  ): { readonly stations: number; readonly unjudged: number } {
    const { inputs, stations, polarisations, flaggedInputs } = this.plan;
    const shape = this.shapeOf(channel);
    const curve = this.curveOf(channel);
    let unjudged = 0;
    let judgedStations = 0;
    let spectra = length;
    let limits = length >= LEAST_SPECTRA ? this.book.of(length, shape) : undefined;
    for (let s = 0; s < stations; s++) {
      if (present && present[row * stations + s] !== spectra) {
        spectra = present[row * stations + s];
        limits = spectra >= LEAST_SPECTRA ? this.book.of(spectra, shape) : undefined;
      }
      let any = 0;
      for (let p = 0; p < polarisations; p++) {
        const a = s * polarisations + p;
        if (flaggedInputs[a] === 1) continue;
        const at = row * inputs + a;
        const verdict = limits ? verdictOf(sums, 2 * at, spectra, shape, limits, curve) : UNJUDGED;
        if (verdict === UNJUDGED) unjudged++;
        else {
          any = 1;
          offenders[at] = verdict;
        }
      }
      judgedStations += any;
    }
    return { stations: judgedStations, unjudged };
  }

  /** The mean over inputs, each in units of its own spread; undefined where fewer than two can be judged. */
  private judgeTogether(
    row: number,
    channel: number,
    length: number,
    sums: Float64Array,
    present: Uint32Array | undefined,
    offenders: Uint8Array,
  ): { readonly stations: number; readonly unjudged: number } | undefined {
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
      const off = isWhole ? offsetOf(sums, 2 * at, length, shape, curve) : NaN;
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

export const ABOVE = 1;
export const BELOW = 2;
const UNJUDGED = 3;

function verdictOf(
  sums: Float64Array,
  at: number,
  spectra: number,
  shape: PowerShape,
  limits: Limits,
  curve: RoundedCurve | undefined,
): number {
  const off = offsetOf(sums, at, spectra, shape, curve);
  if (off > limits.high) return ABOVE;
  if (off < limits.low) return BELOW;
  return Number.isNaN(off) ? UNJUDGED : 0;
}

/** SK less what noise has on average, over the spread that rounding leaves it; NaN where nothing can be said. */
export function offsetOf(
  sums: Float64Array,
  at: number,
  spectra: number,
  shape: PowerShape,
  curve: RoundedCurve | undefined,
): number {
  const s1 = sums[at];
  if (s1 === 0) return NaN;
  const kurtosis = ((spectra * shape + 1) / (spectra - 1)) * ((spectra * sums[at + 1]) / (s1 * s1) - 1);
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
