/** Values of 8 or 16 bits: the scale and offset of every channel, from its first values. */
import { halfToEven } from '../../beamform/index.js';

export interface Levels {
  /** [row]: stored = halfToEven(value·scale + offset), clipped to the range of the bits. */
  readonly scale: Float32Array;
  readonly offset: Float32Array;
}

/** Position of a channel's median: a quarter of the range, for pulses above; six standard deviations below it. */
const MEDIAN_AT = 1 / 4;
const DEVIATIONS_BELOW = 6;
/** For Gaussian noise, between the quartiles. */
const QUARTILES_PER_DEVIATION = 1.349;

/** values : [t][row], counts : [t][row], 0 where no data were received; those values are left out. */
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
    // A typed array sorts as numbers, ten times as fast as with a comparison function.
    const some = room.subarray(0, received).sort();
    const at = (share: number): number => some[Math.floor(share * (some.length - 1))] ?? 0;
    const deviation = (at(0.75) - at(0.25)) / QUARTILES_PER_DEVIATION;
    // A constant channel has no scale.
    scale[n] = deviation > 0 ? median / DEVIATIONS_BELOW / deviation : 0;
    offset[n] = median - at(0.5) * scale[n];
  }
  return { scale, offset };
}

export interface Requantised {
  readonly stored: Uint8Array | Uint16Array;
  /** Values outside the range of the bits. */
  readonly saturated: number;
}

/** 0 where no data were received. */
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
