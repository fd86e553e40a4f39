/** A number as the 16 bits of IEEE half precision, rounded to nearest, ties to even; too large becomes infinity. */
export function halfBits(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (Number.isNaN(value)) return 0x7e00;
  if (size >= 65_520) return sign | 0x7c00; // halfway to 2¹⁶ rounds up
  // The spacing of halves around `size`: 2⁻²⁴ below 2⁻¹⁴, then 2¹⁰ steps to each octave.
  asDouble[0] = size;
  const octave = Math.max(0, (asWords[1] >>> 20) - 1023 + 14);
  // A mantissa of 2048 simply carries into the next octave.
  return sign | (roundEven(size * perSpacing[octave]) + 1024 * octave);
}

/**
 * A double's exponent is in the upper of its two words. This is fast, which matters for kernels of millions of weights.
 */
const asDouble = new Float64Array(1);
const asWords = new Uint32Array(asDouble.buffer);
const perSpacing = Float64Array.from({ length: 31 }, (_, octave) => 2 ** (24 - octave));
const spacing = perSpacing.map((value) => 1 / value);

function roundEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}

/** The number that 16 bits of half precision represent. */
export function fromHalfBits(bits: number): number {
  const sign = (bits & 0x8000) === 0 ? 1 : -1;
  const exponent = (bits >> 10) & 31;
  const mantissa = bits & 1023;
  if (exponent === 31) return mantissa === 0 ? sign * Infinity : NaN;
  return sign * (exponent === 0 ? mantissa * spacing[0] : (1024 + mantissa) * spacing[exponent - 1]);
}
