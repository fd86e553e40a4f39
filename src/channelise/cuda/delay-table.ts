/** Delays of inputs as the kernels of a card take them (delays.cuh). */
import { TURN_NUMBERS, type RunDelays } from '../../delay/index.js';

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

/** Parts of 2⁶⁴ of a turn, whole ones dropped: halves of 32 bits, the lower one first. */
function writeTurn(table: DataView, at: number, turns: number): void {
  const scaled = (turns - Math.floor(turns)) * 2 ** 32;
  const high = Math.floor(scaled);
  table.setUint32(at, Math.floor((scaled - high) * 2 ** 32), true);
  table.setUint32(at + 4, high % 2 ** 32, true);
}
