/** Incoherent sums: powers of stations are added, regardless of phase. */
import type { SpectraBlock } from '../core/blocks.js';
import { nothingToClose, type Closable } from '../core/closing.js';
import { highNibble, lowNibble } from '../core/nibbles.js';
import { checkBeamBlock, checkBins, detections, type BeamPlan, type Bins } from './plan.js';

export interface Incoherent extends Closable {
  readonly plan: BeamPlan;
  /**
   * Adds Σ_s |w|²·|x|² to powers : [d][bin][c]; squares : [c][a], |w|². Detections are I, and XX and YY: a sum of powers has no
   * phase between X and Y.
   */
  add(squares: Float64Array, block: SpectraBlock, bins: Bins, powers: Float64Array): Promise<void>;
}

/** In plain loops; the plan has one beam. */
export const hostIncoherent = (plan: BeamPlan): Incoherent => ({
  plan,
  add: async (squares, block, bins, powers) => {
    checkBeamBlock(plan, block);
    checkBins(plan, block, bins, powers);
    const { channels, inputs, polarisations, type } = plan;
    const { detection, spectraPerBin, offset, bins: many } = bins;
    const spectra = await block.read();
    const { samples } = block;
    const planes = detections[detection];
    for (let c = 0; c < channels; c++)
      for (let a = 0; a < inputs; a++) {
        // I of two polarisations is half of their sum.
        const weight = squares[c * inputs + a] * (planes === 1 && polarisations === 2 ? 0.5 : 1);
        if (weight === 0) continue;
        const plane = planes === 1 ? 0 : a % polarisations;
        const row = (c * inputs + a) * samples;
        for (let t = 0; t < samples;) {
          const bin = Math.floor((offset + t) / spectraPerBin);
          const end = Math.min(samples, (bin + 1) * spectraPerBin - offset);
          let sum = 0;
          for (; t < end; t++) {
            const at = row + t;
            const re = type === 'ci4' ? highNibble(spectra[at]) : spectra[2 * at];
            const im = type === 'ci4' ? lowNibble(spectra[at]) : spectra[2 * at + 1];
            sum += re * re + im * im;
          }
          powers[(plane * many + bin) * channels + c] += weight * sum;
        }
      }
  },
  close: nothingToClose,
});
