/** Values of 8 or 16 bits: the scale and offset of every channel, from the first values that were made. */
import { halfToEven } from '../../beamform/index.js';

export interface Levels {
  /** [row]: stored = halfToEven(value·scale + offset), within what the bits hold. */
  readonly scale: Float32Array;
  readonly offset: Float32Array;
}

/** Where the median of a channel comes to be: a quarter up, so that pulses have room, six standard deviations below it. */
const MEDIAN_AT = 1 / 4;
const DEVIATIONS_BELOW = 6;
/** Of noise, between the quartiles. */
const QUARTILES_PER_DEVIATION = 1.349;

/** values : [t][row], counts : [t][row], 0 where nothing was received, which is left out. */
export function measureLevels(
  values: Float32Array,
  counts: Float32Array,
  rows: number,
  bits: 8 | 16,
): Levels {
  const scale = new Float32Array(rows);
  const offset = new Float32Array(rows);
  const median = 2 ** bits * MEDIAN_AT;
  const times = values.length / rows;
  const room = new Float32Array(times);
  for (let n = 0; n < rows; n++) {
    let received = 0;
    for (let t = 0; t < times; t++) if (counts[t * rows + n] > 0) room[received++] = values[t * rows + n];
    // Of a typed array: sorted as numbers, ten times as fast as by a comparison.
    const some = room.subarray(0, received).sort();
    const at = (share: number): number => some[Math.floor(share * (some.length - 1))] ?? 0;
    const deviation = (at(0.75) - at(0.25)) / QUARTILES_PER_DEVIATION;
    // A channel that never changes has no scale of its own.
    scale[n] = deviation > 0 ? median / DEVIATIONS_BELOW / deviation : 0;
    offset[n] = median - at(0.5) * scale[n];
  }
  return { scale, offset };
}

export interface Requantised {
  readonly stored: Uint8Array | Uint16Array;
  /** Values beyond what the bits hold. */
  readonly saturated: number;
}

/** 0 where nothing was received. */
export function requantise(
  values: Float32Array,
  counts: Float32Array,
  { scale, offset }: Levels,
  bits: 8 | 16,
): Requantised {
  const stored = new (bits === 8 ? Uint8Array : Uint16Array)(values.length);
  const most = 2 ** bits - 1;
  let saturated = 0;
  for (let n = 0; n < values.length; n++) {
    if (counts[n] === 0) continue;
    const row = n % scale.length;
    const level = halfToEven(values[n] * scale[row] + offset[row]);
    if (level < 0 || level > most) saturated++;
    stored[n] = Math.min(most, Math.max(0, level));
  }
  return { stored, saturated };
}
