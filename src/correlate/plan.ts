/** The plan of a correlator, before any data: pure, and the same for every backend. */
import { baselineCount, type SpectraType } from '../core/axes.js';
import { checkBlock, type SpectraBlock } from '../core/blocks.js';
import { refuse, wholeNumber } from '../core/errors.js';
import { checkGap } from '../core/gaps.js';

const MOST_STATIONS = 2 ** 14;
const MOST_CHANNELS = 2 ** 20;

/** Each sample adds at most 2·127² to a sum; float64 represents integers exactly up to 2⁵³. */
export const MOST_INTEGER_SAMPLES = Math.floor(2 ** 53 / (2 * 127 ** 2));

export interface CorrelateOptions {
  readonly stations: number;
  readonly polarisations: 1 | 2;
  readonly channels: number;
  readonly type: SpectraType;
  /** flaggedInputs : [a], 1 for an input to leave out; none by default. */
  readonly flaggedInputs?: Uint8Array;
}

export interface CorrelatePlan {
  readonly stations: number;
  readonly polarisations: 1 | 2;
  readonly channels: number;
  readonly type: SpectraType;
  /** stations · polarisations */
  readonly inputs: number;
  /** The lower triangle, autocorrelations included. */
  readonly baselines: number;
  readonly flaggedInputs: Uint8Array;
  /** The most samples of an exact integration. */
  readonly mostSamples: number;
}

/** Checks a correlator's sizes; independent of the machine. */
export function planCorrelation(options: CorrelateOptions): CorrelatePlan {
  const { polarisations, type } = options;
  const stations = wholeNumber('correlate', 'stations', options.stations, 1, MOST_STATIONS);
  const channels = wholeNumber('correlate', 'channels', options.channels, 1, MOST_CHANNELS);
  const inputs = stations * polarisations;
  const flaggedInputs = options.flaggedInputs?.slice() ?? new Uint8Array(inputs);
  if (flaggedInputs.length !== inputs) {
    refuse(
      'correlate',
      `${flaggedInputs.length} input flags were given for ${inputs} inputs`,
      'give one for each input, stations × polarisations',
    );
  }
  const bad = flaggedInputs.findIndex((flag) => flag > 1);
  if (bad >= 0) refuse('correlate', `the flag of input ${bad} is ${flaggedInputs[bad]}`, 'flags are 0 or 1');
  return {
    stations,
    polarisations,
    channels,
    type,
    inputs,
    baselines: baselineCount(stations),
    flaggedInputs,
    mostSamples: type === 'cf32' ? Number.MAX_SAFE_INTEGER : MOST_INTEGER_SAMPLES,
  };
}

/** Refuses blocks that do not fit the plan, before anything is added. `samplesSoFar` are in the sums already. */
export function checkCorrelateBlock(plan: CorrelatePlan, block: SpectraBlock, samplesSoFar: number): void {
  const { samples } = block;
  checkBlock('correlate', plan, block);
  if (samplesSoFar + samples > plan.mostSamples) {
    refuse(
      'correlate',
      `${samplesSoFar + samples} samples in one integration could pass 2⁵³, where sums stop being exact`,
      `finish the integration at ${plan.mostSamples} samples or before`,
    );
  }
  for (const gap of block.gaps) {
    wholeNumber('correlate', "a gap's endChannel", gap.endChannel, 0, plan.channels);
    wholeNumber('correlate', "a gap's firstChannel", gap.firstChannel, 0, gap.endChannel);
    checkGap('correlate', gap, plan.inputs, samples);
  }
}
