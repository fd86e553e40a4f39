/** Recordings in memory, for the tests of this module. */
import type { SpectraType } from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import type { CanonicalSpectra, SpectraRecording, VoltageRecording } from '../formats/index.js';
import { sliceBlock, sliceSpectra } from './slices.js';

const facts = { path: 'memory', format: 'test', details: {}, close: () => Promise.resolve() } as const;

export const voltagesInMemory = (
  whole: VoltageBlock,
  of: Pick<VoltageRecording, 'polarisations' | 'sampleRateHz' | 'centreFrequencyHz'> &
    Partial<VoltageRecording>,
): VoltageRecording => ({
  kind: 'voltages',
  ...facts,
  type: whole.type,
  inputs: whole.inputs,
  samples: whole.samples,
  start: whole.start,
  ...of,
  // eslint-disable-next-line @typescript-eslint/require-await -- a stream from memory
  blocks: async function* (blockSamples) {
    for (let first = 0; first < whole.samples; first += blockSamples) {
      const end = Math.min(whole.samples, first + blockSamples);
      yield sliceBlock(whole, { first, end }, of.sampleRateHz);
    }
  },
});

/** Handed out `chunk` spectra at a time, whatever length is requested. */
export const spectraInMemory = (
  whole: CanonicalSpectra,
  of: Pick<SpectraRecording, 'inputs' | 'polarisations' | 'spectrumRateHz' | 'frequenciesHz'> & {
    readonly type: SpectraType;
    readonly chunk: number;
  } & Partial<SpectraRecording>,
): SpectraRecording => {
  const axes = { ...of, channels: of.frequenciesHz.length };
  return {
    kind: 'spectra',
    ...facts,
    channelWidthHz: of.spectrumRateHz,
    samples: whole.samples,
    start: whole.start,
    ...axes,
    // eslint-disable-next-line @typescript-eslint/require-await -- a stream from memory
    blocks: async function* () {
      for (let first = 0; first < whole.samples; first += of.chunk) {
        yield sliceSpectra(whole, axes, { first, end: Math.min(whole.samples, first + of.chunk) });
      }
    },
  };
};
