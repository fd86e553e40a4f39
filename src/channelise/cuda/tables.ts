/** The tables that kernels on a card read: taps, twiddles, factors, delays. */
import { voltageSizeBytes } from '../../core/axes.js';
import { TURN_NUMBERS, type RunDelays } from '../../delay/index.js';
import { outputFactor, type ChannelisePlan } from '../plan.js';

/** 8-bit samples are read by words, and delayed rows open at any sample (delays.cuh). */
export const WORD_BYTES = 4;
/** Taps are processed this many at a time, as in shape.cuh. */
const chunkOf = (taps: number): number => (taps >= 8 ? 8 : Math.ceil(taps / 2) * 2);

/**
 * taps : [rotation][τ/2][n], two 16-bit taps a word, the even one low, those of sample n at n + rotation, the last ones
 * in front; or [τ][n], float32. Padded with zeros to a whole number of chunks.
 */
export function tapTable(plan: ChannelisePlan): Int32Array | Float32Array {
  const { samplesPerSpectrum, taps, kernel } = plan;
  const chunk = chunkOf(taps);
  const rows = Math.ceil(taps / chunk) * chunk;
  if (kernel.kind === 'float64') {
    const table = new Float32Array(rows * samplesPerSpectrum);
    table.set(kernel.taps);
    return table;
  }
  const rotations = plan.mostDelaySamples === undefined ? 1 : WORD_BYTES / voltageSizeBytes(plan.inputType);
  const table = new Int32Array((rotations * rows * samplesPerSpectrum) / 2);
  for (let rotation = 0; rotation < rotations; rotation++) {
    for (let tau = 0; tau < taps; tau++) {
      const row = ((rotation * rows) / 2 + Math.floor(tau / 2)) * samplesPerSpectrum;
      for (let n = 0; n < samplesPerSpectrum; n++) {
        const bits = kernel.taps[tau * samplesPerSpectrum + n] & 0xffff;
        table[row + ((n + rotation) % samplesPerSpectrum)] |= tau % 2 === 0 ? bits : bits << 16;
      }
    }
  }
  return table;
}

/** e^(−2πi n/period) for n = 0 … count − 1, (re, im). */
export function twiddleTable(period: number, count = period): Float32Array {
  const table = new Float32Array(2 * count);
  for (let n = 0; n < count; n++) {
    const angle = (-2 * Math.PI * n) / period;
    table[2 * n] = Math.cos(angle);
    table[2 * n + 1] = Math.sin(angle);
  }
  return table;
}

/**
 * The twiddles of each level but the first, in the layout of channelise-fused.cu: [level][d][k], e^(−2πi k q/(B·R))
 * where earlier levels have made B points of which d is one, in the order of its digits, and q its bin. Pairs of k are
 * adjacent: after an odd number of them one is left empty.
 */
export function levelTwiddles(radices: readonly number[]): Float32Array {
  const table: number[] = [];
  let before = 1;
  radices.forEach((radix, level) => {
    for (let d = 0; level > 0 && d < before; d++) {
      const bin = binOfDigits(d, radices.slice(0, level));
      for (let k = 0; k < radix; k++) {
        const angle = (-2 * Math.PI * ((k * bin) % (before * radix))) / (before * radix);
        table.push(Math.cos(angle), Math.sin(angle));
      }
      if (radix % 2 === 1) table.push(0, 0);
    }
    before *= radix;
  });
  return Float32Array.from(table.length > 0 ? table : [1, 0]);
}

/**
 * The twiddles of a transform in registers whose n-th point is first multiplied by the phase n·omega, (re, im): of 16
 * points ω W₁₆ᵏ for four k, ω² W₈ᵏ for two, ω⁴, ω⁸ (butterflies.cuh).
 */
export function turnsOf(points: number, omega: number): number[] {
  const turns: number[] = [];
  for (let power = 1; power < points; power *= 2)
    for (let k = 0; k === 0 || 4 * k * power < points; k++) turns.push(power * omega + (k * power) / points);
  return turns.flatMap((turn) => [Math.cos(-2 * Math.PI * turn), Math.sin(-2 * Math.PI * turn)]);
}

/** The digits of a position, slowest first, are those of its bin, fastest first. */
export function binOfDigits(position: number, radices: readonly number[]): number {
  let rest = position;
  let weight = radices.reduce((product, radix) => product * radix, 1);
  let bin = 0;
  for (const radix of radices.toReversed()) {
    weight /= radix;
    bin += weight * (rest % radix);
    rest = Math.floor(rest / radix);
  }
  return bin;
}

/** factors : [a][c], or one number where all are equal. */
export function factorTable(plan: ChannelisePlan): Float32Array {
  if (typeof plan.gains === 'number') return Float32Array.of(outputFactor(plan, 0, 0));
  const { channels } = plan;
  return Float32Array.from(plan.gains, (_, n) => outputFactor(plan, Math.floor(n / channels), n % channels));
}

/** The largest output before clamping, for any input: every sample at −128 − 128i, with the worst phases. */
export function largestOutput(plan: ChannelisePlan): number {
  let taps = 0;
  for (const tap of plan.kernel.taps) taps += Math.abs(tap);
  let factor = 0;
  for (const one of factorTable(plan)) factor = Math.max(factor, Math.abs(one));
  return Math.SQRT2 * 128 * taps * factor;
}

/** struct InputDelay of delays.cuh. */
export const INPUT_DELAY = {
  phase: 0,
  phaseStep: 8,
  slope: 16,
  slopeStep: 20,
  opening: 24,
  padding: 28,
  bytes: 32,
} as const;

/**
 * table : [a]. Rows begin `mostDelaySamples` before the window of an input that is not delayed.
 */
export function writeDelays(
  table: DataView,
  { turns, shiftSamples }: RunDelays,
  mostDelaySamples: number,
  sampleBytes: number,
): void {
  shiftSamples.forEach((shift, a) => {
    const at = a * INPUT_DELAY.bytes;
    const own = turns.subarray(TURN_NUMBERS * a, TURN_NUMBERS * (a + 1));
    writeTurn(table, at + INPUT_DELAY.phase, own[0]);
    writeTurn(table, at + INPUT_DELAY.phaseStep, own[1]);
    table.setFloat32(at + INPUT_DELAY.slope, own[2], true);
    table.setFloat32(at + INPUT_DELAY.slopeStep, own[3], true);
    table.setInt32(at + INPUT_DELAY.opening, (mostDelaySamples - shift) * sampleBytes, true);
    table.setInt32(at + INPUT_DELAY.padding, 0, true);
  });
}

/** Fractions of a turn times 2⁶⁴, without whole turns: halves of 32 bits, the lower one first. */
function writeTurn(table: DataView, at: number, turns: number): void {
  const scaled = (turns - Math.floor(turns)) * 2 ** 32;
  const high = Math.floor(scaled);
  table.setUint32(at, Math.floor((scaled - high) * 2 ** 32), true);
  table.setUint32(at + 4, high % 2 ** 32, true);
}

/** channels : [place], for powers in the order [k low][k high], channel = k low + `low` · k high. */
export const interleaved = (channels: number, low: number): Int32Array =>
  Int32Array.from({ length: channels }, (_, place) => {
    const high = channels / low;
    return Math.floor(place / high) + low * (place % high);
  });

/**
 * channels : [place], for powers of the general kernels: in output order, or of floats in the order of a tile's rows
 * (channelise-fused.cu).
 */
export function powerPlaces(
  { channels, outputType }: ChannelisePlan,
  radices: readonly number[],
): Int32Array {
  const places = Int32Array.from({ length: channels }, (_, place) => place);
  if (outputType !== 'cf32') return places;
  return places.map((place) => {
    const bin = binOfDigits(place, radices);
    const middle = Math.ceil(channels / 2);
    return bin < middle ? bin + Math.floor(channels / 2) : bin - middle;
  });
}
