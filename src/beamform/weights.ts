/** Weights of 8 bits: one scale for each beam, so that its largest weight is 127. */

export interface RoundedWeights {
  /** [c][b][a], complex. */
  readonly weights: Int8Array;
  /** [b], a weight of 1 as the numbers above have it; 0 where a beam has no weights. */
  readonly scales: Float64Array;
}

const LARGEST = 127;

/** weights : [c][b][a], complex. Halves are rounded to even. */
export function roundedWeights(
  weights: Float32Array | Float64Array,
  beams: number,
  inputs: number,
): RoundedWeights {
  const beamOf = (n: number): number => Math.floor(n / (2 * inputs)) % beams;
  const scales = new Float64Array(beams);
  for (const [n, weight] of weights.entries())
    scales[beamOf(n)] = Math.max(scales[beamOf(n)], Math.abs(weight));
  for (const [b, largest] of scales.entries()) scales[b] = largest > 0 ? LARGEST / largest : 0;
  return { weights: Int8Array.from(weights, (weight, n) => halfToEven(weight * scales[beamOf(n)])), scales };
}

function halfToEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest !== 0.5) return Math.round(value);
  return below % 2 === 0 ? below : below + 1;
}
