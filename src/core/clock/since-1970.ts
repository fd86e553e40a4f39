/** Time intervals counted from 1970 in UTC days of 86 400 s, exactly: the same count on every day and machine. */
import { SECONDS_PER_DAY } from '../units.js';
import { floorDivide, overWhole, properFraction, rational, type Rational } from './rational.js';

/**
 * The exact length that a number of seconds means: a whole fraction of a day if no double is nearer to it (a third of a
 * second has no finite decimal expansion), else its decimals.
 */
function lengthOf(seconds: number): Rational {
  const parts = Math.round(SECONDS_PER_DAY / seconds);
  if (Number.isSafeInteger(parts) && Math.abs(parts * seconds - SECONDS_PER_DAY) <= 4 * ULP_OF_DAY)
    return rational(BigInt(SECONDS_PER_DAY), BigInt(parts));
  const [, whole, decimals = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(
    String(seconds),
  ) ?? ['', '0'];
  const power = Number(exponent) - decimals.length;
  const digits = BigInt(whole + decimals);
  return power >= 0 ? rational(digits * 10n ** BigInt(power)) : rational(digits, 10n ** BigInt(-power));
}
const ULP_OF_DAY = SECONDS_PER_DAY * Number.EPSILON;

/**
 * How many intervals of `lengthS` / `parts` had begun by a Unix second, the first in 1970, and the time since the last
 * one began.
 */
export function countSince1970(
  unixSeconds: number,
  lengthS: number,
  parts: number,
): { readonly count: number; readonly agoS: number } {
  const { numerator, denominator } = overWhole(lengthOf(lengthS), BigInt(parts));
  const passed = BigInt(unixSeconds) * denominator;
  const count = floorDivide(passed, numerator);
  const left = passed - count * numerator;
  const wholeS = left / denominator;
  return {
    count: Number(count),
    agoS: Number(wholeS) + properFraction(left - wholeS * denominator, denominator),
  };
}
