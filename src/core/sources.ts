/**
 * Where samples come from. A source says what is in it and hands out blocks for as long as there are any: a telescope's
 * packets have no end, a recording has one and knows it (`KnownLength`). Every block carries its own time, so that a lost
 * one shifts nothing that comes after it.
 */
import type { SpectraType, VoltageType } from './axes.js';
import type { CanonicalSpectra, VoltageBlock } from './blocks.js';
import type { Closable } from './closing.js';
import type { Instant } from './instant.js';

/** Samples from `first` up to `end`, counted from the source's first. */
export interface SampleRange {
  readonly first: number;
  readonly end: number;
}

interface SourceFacts extends Closable {
  readonly inputs: number;
  readonly polarisations: 1 | 2;
  /** Of each number as it was sampled, where fewer than the type holds. */
  readonly bits?: number;
  /** Of the first sample; all samples lie on its grid. */
  readonly start: Instant;
}

export interface VoltageSource extends SourceFacts {
  readonly kind: 'voltages';
  readonly type: VoltageType;
  readonly sampleRateHz: number;
  /** Sky frequency of the middle of the band (docs/conventions.md, time and frequency). */
  readonly centreFrequencyHz: number;
  /**
   * Successive blocks of at most `blockSamples` samples; whoever is done with one says `release`. Blocks that lie wholly
   * outside `within` may be left out, where a reader can pass over them; the others are the same ones.
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
  /** levels : [a][c], what spectra were multiplied by before rounding, over one gain for all; 1 unless given. */
  readonly levels?: Float64Array;
  /** That one gain, over the usual, where it followed the recording's level: means are divided by its square. */
  readonly overUsual?: number;
  /** 1 where channel 0 is the zero of voltages that were real numbers, and holds real numbers too. */
  readonly realChannels?: number;
  /** As of voltages. */
  blocks(blockSamples: number, within?: SampleRange): AsyncIterable<CanonicalSpectra>;
}

/** Of each input; only what has an end says it. */
export interface KnownLength {
  readonly samples: number;
}

/** Voltages, or what arrives channelised. */
export type Source = VoltageSource | SpectraSource;

/** Samples a second of each input, and of each of its channels. */
export const sampleRateOf = (source: Source): number =>
  source.kind === 'voltages' ? source.sampleRateHz : source.spectrumRateHz;
