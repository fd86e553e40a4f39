/** From Stokes parameters to what the dipoles X (east–west) and Y (north–south) feel. */
import type { StokesFractions } from './source.js';

/** Per unit of I: XX = ⟨|X|²⟩, YY = ⟨|Y|²⟩, XY = ⟨X·conj(Y)⟩ (docs/conventions.md, polarisation). */
export interface Coherency {
  readonly xx: number;
  readonly yy: number;
  readonly xyRe: number;
  readonly xyIm: number;
}

export const coherency = ({ q, u, v }: StokesFractions): Coherency => ({
  xx: 1 - q,
  yy: 1 + q,
  xyRe: u,
  xyIm: -v,
});

/**
 * How to mix two independent unit signals n₁, n₂ into X = x1·n₁ and Y = y1·n₁ + y2·n₂ with that coherency:
 * the Cholesky factor of [[XX, XY], [conj XY, YY]].
 */
export interface Mix {
  readonly x1: number;
  readonly y1Re: number;
  readonly y1Im: number;
  readonly y2: number;
}

export function mixOf({ xx, yy, xyRe, xyIm }: Coherency): Mix {
  // A source wholly along Y leaves X nothing, and then XY is nothing too.
  if (xx <= 0) return { x1: 0, y1Re: 0, y1Im: 0, y2: Math.sqrt(yy) };
  const x1 = Math.sqrt(xx);
  // Wholly polarised sources make this 0 but for rounding, which must not reach the root as −1e-17.
  const rest = Math.max(0, yy - (xyRe ** 2 + xyIm ** 2) / xx);
  return { x1, y1Re: xyRe / x1, y1Im: -xyIm / x1, y2: Math.sqrt(rest) };
}
