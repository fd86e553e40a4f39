/** A prepared F-engine, on any backend. */
import type { SpectraBlock, VoltageBlock } from '../core/blocks.js';
import type { Closable } from '../core/closing.js';
import type { RunDelays } from '../delay/index.js';
import type { ChannelisePlan } from './plan.js';

export interface Channeliser extends Closable {
  readonly plan: ChannelisePlan;
  /**
   * Takes the next samples of the stream, of any length up to `plan.blockSamples`, and fills `out` with the spectra
   * they complete, possibly none. The filter's history is kept: a stream cut anywhere gives the same output as in one
   * piece. A refused block leaves the stream unchanged. One run at a time. A plan with `mostDelaySamples` needs
   * `delays`, which apply to all the spectra that this run completes.
   */
  run(voltages: VoltageBlock, out: SpectraBlock, delays?: RunDelays): Promise<void>;
  /** Whether powers are stored in blocks with memory for them (core/blocks.ts). */
  readonly sumsPowers: boolean;
  /** Saturated real and imaginary parts, since the start or the last reset. */
  readonly saturated: number;
  /** Spectra made since the start or the last reset. */
  readonly produced: number;
  /** Forgets the stream: the next sample is the first of a new one. */
  reset(): void;
}
