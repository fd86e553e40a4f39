/** Delays of data that arrive channelised: every channel's phase, at each spectrum's middle; whole samples are gone. */
import { allocateSpectra, type SpectraCAT } from '../../core/axes.js';
import { highNibble, lowNibble } from '../../core/nibbles.js';
import type { SpectraSource } from '../../core/sources.js';
import type { DelayLaw } from '../../delay/index.js';

/** Spectra [c][a][t] from number `first` of the source on, as floats. */
export function turnSpectra(
  part: { readonly spectra: SpectraCAT; readonly samples: number },
  source: Pick<SpectraSource, 'type' | 'channels' | 'inputs' | 'spectrumRateHz' | 'frequenciesHz'>,
  law: DelayLaw,
  first: number,
): SpectraCAT {
  const { type, channels, inputs, spectrumRateHz, frequenciesHz } = source;
  const { spectra, samples } = part;
  const turned = allocateSpectra('cf32', channels, inputs, samples);
  const delaysS = new Float64Array(samples);
  const phases = new Float64Array(samples);
  for (let a = 0; a < inputs; a++) {
    for (let t = 0; t < samples; t++) {
      const tick = BigInt(first + t);
      const piece = law.at(a, tick);
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
