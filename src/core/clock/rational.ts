/** Fractions of whole numbers, exact at any size. Reduced, with a positive denominator. */
import { refuse } from '../errors.js';

export interface Rational {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

export function rational(numerator: bigint, denominator = 1n): Rational {
  if (denominator === 0n) refuse('fraction', `${numerator}/0 is no number`, 'give another denominator');
  const sign = denominator < 0n ? -1n : 1n;
  const common = greatestCommonDivisor(numerator, denominator) * sign;
  return { numerator: numerator / common, denominator: denominator / common };
}

export function greatestCommonDivisor(x: bigint, y: bigint): bigint {
  let [a, b] = [x < 0n ? -x : x, y < 0n ? -y : y];
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}

/** The exact value of a double: a whole number over a power of two. */
export function rationalOf(value: number): Rational {
  if (!Number.isFinite(value)) refuse('fraction', `${value} is no number`, 'give a finite one');
  let denominator = 1n;
  let scaled = value;
  // Doubling is exact; every finite double becomes whole after at most 1074 doublings.
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    denominator *= 2n;
  }
  return rational(BigInt(scaled), denominator);
}

export const overWhole = ({ numerator, denominator }: Rational, divisor: bigint): Rational =>
  rational(numerator, denominator * divisor);

/** The nearest double. */
export function numberOf({ numerator, denominator }: Rational): number {
  const whole = floorDivide(numerator, denominator);
  return Number(whole) + properFraction(numerator - whole * denominator, denominator);
}

/** Rounds towards minus infinity; bigint's own division rounds towards zero. */
export function floorDivide(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  return numerator % denominator < 0n ? quotient - 1n : quotient;
}

/** A fraction in [0, 1) as a double, to 2⁻⁵³. */
export const properFraction = (numerator: bigint, denominator: bigint): number =>
  Number((numerator << 64n) / denominator) / 2 ** 64;
