/**
 * The rules in plain loops: the reference that native code (cpu/decide.cpp) is compared with, code for code.
 *
 * 1. Each input's window has limits of its own (Nita & Gary 2010), by its number of spectra and, for rounded numbers,
 *    its power.
 * 2. The mean over inputs (Taylor et al. 2019), each within its own limits, flags all inputs of a window's channel.
 * 3. Where most inputs of a polarisation are above their limits in most channels, or the mean over all inputs and
 *    channels is, the window is a burst, kept or flagged as a whole.
 * 4. Two windows together (Smith, Lynch & Pisano 2022) show signals present for half of one: a strong signal has the
 *    kurtosis of noise there.
 * 5. Means over all inputs and 2, 4, 8 … windows show signals too weak for one.
 * 6. Windows of an input are flagged with those around them (Offringa, van de Gronde & Roerdink 2012). In a burst that
 *    is kept, a channel is flagged where it is flagged before and after.
 */
import { median } from '../core/median.js';
import { ABOVE, BELOW, BURST, isFlagged, KEPT, OVERLOAD, UNTESTED, WIDER } from './decision.js';
import { ENTRY, keyOf } from './noise.js';
import type { KurtosisPlan } from './plan.js';
import { HEAD, MEAN, type Tables } from './tables.js';

/**
 * A mean nearer than this to the nominal mean is not flagged: noise of a real receiver is not quite Gaussian. A carrier
 * of −6 dB has this offset.
 */
const LEAST_OFFSET = 0.04;
/** The least number of channels, and of windows' channels, that determine the nominal mean. */
const LEAST_CHANNELS = 8;
const LEAST_ROWS = 32;
/** Neighbouring channels overlap: so many have one channel's independent noise. */
const CHANNELS_ALIKE = 1.5;
/** Fewer inputs' windows are no burst. */
const LEAST_CELLS = 8;
/** σ over the median absolute deviation of a normal distribution. */
const MAD_TO_SIGMA = 1.4826;
/** A window is flagged where a run around it has at least so many flagged windows for each other one. */
const FILL = 3;
const SIDES = ABOVE | BELOW;
const NOT_TESTED = { z: 0, within: 0, code: UNTESTED };
const sideOf = (value: number, low: number, high: number): number =>
  value > high ? ABOVE : value < low ? BELOW : 0;

/** sums : [w][c][a][S1, S2], lost : [w][c][a]; codes : [w][c][a] and bursts : [w] are written (decision.ts). */
export function decide(
  plan: KurtosisPlan,
  tables: Tables,
  sums: Float64Array,
  lost: Uint32Array | undefined,
  { codes, bursts }: { readonly codes: Uint8Array; readonly bursts: Uint8Array },
): void {
  const { channels, inputs, polarisations, realChannels, flaggedInputs, over } = plan;
  const { edges, pairs, byLength, means } = tables;
  const windows = edges.length - 1;
  const rows = windows * channels;
  const used = [...flaggedInputs.keys()].filter((a) => flaggedInputs[a] === 0);
  const kindOf = (c: number): number => (c < realChannels ? 1 : 0);

  /** z of sums by a table, z clipped to its limits, and on which side of them it is. */
  const test = (table: number, s1: number, s2: number): { z: number; within: number; code: number } => {
    const [spectra, leastPower, firstKey, scale, entries, first] = tables.heads.subarray(HEAD * table);
    const power = s1 / spectra;
    if (table < 0 || !(power >= leastPower)) return NOT_TESTED;
    const at = ENTRY * (first + Math.min(Math.max(0, keyOf(power) - firstKey), entries - 1));
    const [offset, perSpread, low, high] = tables.entries.subarray(at, at + ENTRY);
    const z = ((scale * s2) / (s1 * s1) - offset) * perSpread;
    if (Number.isNaN(z)) return NOT_TESTED;
    return { z, within: Math.min(high, Math.max(low, z)), code: sideOf(z, low, high) };
  };
  const limitsOf = (count: number): readonly [low: number, high: number] => {
    let step = 0;
    while (MEAN * (step + 1) < means.length && means[MEAN * (step + 1)] <= count) step++;
    return [means[MEAN * step + 1], means[MEAN * step + 2]];
  };
  /** All inputs of a row that have no code yet. */
  const flagRow = (row: number, side: number): void => {
    for (const a of used)
      if ((codes[row * inputs + a] & SIDES) === 0) codes[row * inputs + a] |= side | WIDER;
  };

  // 1. For whole windows, [w][c]: their number, and z of all, clipped to their limits; the number within limits, and
  //    their z.
  const [many, clipped, good, total] = Array.from({ length: 4 }, () => new Float64Array(rows));
  codes.fill(0);
  for (let row = 0; row < rows; row++) {
    const [w, c] = [Math.floor(row / channels), row % channels];
    let sum = 0;
    for (const a of used) {
      const at = row * inputs + a;
      const missing = lost ? lost[at] : 0;
      const came = edges[w + 1] - edges[w] - missing;
      const table = byLength[(kindOf(c) * byLength.length) / 2 + came];
      const { z, within, code } = test(table, sums[2 * at], sums[2 * at + 1]);
      codes[at] = code;
      if (missing > 0 || code === UNTESTED) continue;
      many[row]++;
      clipped[row] += within;
      sum += z;
      if (code !== 0) continue;
      good[row]++;
      total[row] += z;
    }
    if (over === 'each' || many[row] < 2) continue;
    for (const a of used) codes[row * inputs + a] &= UNTESTED;
    const side = sideOf(sum / many[row], ...limitsOf(many[row]));
    if (side !== 0) flagRow(row, side);
  }

  // 2. Nominal values, by medians: the mean, and the scatter of means where inputs receive the same sky.
  const complexRows = [...good.keys()].filter((row) => good[row] > 0 && row % channels >= realChannels);
  const usesMeans =
    over === 'each' && channels - realChannels >= LEAST_CHANNELS && complexRows.length >= LEAST_ROWS;
  let [bias, inflation] = [0, 1];
  if (usesMeans) {
    // A recorder with few bits leaves less than 1 everywhere; much more than 1 is a burst.
    bias = Math.min(LEAST_OFFSET, median(complexRows.map((row) => total[row] / good[row])));
    const scatter = complexRows.map(
      (row) => (Math.abs(total[row] / good[row] - bias) * Math.sqrt(good[row])) / tables.sigma,
    );
    const spread = MAD_TO_SIGMA * median(scatter);
    inflation = Math.max(1, spread * spread);
  }
  /** The side of noise of a mean of `count`, of which `alike` are correlated; 0: neither. */
  const sideOfMean = (sum: number, count: number, alike = 1): number => {
    const [low, high] = limitsOf(count / (inflation * alike));
    return sideOf(sum / count - bias, Math.min(-LEAST_OFFSET, low), Math.max(LEAST_OFFSET, high));
  };
  for (let w = 0; w < windows; w++) {
    let [sum, count] = [0, 0];
    for (let row = w * channels + realChannels; row < (w + 1) * channels; row++) {
      sum += total[row];
      count += good[row];
    }
    bursts[w] = usesMeans && count > 0 && sideOfMean(sum, count, CHANNELS_ALIKE) === ABOVE ? BURST : 0;
  }
  for (let row = 0; row < rows && usesMeans; row++) {
    if (row % channels < realChannels || many[row] < 2) continue;
    const side = sideOfMean(clipped[row], many[row]);
    if (side === 0) continue;
    flagRow(row, side);
    good[row] = total[row] = 0;
  }

  // 3. A burst by either polarisation.
  for (let w = 0; w < windows; w++) {
    for (let p = polarisations - 1; p >= 0; p--) {
      let [tested, above, below] = [0, 0, 0];
      for (let row = w * channels; row < (w + 1) * channels; row++)
        for (const a of used) {
          const code = codes[row * inputs + a];
          if (a % polarisations !== p || (code & UNTESTED) !== 0) continue;
          tested++;
          if ((code & ABOVE) !== 0) above++;
          if ((code & BELOW) !== 0) below++;
        }
      if (tested < LEAST_CELLS) continue;
      if (2 * below > tested && bursts[w] === 0) bursts[w] = OVERLOAD;
      if (2 * above > tested) bursts[w] = BURST;
    }
    if (bursts[w] !== BURST) continue;
    for (let row = w * channels; row < (w + 1) * channels; row++) {
      good[row] = total[row] = 0;
      if (plan.bursts === 'take') flagRow(row, ABOVE);
      else for (const a of used) if ((codes[row * inputs + a] & ABOVE) !== 0) codes[row * inputs + a] |= KEPT;
    }
  }
  const isKept = (w: number): boolean => bursts[w] === BURST && plan.bursts === 'keep';

  for (let c = 0; c < channels; c++) {
    // 4. Pairs of whole windows.
    for (let w = 0; w + 1 < windows && over === 'each'; w++) {
      if (bursts[w] === BURST || bursts[w + 1] === BURST) continue;
      for (const a of used) {
        const [x, y] = [(w * channels + c) * inputs + a, ((w + 1) * channels + c) * inputs + a];
        if (((codes[x] | codes[y]) & SIDES) !== 0 || (lost && lost[x] + lost[y] > 0)) continue;
        const [s1, s2] = [sums[2 * x] + sums[2 * y], sums[2 * x + 1] + sums[2 * y + 1]];
        const side = test(pairs[2 * w + kindOf(c)], s1, s2).code & SIDES;
        if (side === 0) continue;
        codes[x] |= side | WIDER;
        codes[y] |= side | WIDER;
      }
    }
    // 5. Runs of windows, each half a run further on.
    for (let run = 2; run <= windows && usesMeans && c >= realChannels; run *= 2)
      for (let from = 0; from < windows; from += run / 2) {
        const to = Math.min(windows, from + run);
        let [sum, count] = [0, 0];
        for (let w = from; w < to; w++) {
          sum += total[w * channels + c];
          count += good[w * channels + c];
        }
        const side = count === 0 ? 0 : sideOfMean(sum, count);
        for (let w = from; w < to && side !== 0; w++) if (!isKept(w)) flagRow(w * channels + c, side);
      }
    // 6. Around what is flagged; windows of a burst that is kept count only where they are below their limits.
    for (const a of used) {
      const at = (w: number): number => (w * channels + c) * inputs + a;
      const isSet = (w: number): boolean => isFlagged(codes[at(w)]);
      const all = [...bursts.keys()];
      const counted = all.filter((w) => isSet(w) || !isKept(w));
      const flags = counted.map(isSet);
      if (!flags.includes(true)) continue;
      for (const [n, w] of counted.entries())
        for (let from = 0; from <= n && !flags[n]; from++)
          for (let to = from, balance = 0; to < flags.length; to++) {
            balance += flags[to] ? 1 : -FILL;
            if (to >= n && balance >= 0) codes[at(w)] |= ABOVE | WIDER;
          }
      for (const w of all) {
        if (counted.includes(w)) continue;
        const beside = [counted.filter((one) => one < w).at(-1), counted.find((one) => one > w)];
        const known = beside.filter((one) => one !== undefined);
        if (known.length === 0 || !known.every(isSet)) continue;
        codes[at(w)] = (codes[at(w)] & ~(SIDES | KEPT)) | BELOW | WIDER;
      }
    }
  }
}
