/**
 * Sources of samples. A source describes its samples and yields blocks: a telescope's packets have no end; a recording
 * has one and knows it (`KnownLength`). Every block has its own time, so that a lost block does not shift later ones.
 */
import type { SpectraType, VoltageType } from './axes.js';
import type { CanonicalSpectra, VoltageBlock } from './blocks.js';
import type { Closable } from './closing.js';
import type { Instant } from './instant.js';

/** Samples in [first, end), counted from the first sample of the source. */
export interface SampleRange {
  readonly first: number;
  readonly end: number;
}

interface SourceFacts extends Closable {
  readonly inputs: number;
  readonly polarisations: 1 | 2;
  /** Bits per number as sampled, if fewer than the type holds. */
  readonly bits?: number;
  /** Time of the first sample; all samples are on its grid. */
  readonly start: Instant;
}

export interface VoltageSource extends SourceFacts {
  readonly kind: 'voltages';
  readonly type: VoltageType;
  readonly sampleRateHz: number;
  /** Sky frequency of the band centre (docs/conventions.md, time and frequency). */
  readonly centreFrequencyHz: number;
  /**
   * Successive blocks of at most `blockSamples` samples; the consumer calls `release` when done. A reader that can seek
   * may skip blocks entirely outside `within`; the other blocks are the same.
   */
  blocks(blockSamples: number, within?: SampleRange): AsyncIterable<VoltageBlock>;
}

export interface SpectraSource extends SourceFacts {
  readonly kind: 'spectra';
  readonly type: SpectraType;
  readonly channels: number;
  /** Spectra per second. */
  readonly spectrumRateHz: number;
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
  /** levels : [a][c], the equaliser gains applied before rounding, relative to one common gain; 1 by default. */
  readonly levels?: Float64Array;
  /**
   * Requantisation gain ratio: that common gain over the nominal, if it followed the recording's level. Means are
   * divided by its square.
   */
  readonly gainRatio?: number;
  /** 1 if channel 0 is the zero frequency of real voltages and also holds real numbers. */
  readonly realChannels?: number;
  /** As for voltages. */
  blocks(blockSamples: number, within?: SampleRange): AsyncIterable<CanonicalSpectra>;
}

/** Samples of each input; only sources with an end have this. */
export interface KnownLength {
  readonly samples: number;
}

/** Voltages or channelised data. */
export type Source = VoltageSource | SpectraSource;

/** Samples per second of each input, and of each of its channels. */
export const sampleRateOf = (source: Source): number =>
  source.kind === 'voltages' ? source.sampleRateHz : source.spectrumRateHz;
