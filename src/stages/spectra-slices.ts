/** Cuts canonical spectra in time. */
import { elementsPerSpectra, spectraCAT, type SpectraType } from '../core/axes.js';
import { addSamples } from '../core/instant.js';
import type { CanonicalSpectra } from '../formats/index.js';

interface SpectraAxes {
  readonly type: SpectraType;
  readonly channels: number;
  readonly inputs: number;
  readonly spectrumRateHz: number;
}

export function sliceSpectra(
  from: CanonicalSpectra,
  { type, channels, inputs, spectrumRateHz }: SpectraAxes,
  { first, end }: { readonly first: number; readonly end: number },
): CanonicalSpectra {
  if (first === 0 && end === from.samples) return from;
  const samples = end - first;
  const width = elementsPerSpectra(type);
  const rows = channels * inputs;
  const spectra = from.spectra.slice(0, rows * samples * width);
  for (let row = 0; row < rows; row++) {
    const start = row * from.samples;
    spectra.set(from.spectra.subarray((start + first) * width, (start + end) * width), row * samples * width);
  }
  return {
    samples,
    spectra: spectraCAT(spectra, type, channels, inputs, samples),
    gaps: from.gaps
      .filter((gap) => gap.firstSample < end && gap.endSample > first)
      .map((gap) => ({
        ...gap,
        firstSample: Math.max(gap.firstSample, first) - first,
        endSample: Math.min(gap.endSample, end) - first,
      })),
    start: addSamples(from.start, first, spectrumRateHz),
  };
}
