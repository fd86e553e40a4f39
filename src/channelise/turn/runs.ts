/** Delays of a range of spectra in the kernels' form: runs over which every input's delay and phase are linear. */
import { wholeNumber } from '../../core/errors.js';
import type { DelayModel } from '../../delay/index.js';
import type { TurningPlan } from './plan.js';

interface TurningRuns {
  /** [run + 1], spectra from the range's first: run r is [edges[r], edges[r + 1]). */
  readonly edges: Int32Array;
  /**
   * [run][a][d, d′, p, p′]: spectrum k of a run is rotated by p + k·p′ − f·(d + k·d′) turns, counterclockwise; seconds,
   * and at the middle of each spectrum.
   */
  readonly coefficients: Float64Array;
}

/** `first`: the number of the range's first spectrum in its source. */
export function turningRuns(
  { inputs, spectrumRateHz }: Pick<TurningPlan, 'inputs' | 'spectrumRateHz'>,
  delayModel: DelayModel,
  first: number,
  samples: number,
): TurningRuns {
  wholeNumber('turning', 'inputs of the delays', delayModel.inputs, inputs, inputs);
  const edges = [0];
  const coefficients: number[] = [];
  for (let at = 0; at < samples;) {
    const tick = BigInt(first + at);
    for (let a = 0; a < inputs; a++) {
      const piece = delayModel.at(a, tick);
      const sinceS = (Number(tick - piece.fromTick) + 0.5) / spectrumRateHz;
      const turns = (piece.phaseRad + sinceS * piece.phaseRateRadS) / (2 * Math.PI);
      coefficients.push(
        piece.delayS + sinceS * piece.delayRate,
        piece.delayRate / spectrumRateHz,
        turns - Math.round(turns),
        piece.phaseRateRadS / (2 * Math.PI) / spectrumRateHz,
      );
    }
    const next = delayModel.nextAfter(tick);
    at = next === undefined ? samples : Math.min(samples, Number(next - BigInt(first)));
    edges.push(at);
  }
  return { edges: Int32Array.from(edges), coefficients: Float64Array.from(coefficients) };
}
