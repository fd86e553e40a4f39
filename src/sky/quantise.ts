/** From √Jy to recorded counts. */
import { isComplexVoltage, type VoltageElements, type VoltageType } from '../core/axes.js';

/** The largest magnitude used of a type: symmetric, so −128 never occurs; floats have no limit. */
export const fullScale = {
  i8: 127,
  ci8: 127,
  i16: 32_767,
  ci16: 32_767,
  f32: Infinity,
  cf32: Infinity,
} as const satisfies Record<VoltageType, number>;

/** As a fraction of full scale. 20 of 127 at 8 bits: rounding adds 0.02 % of noise, and 6 σ still fits. */
const RMS_FRACTION = 20 / 127;

/** Counts per √Jy that bring an input of mean power `powerJy` to the target rms; 1 for floats. */
export function countsPerRootJy(type: VoltageType, powerJy: number): number {
  if (fullScale[type] === Infinity) return 1;
  // A complex sample shares its power between two numbers.
  const powerPerNumberJy = isComplexVoltage(type) ? powerJy / 2 : powerJy;
  return (RMS_FRACTION * fullScale[type]) / Math.sqrt(powerPerNumberJy);
}

/** Adding and subtracting 1.5·2⁵² rounds a double to a whole number, half to even. */
const ROUNDER = 1.5 * 2 ** 52;

interface Quantiser {
  readonly type: VoltageType;
  readonly countsPerRootJy: number;
}

/**
 * Writes `samples` complex values into `target` from element `at`: both parts, or for real types twice the real part
 * (the other half of a real signal's spectrum mirrors the first). Returns how many numbers are at the rails, which
 * includes the clipped ones.
 */
export function quantise(
  values: Float64Array,
  samples: number,
  { type, countsPerRootJy: counts }: Quantiser,
  target: VoltageElements,
  at: number,
): number {
  const complex = isComplexVoltage(type);
  const scale = complex ? counts : 2 * counts;
  const stride = complex ? 1 : 2;
  const numbers = complex ? 2 * samples : samples;
  const limit = fullScale[type];
  if (limit === Infinity) {
    for (let n = 0; n < numbers; n++) target[at + n] = values[n * stride] * scale;
    return 0;
  }
  let clipped = 0;
  for (let n = 0; n < numbers; n++) {
    const rounded = values[n * stride] * scale + ROUNDER - ROUNDER;
    if (rounded >= limit || rounded <= -limit) clipped++;
    target[at + n] = rounded > limit ? limit : rounded < -limit ? -limit : rounded;
  }
  return clipped;
}
