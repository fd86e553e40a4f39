/** A KrakenSDR frame, of either firmware version. */
import type { Instant } from '../../../core/instant.js';

/**
 * In the order of version 1's numbers; `calibration`: the noise source, `ramp`: a test pattern, `dummy`: no samples.
 */
export const frameKinds = ['data', 'dummy', 'ramp', 'calibration', 'trigger-wait', 'empty'] as const;
export type FrameKind = (typeof frameKinds)[number];

export interface KrakenFrame {
  readonly kind: FrameKind;
  readonly channels: number;
  /** Per channel; 0 in frames without samples. */
  readonly samples: number;
  readonly frequencyHz: number;
  /** Not in version 2. */
  readonly sampleRateHz?: number;
  /** Counts frames, sent or skipped, modulo 2³². Version 2 has no counter. */
  readonly index?: number;
  /** On the receiver's clock. Version 2 has no time. */
  readonly time?: Instant;
  /** The receiver's flag: channels are synchronised in delay and phase. */
  readonly isSynchronised: boolean;
  readonly isRetuning: boolean;
  /** Version 2: how often the receiver was retuned. */
  readonly changes?: number;
  /** Version 2: samples of damaged packets before this one. */
  readonly skippedSamples?: number;
  /** A bit for each channel whose converter clipped: from the header in version 1, from the samples in version 2. */
  readonly overdriven: number;
  /** voltages : [a][t], valid until the next frame is read. */
  readonly voltages: Float32Array | Int8Array;
  /** Arrival time of its last byte. */
  readonly arrivedMs: number;
}

/** A receiver has five channels; the maximum for several side by side. */
export const MOST_CHANNELS = 32;
/** Longer frames are damaged headers. */
export const MOST_FRAME_BYTES = 2 ** 29;
