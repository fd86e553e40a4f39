/** The kernels as used by qualification figures: samples in, all results out, by the public entry points. */
import type { Backend } from '../backend/backend.js';
import {
  planChannelise,
  prepareChanneliser,
  type ChanneliseOptions,
  type ChannelisePlan,
} from '../channelise/index.js';
import type { SpectraCAT, SpectraType, VoltagesAT } from '../core/axes.js';
import type { CanonicalSpectra, Integration, VoltageBlock } from '../core/blocks.js';
import { closingAfter, nothingToClose } from '../core/closing.js';
import type { SpectraGap, VoltageGap } from '../core/gaps.js';
import { parseInstant } from '../core/instant.js';
import type { KnownLength, SpectraSource, VoltageSource } from '../core/sources.js';
import { planCorrelation, prepareCorrelator, type CorrelationResult } from '../correlate/index.js';
import { correlateVoltages, type CorrelationSettings } from '../compose/index.js';
import { voltagesOf } from './signals.js';

/** The observing time for everything that needs one. */
export const START = parseInstant('2026-06-01T04:00:00Z');

export interface Channelised {
  readonly plan: ChannelisePlan;
  /** spectra : [c][a][t] */
  readonly spectra: SpectraCAT;
  readonly samples: number;
  readonly saturated: number;
}

type EngineOptions = Omit<ChanneliseOptions, 'blockSamples' | 'polarisations'>;

/** One block of voltages through the F-engine. */
export function channelise(
  backend: Backend,
  options: EngineOptions,
  voltages: VoltagesAT,
  samples: number,
): Promise<Channelised> {
  return closingAfter(async (closers) => {
    const plan = planChannelise({ ...options, polarisations: 1, blockSamples: samples });
    const out = closers.keep(backend.allocateSpectra(plan.output));
    const channeliser = closers.keep(await prepareChanneliser(plan, backend));
    const { inputs, inputType: type } = options;
    await channeliser.run({ type, inputs, samples, voltages, gaps: [], start: START }, out);
    return { plan, spectra: await out.read(), samples: out.samples, saturated: channeliser.saturated };
  });
}

export interface SpectraSet {
  readonly type: SpectraType;
  readonly channels: number;
  readonly stations: number;
  readonly polarisations: 1 | 2;
  readonly blocks: readonly {
    readonly spectra: SpectraCAT;
    readonly samples: number;
    readonly gaps?: readonly SpectraGap[];
  }[];
}

/** Blocks of spectra through the X-engine, as one integration. */
export function correlate(backend: Backend, set: SpectraSet): Promise<CorrelationResult> {
  return closingAfter(async (closers) => {
    const { type, channels, stations, polarisations, blocks } = set;
    const capacity = blocks.reduce((most, { samples }) => Math.max(most, samples), 0);
    const shape = { type, channels, inputs: stations * polarisations, capacity };
    const plan = planCorrelation({ type, channels, stations, polarisations });
    const block = closers.keep(backend.allocateSpectra(shape));
    const correlator = closers.keep(await prepareCorrelator(plan, backend));
    for (const { spectra, samples, gaps } of blocks) {
      await block.write(spectra, samples, gaps);
      await correlator.accumulate(block);
    }
    return correlator.finish();
  });
}

/** Of all samples that figures correlate. */
export const [SAMPLE_RATE_HZ, CENTRE_HZ] = [1e6, 60e6];

export interface SampleSet {
  readonly type: VoltageSource['type'];
  readonly inputs: number;
  /** 1 by default. */
  readonly polarisations?: 1 | 2;
  /** values : [a][t] */
  readonly values: ArrayLike<number>;
  readonly samples: number;
  readonly gaps?: readonly VoltageGap[];
}

/** Samples in memory as a source that ends. */
function sourceOf(set: SampleSet): VoltageSource & KnownLength {
  const { type, inputs, polarisations = 1, samples, values, gaps = [] } = set;
  const voltages = voltagesOf(type, inputs, samples, values);
  const block: VoltageBlock = { type, inputs, samples, voltages, gaps, start: START };
  return {
    kind: 'voltages',
    type,
    inputs,
    samples,
    polarisations,
    sampleRateHz: SAMPLE_RATE_HZ,
    centreFrequencyHz: CENTRE_HZ,
    start: START,
    // eslint-disable-next-line @typescript-eslint/require-await -- whoever takes blocks waits for them
    blocks: async function* () {
      yield block;
    },
    close: nothingToClose,
  };
}

/** Spectra of 4 bits of two polarisations in memory as a source that ends. */
export function spectraSource(
  blocks: readonly CanonicalSpectra[],
  {
    inputs,
    channels,
    rateHz,
  }: { readonly inputs: number; readonly channels: number; readonly rateHz: number },
): SpectraSource {
  return {
    kind: 'spectra',
    type: 'ci4',
    inputs,
    polarisations: 2,
    start: blocks[0].start,
    channels,
    spectrumRateHz: rateHz,
    frequenciesHz: Float64Array.from({ length: channels }, (_, c) => 50e6 + c * rateHz),
    channelWidthHz: rateHz,
    // eslint-disable-next-line @typescript-eslint/require-await -- whoever takes blocks waits for them
    blocks: async function* () {
      yield* blocks;
    },
    close: nothingToClose,
  };
}

/** Samples through F- and X-engine, as `correlate` runs them: one integration. */
export async function correlateSamples(
  backend: Backend,
  set: SampleSet,
  options: Omit<EngineOptions, 'inputs' | 'inputType'>,
  settings: Omit<CorrelationSettings, 'backend'> = {},
): Promise<{ readonly integration: Integration; readonly plan: ChannelisePlan }> {
  const plan = planChannelise({
    ...options,
    inputs: set.inputs,
    inputType: set.type,
    polarisations: set.polarisations ?? 1,
    blockSamples: set.samples,
  });
  const made: Integration[] = [];
  await correlateVoltages(sourceOf(set), plan, { backend, ...settings }, (one) => {
    made.push(one);
    return Promise.resolve();
  });
  const [integration] = made;
  if (made.length !== 1) throw new Error(`one integration was expected, ${made.length} came`);
  return { integration, plan };
}
