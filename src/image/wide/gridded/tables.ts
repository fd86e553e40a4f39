/**
 * For a quarter of the image, which the other three mirror: the turn from plane to plane, and what a finished sum is
 * multiplied by. y = n − 1 − middle is what the planes still have to turn a pixel by, for each wavelength of w.
 */
import type { WidePlan } from '../plan.js';
import { pixelDirection } from '../reference.js';

interface Tables {
  /** Pixels on a side of the quarter, the axes and the far edge included. */
  readonly side: number;
  /** steps : [|x|][|y|] complex, e^(−2πi spacing·y). */
  readonly steps: Float64Array;
  /** ends : [|x|][|y|] complex, e^(−2πi firstLambda·y) over the kernels' transforms (over n where asked for); 0 below the horizon. */
  readonly ends: Float64Array;
}

export function prepareTables(plan: WidePlan): Tables {
  const { pixels, middle, halfRange, corrections, w } = plan;
  const half = pixels / 2;
  const side = half + 1;
  const steps = new Float64Array(2 * side * side);
  const ends = new Float64Array(2 * side * side);
  for (let x = 0; x < side; x++) {
    for (let y = 0; y <= x; y++) {
      const direction = pixelDirection(plan, half + x, half + y);
      if (!direction) continue;
      const away = direction.nLessOne - middle;
      const ratio = halfRange > 0 ? away / halfRange : 0;
      const onSeries = 2 * Math.min(1, ratio * ratio) - 1;
      const factor = direction.factor * chebyshev(w.series, onSeries) * corrections[x] * corrections[y];
      const step = -2 * Math.PI * w.spacingLambda * away;
      const end = -2 * Math.PI * w.firstLambda * away;
      for (const at of [2 * (x * side + y), 2 * (y * side + x)]) {
        steps[at] = Math.cos(step);
        steps[at + 1] = Math.sin(step);
        ends[at] = factor * Math.cos(end);
        ends[at + 1] = factor * Math.sin(end);
      }
    }
  }
  return { side, steps, ends };
}

/** Σ series[k] T_k(t), by Clenshaw's recurrence. */
function chebyshev(series: Float64Array, t: number): number {
  let next = 0;
  let after = 0;
  for (let k = series.length - 1; k > 0; k--) [next, after] = [2 * t * next - after + series[k], next];
  return t * next - after + series[0];
}
