/** A number as the 16 bits of IEEE half precision, rounded to nearest, ties to even; too large becomes infinity. */
export function halfBits(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (Number.isNaN(value)) return 0x7e00;
  if (size >= 65_520) return sign | 0x7c00; // halfway to 2¹⁶ rounds up
  // The spacing of halves around `size`: 2⁻²⁴ below 2⁻¹⁴, then 2¹⁰ steps to each octave.
  const exponent = size < 2 ** -14 ? -14 : Math.floor(Math.log2(size));
  // Math.log2 may err by an ulp at powers of two: a mantissa of 2048 simply carries into the next octave below.
  const mantissa = roundEven(size / 2 ** (exponent - 10));
  return sign | (mantissa + 1024 * (exponent + 14));
}

function roundEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}

/** The number that 16 bits of half precision stand for. */
export function fromHalfBits(bits: number): number {
  const sign = (bits & 0x8000) === 0 ? 1 : -1;
  const exponent = (bits >> 10) & 31;
  const mantissa = bits & 1023;
  if (exponent === 31) return mantissa === 0 ? sign * Infinity : NaN;
  return sign * (exponent === 0 ? mantissa * 2 ** -24 : (1024 + mantissa) * 2 ** (exponent - 25));
}
