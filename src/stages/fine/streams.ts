/**
 * Data that arrived channelised, to be channelised further: every channel of every input is a stream of complex samples
 * about the channel's centre. In memory that is the same block: spectra [c][a][t] are voltages [c·A + a][t].
 */
import { voltagesAT, type VoltageType } from '../../core/axes.js';
import type { CanonicalSpectra, VoltageBlock } from '../../core/blocks.js';
import { refuse, wholeNumber } from '../../core/errors.js';
import type { VoltageGap } from '../../core/gaps.js';
import { addSeconds } from '../../core/instant.js';
import { highNibble, lowNibble } from '../../core/nibbles.js';
import type { SpectraSource, VoltageSource } from '../../core/sources.js';

/** Which of the finer channels exist, and their frequencies. */
export interface FineChannels {
  /** Per coarse channel: so many are made, of which `kept` stay, from number `first` on. */
  readonly perChannel: number;
  readonly first: number;
  readonly kept: number;
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
}

type Coarse = Pick<SpectraSource, 'channels' | 'frequenciesHz' | 'channelWidthHz' | 'spectrumRateHz'>;

const ALIKE = 1e-6;

/**
 * Critically sampled channels keep all of the finer ones; oversampled ones keep those up to the edge of the next
 * channel, so that the whole band has one even grid.
 */
export function planFineChannels(source: Coarse, wanted: number): FineChannels {
  const { spectrumRateHz: rateHz, frequenciesHz } = source;
  const perChannel = wholeNumber('front.finer', 'channels of each', wanted, 2, 2 ** 20);
  const channelWidthHz = rateHz / perChannel;
  const spacingHz = Math.min(rateHz, spacingOf(source));
  const exact = (perChannel * spacingHz) / rateHz;
  const kept = Math.round(exact);
  if (Math.abs(exact - kept) > ALIKE * perChannel)
    refuse(
      'front.finer',
      `channels ${spacingHz} Hz apart, sampled at ${rateHz} Hz, hold ${Number(exact.toPrecision(6))} of ${perChannel}`,
      `choose a number of which that is a whole one, such as ${wholeFor(spacingHz / rateHz)}`,
    );
  const middle = Math.floor(perChannel / 2);
  const first = middle - Math.floor(kept / 2);
  return {
    perChannel,
    first,
    kept,
    channelWidthHz,
    frequenciesHz: Float64Array.from(
      { length: source.channels * kept },
      (_, n) => frequenciesHz[Math.floor(n / kept)] + (first + (n % kept) - middle) * channelWidthHz,
    ),
  };
}

/** The spacing of channels; for one alone, or unevenly spaced ones, their width. */
function spacingOf({ channels, frequenciesHz, channelWidthHz }: Coarse): number {
  if (channels < 2) return channelWidthHz;
  const stepHz = frequenciesHz[1] - frequenciesHz[0];
  const isEven = frequenciesHz.every(
    (hz, c) => c === 0 || Math.abs(hz - frequenciesHz[c - 1] - stepHz) < ALIKE * Math.abs(stepHz),
  );
  return isEven && stepHz > 0 ? stepHz : channelWidthHz;
}

/** The least number, 64 or more, of which a part is whole. */
function wholeFor(part: number): number {
  for (let n = 2; n < 4096; n++)
    if (Math.abs(n * part - Math.round(n * part)) < ALIKE * n) return n * Math.ceil(64 / n);
  return 4096;
}

/** Nibbles become bytes. */
const voltageTypes = { ci8: 'ci8', ci4: 'ci8', cf32: 'cf32' } as const satisfies Record<
  SpectraSource['type'],
  VoltageType
>;

/** The source as voltages, [c·A + a][t]. Frequencies within a stream are relative to its channel's centre. */
export function streamsOf<Source extends SpectraSource>(
  source: Source,
): Omit<Source, keyof SpectraSource> & VoltageSource {
  const { channels, inputs, polarisations, spectrumRateHz, type } = source;
  const streams = channels * inputs;
  const made = voltageTypes[type];
  async function* blocks(...asked: Parameters<VoltageSource['blocks']>): AsyncGenerator<VoltageBlock> {
    for await (const block of source.blocks(...asked)) {
      const { samples, spectra, start } = block;
      const elements = type === 'ci4' ? unpacked(spectra) : spectra;
      yield {
        type: made,
        inputs: streams,
        samples,
        voltages: voltagesAT(elements as Int8Array | Float32Array, made, streams, samples),
        gaps: gapsOfStreams(block, inputs),
        // A spectrum's time is its beginning; a sample's time is the middle of its time range.
        start: addSeconds(start, 0.5 / spectrumRateHz),
        ...(block.release && { release: () => block.release?.() }),
      };
    }
  }
  const bits = type === 'ci4' ? 4 : source.bits;
  return {
    ...source,
    kind: 'voltages',
    type: made,
    inputs: streams,
    polarisations,
    ...(bits !== undefined && { bits }),
    sampleRateHz: spectrumRateHz,
    centreFrequencyHz: 0,
    start: addSeconds(source.start, 0.5 / spectrumRateHz),
    blocks,
  };
}

const gapsOfStreams = ({ gaps }: CanonicalSpectra, inputs: number): VoltageGap[] =>
  gaps.flatMap(({ firstChannel, endChannel, firstInput, endInput, firstSample, endSample }) =>
    Array.from({ length: endChannel - firstChannel }, (_, n) => ({
      firstInput: (firstChannel + n) * inputs + firstInput,
      endInput: (firstChannel + n) * inputs + endInput,
      firstSample,
      endSample,
    })),
  );

function unpacked(nibbles: ArrayLike<number>): Int8Array {
  const bytes = new Int8Array(2 * nibbles.length);
  for (let n = 0; n < nibbles.length; n++) {
    bytes[2 * n] = highNibble(nibbles[n]);
    bytes[2 * n + 1] = lowNibble(nibbles[n]);
  }
  return bytes;
}
