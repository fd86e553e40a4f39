/** A prepared F-engine, on whichever backend. */
import type { SpectraBlock, VoltageBlock } from '../core/blocks.js';
import type { Closable } from '../core/closing.js';
import type { RunDelays } from '../delay/index.js';
import type { ChannelisePlan } from './plan.js';

export interface Channeliser extends Closable {
  readonly plan: ChannelisePlan;
  /**
   * Takes the next stretch of the stream, of any length up to `plan.blockSamples`, and fills `out` with the
   * spectra it completes, possibly none. The filter's history is carried over: a stream cut anywhere gives the
   * same output as in one piece. A refused block leaves the stream as it was. One run at a time. A plan with
   * `mostDelaySamples` needs `delays`, which hold for all the spectra that this run completes.
   */
  run(voltages: VoltageBlock, out: SpectraBlock, delays?: RunDelays): Promise<void>;
  /** Blocks with room for powers (core/blocks.ts) find them there. */
  readonly sumsPowers: boolean;
  /** Real and imaginary parts that would have passed the rails, since the start or the last reset. */
  readonly saturated: number;
  /** Spectra made since the start or the last reset. */
  readonly produced: number;
  /** Forgets the stream: the next sample is the first of a new one. */
  reset(): void;
}
