/** The oracle of every beamformer, in plain loops: a beam is Σ_s w·x, with x as in docs/conventions.md. */
import type { SpectraCAT } from '../core/axes.js';
import { highNibble, lowNibble } from '../core/nibbles.js';
import { checkBeamBlock, checkBins, checkWeights, detections, type BeamPlan, type Bins } from './plan.js';
import { steerOnHost, type Beamformer, type BeamVoltages } from './beamformer.js';

/** spectra : [c][a][t]; gives voltages : [c][b][p][t], complex, in float64. */
export function beamsOf(
  plan: BeamPlan,
  weights: Int8Array | Float32Array,
  spectra: SpectraCAT,
  samples: number,
): Float64Array {
  const { channels, beams, stations, polarisations, inputs, type } = plan;
  const made = new Float64Array(2 * channels * beams * polarisations * samples);
  const part = (at: number, imaginary: 0 | 1): number => {
    if (type !== 'ci4') return spectra[2 * at + imaginary];
    return imaginary === 0 ? highNibble(spectra[at]) : lowNibble(spectra[at]);
  };
  for (let c = 0; c < channels; c++)
    for (let b = 0; b < beams; b++)
      for (let p = 0; p < polarisations; p++)
        for (let t = 0; t < samples; t++) {
          let [re, im] = [0, 0];
          for (let s = 0; s < stations; s++) {
            const a = s * polarisations + p;
            const w = 2 * ((c * beams + b) * inputs + a);
            const x = (c * inputs + a) * samples + t;
            re += weights[w] * part(x, 0) - weights[w + 1] * part(x, 1);
            im += weights[w] * part(x, 1) + weights[w + 1] * part(x, 0);
          }
          const to = 2 * (((c * beams + b) * polarisations + p) * samples + t);
          made[to] = re;
          made[to + 1] = im;
        }
  return made;
}

/** Adds to powers : [b][d][bin][c]. voltages : [c][b][p][t], complex. */
export function addPowers(
  { channels, beams, polarisations }: BeamPlan,
  voltages: ArrayLike<number>,
  samples: number,
  { detection, spectraPerBin, offset, bins }: Bins,
  powers: Float64Array,
): void {
  const planes = detections[detection];
  for (let c = 0; c < channels; c++)
    for (let b = 0; b < beams; b++)
      for (let t = 0; t < samples; t++) {
        const at = (p: number): number => 2 * (((c * beams + b) * polarisations + p) * samples + t);
        const [xr, xi] = [voltages[at(0)], voltages[at(0) + 1]].map(Math.fround);
        const [yr, yi] =
          polarisations === 1 ? [0, 0] : [voltages[at(1)], voltages[at(1) + 1]].map(Math.fround);
        const [xx, yy] = [xr * xr + xi * xi, yr * yr + yi * yi];
        const i = polarisations === 1 ? xx : (xx + yy) / 2;
        // XY = X·conj(Y) = U − iV (docs/conventions.md).
        const [u, v] = [xr * yr + xi * yi, xr * yi - xi * yr];
        const values = { I: [i], 'XX,YY': [xx, yy], IQUV: [i, (yy - xx) / 2, u, v] }[detection];
        const bin = Math.floor((offset + t) / spectraPerBin);
        values.forEach((value, d) => {
          powers[((b * planes + d) * bins + bin) * channels + c] += value;
        });
      }
}

export function referenceBeamformer(plan: BeamPlan): Beamformer {
  let weights: Int8Array | Float32Array = new (plan.weights === 'ci8' ? Int8Array : Float32Array)(
    2 * plan.channels * plan.beams * plan.inputs,
  );
  const setWeights = (given: Int8Array | Float32Array): void => {
    checkWeights(plan, given);
    weights = given.slice();
  };
  return {
    plan,
    setWeights,
    steer: steerOnHost(plan, setWeights),
    voltages: async (block, into: BeamVoltages) => {
      checkBeamBlock(plan, block);
      into.set(beamsOf(plan, weights, await block.read(), block.samples));
    },
    powers: async (block, bins, into) => {
      checkBeamBlock(plan, block);
      checkBins(plan, block, bins, into);
      addPowers(plan, beamsOf(plan, weights, await block.read(), block.samples), block.samples, bins, into);
    },
    close: () => Promise.resolve(),
  };
}
