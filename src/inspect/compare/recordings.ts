/** Contents of recordings, voltages or channelised, for comparison: every number, and which of them are missing. */
import { elementsPerVoltage } from '../../core/axes.js';
import type { CanonicalSpectra, VoltageBlock } from '../../core/blocks.js';
import type { SpectraGap, VoltageGap } from '../../core/gaps.js';
import type { Instant } from '../../core/instant.js';
import { highNibble, lowNibble } from '../../core/nibbles.js';
import type { Recording, SpectraRecording, VoltageRecording } from '../../formats/index.js';
import { inputName } from '../../telescope/telescope.js';
import { BLOCK_BYTES } from '../../stages/index.js';
import {
  factsOf,
  frequenciesPart,
  positionsPart,
  reIm,
  telescopeFacts,
  timePart,
  type Axis,
  type Content,
  type Numbers,
  type Part,
  type Piece,
} from './content.js';

export function recordingContent(file: Recording): Content {
  const { telescope } = file;
  const header = [
    ...(telescope ? [positionsPart(telescope)] : []),
    ...(file.kind === 'spectra' ? [frequenciesPart(file.frequenciesHz)] : []),
  ];
  return {
    path: file.path,
    format: file.format,
    kind: file.kind,
    facts: factsOf({ ...streamFacts(file), ...(telescope && { telescope: telescopeFacts(telescope) }) }),
    cards: sigmfCards(file),
    pieces: async function* () {
      yield { at: '', parts: header };
      yield* file.kind === 'spectra' ? spectraPieces(file) : voltagePieces(file);
    },
    close: () => file.close(),
  };
}

const streamFacts = (file: Recording): Record<string, unknown> => {
  const { type, inputs, polarisations, bits, samples, unknownFacts } = file;
  const common = { type, inputs, polarisations, bits, samples, unknownFacts };
  if (file.kind === 'voltages') {
    const { sampleRateHz, centreFrequencyHz } = file;
    return { ...common, sampleRateHz, centreFrequencyHz };
  }
  const { channels, spectrumRateHz, channelWidthHz, levels, gainRatio, realChannels } = file;
  return { ...common, channels, spectrumRateHz, channelWidthHz, levels, gainRatio, realChannels };
};

/** SigMF global fields that our reader does not use; telescope and missing samples are compared separately. */
function sigmfCards({ details: { global, corella } }: Recording): Content['cards'] {
  if (typeof global !== 'object') return new Map();
  return new Map(
    [...factsOf({ ...global, corella })].filter(
      ([name]) => !/^(?:core:(?:sha512|description|dataset)$|corella\.history\[)/.test(name),
    ),
  );
}

const inputAxis = ({ inputs, polarisations, telescope }: Recording): Axis => ({
  name: 'input',
  size: inputs,
  ...(telescope?.stations.length === inputs / polarisations && {
    label: (a: number) => inputName(telescope, a, polarisations),
  }),
});

async function* voltagePieces(file: VoltageRecording): AsyncGenerator<Piece> {
  const input = inputAxis(file);
  const blockSamples = Math.max(1, Math.floor(BLOCK_BYTES / (8 * file.inputs)));
  let first = 0;
  for await (const block of file.blocks(blockSamples)) {
    const axes = [input, sampleAxis('sample', block, first)];
    const ends = elementsPerVoltage(file.type) === 2 ? [reIm] : [];
    yield piece({
      first,
      block,
      axes,
      ends,
      numbers: block.voltages,
      missing: missingVoltages(block, file.inputs),
    });
    first += block.samples;
    block.release?.();
  }
}

async function* spectraPieces(file: SpectraRecording): AsyncGenerator<Piece> {
  const input = inputAxis(file);
  const { channels, inputs, type } = file;
  const blockSamples = Math.max(1, Math.floor(BLOCK_BYTES / (8 * channels * inputs)));
  let first = 0;
  for await (const block of file.blocks(blockSamples)) {
    const axes = [{ name: 'channel', size: channels }, input, sampleAxis('spectrum', block, first)];
    const numbers = type === 'ci4' ? unpacked(block.spectra) : block.spectra;
    yield piece({
      first,
      block,
      axes,
      ends: [reIm],
      numbers,
      missing: missingSpectra(block, channels, inputs),
    });
    first += block.samples;
    block.release?.();
  }
}

const sampleAxis = (name: string, { samples }: { readonly samples: number }, first: number): Axis => ({
  name,
  size: samples,
  label: (k) => String(first + k),
});

function piece(of: {
  readonly first: number;
  readonly block: { readonly samples: number; readonly start: Instant };
  readonly axes: readonly Axis[];
  readonly ends: readonly Axis[];
  readonly numbers: Numbers;
  readonly missing: Uint8Array;
}): Piece {
  const { first, block, axes, ends, numbers, missing } = of;
  const parts: Part[] = [
    timePart('times', block.start),
    { name: 'values', axes: [...axes, ...ends], numbers, nature: 'measured' },
    { name: 'missing', axes, numbers: missing, nature: 'exact' },
  ];
  return { at: `samples ${first} to ${first + block.samples - 1}`, parts };
}

function unpacked(bytes: ArrayLike<number>): Int8Array {
  const numbers = new Int8Array(2 * bytes.length);
  for (let k = 0; k < bytes.length; k++) {
    numbers[2 * k] = highNibble(bytes[k]);
    numbers[2 * k + 1] = lowNibble(bytes[k]);
  }
  return numbers;
}

/** missing : [a][t], 1 inside gaps, independent of how the file lists them. */
function missingVoltages({ gaps, samples }: VoltageBlock, inputs: number): Uint8Array {
  const missing = new Uint8Array(inputs * samples);
  for (const gap of gaps) markRows(missing, gap, 0, samples);
  return missing;
}

/** missing : [c][a][t] */
function missingSpectra({ gaps, samples }: CanonicalSpectra, channels: number, inputs: number): Uint8Array {
  const missing = new Uint8Array(channels * inputs * samples);
  for (const gap of gaps)
    for (let c = gap.firstChannel; c < gap.endChannel; c++) markRows(missing, gap, c * inputs, samples);
  return missing;
}

function markRows(
  missing: Uint8Array,
  gap: VoltageGap | SpectraGap,
  firstRow: number,
  samples: number,
): void {
  for (let a = gap.firstInput; a < gap.endInput; a++)
    missing.fill(1, (firstRow + a) * samples + gap.firstSample, (firstRow + a) * samples + gap.endSample);
}
