/** Delays of channelised data: every channel's phase, at each spectrum's middle; whole samples cannot be shifted. */
import { hostSpectra } from '../../backend/host-spectra.js';
import { allocateSpectra, type SpectraCAT } from '../../core/axes.js';
import { nothingToClose } from '../../core/closing.js';
import { highNibble, lowNibble } from '../../core/nibbles.js';
import type { DelayModel } from '../../delay/index.js';
import { checkTurning, type Turner, type TurningPlan } from './plan.js';

/** Spectra [c][a][t] from number `first` of the source on: in float64, rounded once, to float32. */
export function turnSpectra(
  { type, channels, inputs, spectrumRateHz, frequenciesHz }: TurningPlan,
  { spectra, samples }: { readonly spectra: SpectraCAT; readonly samples: number },
  delayModel: DelayModel,
  first: number,
): SpectraCAT {
  const turned = allocateSpectra('cf32', channels, inputs, samples);
  const delaysS = new Float64Array(samples);
  const phases = new Float64Array(samples);
  for (let a = 0; a < inputs; a++) {
    for (let t = 0; t < samples; t++) {
      const tick = BigInt(first + t);
      const piece = delayModel.at(a, tick);
      const sinceS = (Number(tick - piece.fromTick) + 0.5) / spectrumRateHz;
      delaysS[t] = piece.delayS + sinceS * piece.delayRate;
      phases[t] = piece.phaseRad + sinceS * piece.phaseRateRadS;
    }
    for (let c = 0; c < channels; c++) {
      const row = (c * inputs + a) * samples;
      for (let t = 0; t < samples; t++) {
        const at = row + t;
        const angle = phases[t] - 2 * Math.PI * ((frequenciesHz[c] * delaysS[t]) % 1);
        const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
        const re = type === 'ci4' ? highNibble(spectra[at]) : spectra[2 * at];
        const im = type === 'ci4' ? lowNibble(spectra[at]) : spectra[2 * at + 1];
        turned[2 * at] = re * cos - im * sin;
        turned[2 * at + 1] = re * sin + im * cos;
      }
    }
  }
  return turned;
}

export const referenceTurner = (plan: TurningPlan): Turner => ({
  run: (given, out, delayModel, first) => {
    checkTurning(plan, given, out);
    const from = hostSpectra('turning', given);
    const { samples } = from;
    const turned = turnSpectra(plan, { spectra: from.view(), samples }, delayModel, first);
    hostSpectra('turning', out).fill(samples, from.gaps).set(turned);
    return Promise.resolve();
  },
  close: nothingToClose,
});
