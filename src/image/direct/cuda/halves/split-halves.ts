/** Numbers as the sum of two halves, the nearest and the nearest to the remainder: 22 bits, nearly single precision. */
import { fromHalfBits, halfBits } from './half.js';
import type { ImagePlan } from '../../../plan.js';

/** `half`: a number is a half, right to 1e-3; `split`: the sum of two, right to 1e-5 at twice the time. */
export type FoldedPrecision = 'half' | 'split';
/** Halves to a number. */
export const halvesOf = { half: 1, split: 2 } as const satisfies Record<FoldedPrecision, number>;

/** Bits of both halves. */
export function splitHalf(value: number): readonly [nearest: number, rest: number] {
  const nearest = halfBits(value);
  return [nearest, halfBits(value - fromHalfBits(nearest))];
}

/**
 * The factor for kernels' weights before they are split. A half has no bits below 2⁻²⁴, where the rests of weights of a
 * few hundredths would be lost; voltages are scaled down by the same factor, within their range.
 */
export const TAP_SCALE = 16;

/**
 * The transform's factors : [nearest, rest][pixel][depth] bits of halves: cos at depth < box/2, then −sin, of
 * 2π·pixel·(depth mod box/2 + ½)/n.
 */
export function splitTurns({ pixels }: Pick<ImagePlan, 'pixels'>, size: number): Uint16Array {
  const half = size / 2;
  const turns = new Uint16Array(2 * pixels * size);
  for (let pixel = 0; pixel < pixels; pixel++) {
    for (let depth = 0; depth < size; depth++) {
      const angle = (2 * Math.PI * pixel * ((depth % half) + 0.5)) / pixels;
      const at = pixel * size + depth;
      [turns[at], turns[pixels * size + at]] = splitHalf(depth < half ? Math.cos(angle) : -Math.sin(angle));
    }
  }
  return turns;
}
