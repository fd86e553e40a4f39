/** A frame of a KrakenSDR, of either version of its firmware. */
import type { Instant } from '../../../core/instant.js';

/** What a frame holds, in the order of version 1's numbers: `data` of the antennas, `calibration` of the noise source, a test pattern, or no samples. */
export const frameKinds = ['data', 'dummy', 'ramp', 'calibration', 'trigger-wait', 'empty'] as const;
export type FrameKind = (typeof frameKinds)[number];

export interface KrakenFrame {
  readonly kind: FrameKind;
  readonly channels: number;
  /** Of each channel; 0 in frames without samples. */
  readonly samples: number;
  readonly frequencyHz: number;
  /** Version 2 does not carry it. */
  readonly sampleRateHz?: number;
  /** Counts frames, sent or skipped, modulo 2³². Version 2 has no counter. */
  readonly index?: number;
  /** By the receiver's clock. Version 2 carries no time. */
  readonly time?: Instant;
  /** The receiver calls its channels synchronised in delay and phase. */
  readonly isSynchronised: boolean;
  readonly isRetuning: boolean;
  /** Of version 2: how often the receiver was retuned. */
  readonly changes?: number;
  /** Of version 2: samples of damaged packets before this one. */
  readonly skippedSamples?: number;
  /** A bit for each channel whose converter clipped: by the header of version 1, by the samples of version 2. */
  readonly overdriven: number;
  /** voltages : [a][t], valid until the next frame is read. */
  readonly voltages: Float32Array | Int8Array;
  /** When its last byte came. */
  readonly arrivedMs: number;
}

/** A receiver has five channels, several side by side at most so many. */
export const MOST_CHANNELS = 32;
/** Longer frames are damaged headers. */
export const MOST_FRAME_BYTES = 2 ** 29;
