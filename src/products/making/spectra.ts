/** Channelised data in a SigMF recording. */
import { basename } from 'node:path';
import { spectraCAT, spectraSizeBytes, type SpectraType } from '../../core/axes.js';
import type { CanonicalSpectra } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import { addSamples } from '../../core/instant.js';
import { createSigmfSpectra, recordingPaths, sampleRateOf, type UnknownFact } from '../../formats/index.js';
import { gainOfFront } from '../../compose/index.js';
import {
  SpectraWatch,
  type Rounded,
  oneIntegration,
  type TimedSpectra,
  passing,
} from '../../stages/index.js';
import { handingOver, type Making, type Observed, type PlannedProduct } from '../product.js';
import type { Product } from '../registry.js';

export interface SpectraFacts {
  readonly channels: number;
  readonly channelWidthHz: number;
  readonly inputs: number;
  /** Rounding statistics so far. */
  readonly rounded?: Rounded;
  /** Facts missing in the file, since they are unknown here. */
  readonly unknownFacts: readonly UnknownFact[];
}

export function planSpectra(fields: Product<'spectra'>, observed: Observed): PlannedProduct<SpectraFacts> {
  const { recording, telescope, front, spectra, delays } = observed;
  const path = fields.spectra ?? undefined;
  if (delays?.towards !== undefined)
    refuse(
      'products.spectra',
      'tracked spectra have their phases rotated, which their file cannot state',
      'leave front.delays.track out',
    );
  if (delays && (telescope.delays ?? []).length > 0)
    refuse(
      'products.spectra',
      `the delays of ${telescope.name} are removed for the other products, and a reader of these spectra would remove them again`,
      'make them in an observation of their own',
    );
  const { type, channels, inputs, polarisations, grid, frequenciesHz, channelWidthHz } = spectra;
  const { gainRatio, levels } = gainOfFront(front);
  const watch = new SpectraWatch({ type, channels, inputs });
  const paths = path === undefined ? [] : recordingPaths(path);
  const header = {
    type,
    inputs,
    polarisations,
    channels,
    frequenciesHz,
    channelWidthHz,
    start: grid.start,
    spectrumRateHz: grid.spectrumRateHz,
    telescope: recording.telescope,
    ...(spectra.realChannels > 0 && { realChannels: spectra.realChannels }),
    centreFrequencyHz:
      recording.kind === 'voltages'
        ? recording.centreFrequencyHz
        : (frequenciesHz[0] + frequenciesHz[channels - 1]) / 2,
    unknownFacts: recording.unknownFacts,
    levels: levels && Array.from(levels.factors),
    gainRatio,
  };
  return {
    name: 'spectra',
    clock: oneIntegration,
    paths,
    isCalibrated: false,
    parts: {
      cut: 'time',
      kind: 'spectra',
      make: (_front, _machine, emit) =>
        passing<TimedSpectra>(async ({ block, index }) => {
          const { samples, gaps } = block;
          await emit({ first: index, end: index + samples, gaps, values: await block.read() });
        }),
    },
    sizeBytes:
      (recording.samples / sampleRateOf(recording)) *
      grid.spectrumRateHz *
      (channels * inputs * spectraSizeBytes(type)),
    facts: () => ({
      channels,
      channelWidthHz,
      inputs,
      rounded: watch.found(),
      unknownFacts: recording.unknownFacts ?? [],
    }),
    make: async (making) => {
      const writer =
        path === undefined
          ? handedSpectra(making)
          : await createSigmfSpectra(paths[1], {
              ...header,
              history: making.history,
              description: `${channels} channels of ${basename(recording.path)}`,
            });
      const write = passing<TimedSpectra>(async ({ block, index }) => {
        const made = await block.read();
        watch.add(block, made, index);
        const start = addSamples(grid.start, index, grid.spectrumRateHz);
        await writer.append({ samples: block.samples, spectra: made, gaps: block.gaps, start });
      });
      return {
        composed: { from: 'spectra', clock: oneIntegration, stage: write },
        take: async ({ first, end, gaps = [], values }) => {
          const samples = end - first;
          const stored = spectraCAT(elementsOf(type, values), type, channels, inputs, samples);
          watch.add({ samples, gaps }, stored, first);
          const start = addSamples(grid.start, first, grid.spectrumRateHz);
          await writer.append({ samples, spectra: stored, gaps, start });
        },
        finish: () => writer.finish(),
        keep: async () => {
          await writer.abandon();
          return `${path ?? 'spectra'}: ended early, and nothing was written`;
        },
        abandon: () => writer.abandon(),
      };
    },
  };
}

/** Spectra of a product without a path are passed to the program that asked for them. */
function handedSpectra(making: Making) {
  const emit = handingOver(making, 'spectra');
  return {
    append: (spectra: CanonicalSpectra) => emit({ kind: 'spectra', spectra }),
    finish: () => Promise.resolve(),
    abandon: () => Promise.resolve(),
  };
}

/** Copies bytes into an array of their sample type. */
function elementsOf(type: SpectraType, { buffer, byteOffset, byteLength }: ArrayBufferView) {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength).slice();
  return type === 'ci4'
    ? bytes
    : type === 'ci8'
      ? new Int8Array(bytes.buffer)
      : new Float32Array(bytes.buffer);
}
