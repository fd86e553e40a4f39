/** From Stokes parameters to what X and Y record. */
import { throughFeed, type FeedJones } from './feeds.js';
import type { StokesFractions } from './source.js';

/** Per unit of I: XX = ⟨|X|²⟩, YY = ⟨|Y|²⟩, XY = ⟨X·conj(Y)⟩ (docs/conventions.md, polarisation). */
interface Coherency {
  readonly xx: number;
  readonly yy: number;
  readonly xyRe: number;
  readonly xyIm: number;
}

/** Of a source through the Jones matrix of an element. */
export function coherency(stokes: StokesFractions, jones: FeedJones): Coherency {
  const { i, q, u, v } = throughFeed(jones, { i: 1, ...stokes });
  return { xx: i - q, yy: i + q, xyRe: u, xyIm: -v };
}

/**
 * How to mix two independent unit signals n₁, n₂ into X = x1·n₁ and Y = y1·n₁ + y2·n₂ with that coherency:
 * the Cholesky factor of [[XX, XY], [conj XY, YY]].
 */
interface Mix {
  readonly x1: number;
  readonly y1Re: number;
  readonly y1Im: number;
  readonly y2: number;
}

export function mixOf({ xx, yy, xyRe, xyIm }: Coherency): Mix {
  // A source wholly along Y leaves X nothing but rounding, and then XY is nothing too.
  if (xx <= 1e-14 * yy) return { x1: 0, y1Re: 0, y1Im: 0, y2: Math.sqrt(yy) };
  const x1 = Math.sqrt(xx);
  // Wholly polarised sources make this 0 but for rounding, which must not reach the root as −1e-17.
  const rest = Math.max(0, yy - (xyRe ** 2 + xyIm ** 2) / xx);
  return { x1, y1Re: xyRe / x1, y1Im: -xyIm / x1, y2: Math.sqrt(rest) };
}
