/** What a file holds, in a few numbers: the same words whatever the format. */
import { elementsPerSpectra, isComplexVoltage, type VoltageType } from '../core/axes.js';
import { baselineCount, baselineIndex } from '../core/axes.js';
import { planFft } from '../core/fft.js';
import { samplesIn } from '../core/gaps.js';
import type { Instant } from '../core/instant.js';
import type { OpenedFile, SpectraRecording, VisibilityFile, VoltageRecording } from '../formats/format.js';

export interface FileDescription {
  readonly path: string;
  readonly format: string;
  readonly kind: OpenedFile['kind'];
  readonly telescope?: { readonly name: string; readonly title: string };
  readonly stations: number;
  readonly inputs: number;
  readonly polarisations: 1 | 2;
  readonly type?: string;
  readonly samples?: number;
  readonly rateHz?: number;
  readonly channels?: number;
  readonly channelWidthHz?: number;
  readonly lowestHz: number;
  readonly highestHz: number;
  readonly start?: Instant;
  readonly durationS?: number;
  readonly integrations?: number;
}

const named = (file: OpenedFile) => ({
  path: file.path,
  format: file.format,
  kind: file.kind,
  ...(file.telescope === undefined
    ? {}
    : { telescope: { name: file.telescope.name, title: file.telescope.title } }),
});

const recorded = (file: VoltageRecording | SpectraRecording) => ({
  ...named(file),
  stations: file.inputs / file.polarisations,
  inputs: file.inputs,
  polarisations: file.polarisations,
  type: file.type,
  samples: file.samples,
  start: file.start,
});

export function describeFile(file: OpenedFile): FileDescription {
  switch (file.kind) {
    case 'voltages': {
      const halfHz = isComplexVoltage(file.type) ? file.sampleRateHz / 2 : file.sampleRateHz / 4;
      return {
        ...recorded(file),
        rateHz: file.sampleRateHz,
        lowestHz: file.centreFrequencyHz - halfHz,
        highestHz: file.centreFrequencyHz + halfHz,
        durationS: file.samples / file.sampleRateHz,
      };
    }
    case 'spectra':
      return {
        ...recorded(file),
        rateHz: file.spectrumRateHz,
        channels: file.channels,
        channelWidthHz: file.channelWidthHz,
        lowestHz: file.frequenciesHz[0],
        highestHz: file.frequenciesHz[file.channels - 1],
        durationS: file.samples / file.spectrumRateHz,
      };
    case 'visibilities': {
      const { frequenciesHz, polarisations, channelWidthHz } = file.header;
      const stations = file.telescope.stations.length;
      return {
        ...named(file),
        stations,
        inputs: stations * polarisations,
        polarisations,
        channels: frequenciesHz.length,
        channelWidthHz,
        lowestHz: frequenciesHz[0],
        highestHz: frequenciesHz[frequenciesHz.length - 1],
        integrations: file.integrationCount,
      };
    }
  }
}

export type FirstValue = number | { readonly re: number; readonly im: number };

export interface FirstBlock {
  readonly start?: Instant;
  readonly values: readonly FirstValue[];
  readonly rms?: number;
  /** Numbers at full scale, of integer samples. */
  readonly clippedFraction?: number;
  readonly missingFraction: number;
  readonly frequenciesHz: Float64Array;
  /** Mean over inputs and time, 0 dB at its peak. */
  readonly spectrumDb: Float64Array;
}

const FIRST_VALUES = 8;
const BLOCK_SAMPLES = 4096;
const SPECTRUM_POINTS = 256;

export function firstBlock(file: OpenedFile): Promise<FirstBlock> {
  switch (file.kind) {
    case 'voltages':
      return firstVoltages(file);
    case 'spectra':
      return firstSpectra(file);
    case 'visibilities':
      return firstIntegration(file);
  }
}

const inDb = (power: Float64Array): Float64Array => {
  const most = power.reduce((x, y) => Math.max(x, y), 0);
  return power.map((value) => 10 * Math.log10(value / most));
};

const fullScale: Readonly<Record<VoltageType, number>> = {
  i8: 127,
  ci8: 127,
  i16: 32767,
  ci16: 32767,
  f32: Infinity,
  cf32: Infinity,
};

async function firstVoltages(file: VoltageRecording): Promise<FirstBlock> {
  for await (const block of file.blocks(BLOCK_SAMPLES)) {
    const complex = isComplexVoltage(file.type);
    const width = complex ? 2 : 1;
    const numbers = block.voltages;
    let squares = 0;
    let clipped = 0;
    for (const value of numbers) {
      squares += value * value;
      if (Math.abs(value) >= fullScale[file.type]) clipped++;
    }
    const values = Array.from({ length: Math.min(FIRST_VALUES, block.samples) }, (_, t): FirstValue =>
      complex ? { re: numbers[2 * t], im: numbers[2 * t + 1] } : numbers[t],
    );
    const points = Math.min(SPECTRUM_POINTS, 2 ** Math.floor(Math.log2(block.samples)));
    const fft = planFft(points);
    const power = new Float64Array(complex ? points : Math.max(1, points / 2));
    const scratch = new Float64Array(2 * points);
    for (let a = 0; a < block.inputs; a++) {
      for (let first = 0; first + points <= block.samples; first += points) {
        for (let n = 0; n < points; n++) {
          const at = (a * block.samples + first + n) * width;
          scratch[2 * n] = numbers[at];
          scratch[2 * n + 1] = complex ? numbers[at + 1] : 0;
        }
        fft.forward(scratch);
        for (let k = 0; k < power.length; k++) {
          const bin = complex ? (k + points / 2) % points : k;
          power[k] += scratch[2 * bin] ** 2 + scratch[2 * bin + 1] ** 2;
        }
      }
    }
    const stepHz = file.sampleRateHz / points;
    const lowestHz = file.centreFrequencyHz - (complex ? file.sampleRateHz / 2 : file.sampleRateHz / 4);
    return {
      start: block.start,
      values,
      rms: Math.sqrt(squares / numbers.length),
      ...(Number.isFinite(fullScale[file.type]) ? { clippedFraction: clipped / numbers.length } : {}),
      missingFraction: samplesIn(block.gaps) / (block.inputs * block.samples),
      frequenciesHz: power.map((_, k) => lowestHz + k * stepHz),
      spectrumDb: inDb(power),
    };
  }
  return nothing(new Float64Array());
}

const nothing = (frequenciesHz: Float64Array): FirstBlock => ({
  values: [],
  missingFraction: 1,
  frequenciesHz,
  spectrumDb: frequenciesHz.map(() => Number.NaN),
});

async function firstSpectra(file: SpectraRecording): Promise<FirstBlock> {
  const { channels, inputs, type } = file;
  for await (const block of file.blocks(SPECTRUM_POINTS)) {
    const width = elementsPerSpectra(type);
    const part = (at: number): { readonly re: number; readonly im: number } => {
      const value = block.spectra[at * width];
      // A nibble of four bits with its sign, high one first.
      return type === 'ci4'
        ? { re: (value << 24) >> 28, im: (value << 28) >> 28 }
        : { re: value, im: block.spectra[at * width + 1] };
    };
    const power = new Float64Array(channels);
    for (let c = 0; c < channels; c++) {
      for (let k = 0; k < inputs * block.samples; k++) {
        const { re, im } = part(c * inputs * block.samples + k);
        power[c] += re * re + im * im;
      }
    }
    const total = power.reduce((x, y) => x + y, 0);
    const gapBoxes = block.gaps.map((gap) => ({
      ...gap,
      endInput: gap.firstInput + (gap.endInput - gap.firstInput) * (gap.endChannel - gap.firstChannel),
    }));
    return {
      start: block.start,
      values: Array.from({ length: Math.min(FIRST_VALUES, block.samples) }, (_, t) => part(t)),
      rms: Math.sqrt(total / (2 * channels * inputs * block.samples)),
      missingFraction: samplesIn(gapBoxes) / (channels * inputs * block.samples),
      frequenciesHz: file.frequenciesHz,
      spectrumDb: inDb(power),
    };
  }
  return nothing(file.frequenciesHz);
}

async function firstIntegration(file: VisibilityFile): Promise<FirstBlock> {
  for await (const {
    start,
    visibilities,
    counts,
    channels,
    stations,
    polarisations,
  } of file.integrations()) {
    const baselines = baselineCount(stations);
    const products = polarisations ** 2;
    const power = new Float64Array(channels);
    const most = counts.reduce((x, y) => Math.max(x, y), 0);
    for (let c = 0; c < channels; c++) {
      for (let s = 0; s < stations; s++) {
        const b = c * baselines + baselineIndex(s, s);
        if (counts[b] > 0) power[c] += visibilities[2 * b * products] / counts[b];
      }
    }
    return {
      start,
      values: Array.from({ length: Math.min(FIRST_VALUES, baselines * products) }, (_, k) => ({
        re: visibilities[2 * k],
        im: visibilities[2 * k + 1],
      })),
      missingFraction: most === 0 ? 1 : 1 - counts.reduce((x, y) => x + y, 0) / (most * counts.length),
      frequenciesHz: file.header.frequenciesHz,
      spectrumDb: inDb(power),
    };
  }
  return nothing(file.header.frequenciesHz);
}
