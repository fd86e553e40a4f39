/** From samples to integrations: the composition whose one product is handed to the caller. */
import type { OnProgress } from '../core/progress.js';
import type { Backend } from '../backend/backend.js';
import type { ChannelisePlan } from '../channelise/index.js';
import type { CanonicalSpectra, Integration, VoltageBlock } from '../core/blocks.js';
import { preparing } from '../core/closing.js';
import type { KnownLength, Source, SpectraSource, VoltageSource } from '../core/sources.js';
import {
  spectraIn,
  type Finer,
  integrationClock,
  type IntegrationClock,
  type IntegrationSettings,
  type FlagRulesSettings,
  type RequestedKurtosis,
  chain,
  passing,
  type Account,
  type Emit,
  type Stage,
  type TimedSpectra,
  type RequestedVanVleck,
  type RequestedDelays,
} from '../stages/index.js';
import { behindFront, observe, type Observing } from './compose.js';
import { prepareFront, spectraOfFront, type Front, type Gain } from './front.js';

export interface CorrelationSettings extends IntegrationSettings {
  readonly backend: Backend;
  /** Instead of one backend: several cards, which share the channels. */
  readonly backends?: readonly Backend[];
  readonly flaggedInputs?: Uint8Array;
  /** Fixed delays, or a place that is tracked; tracking is taken out at the middle of each integration. */
  readonly delays?: RequestedDelays;
  /** Interference is flagged in the spectra before they are correlated. */
  readonly kurtosis?: RequestedKurtosis;
  /** The correction for rounding to few bits. */
  readonly vanVleck?: RequestedVanVleck;
  /** Voltages are the channels of a recording that is channelised already, and become finer ones (fine/streams.ts). */
  readonly finer?: Finer;
  /**
   * The factor applied to voltages before rounding, relative to the nominal gain; integrations are divided by it again.
   */
  readonly gain?: Gain;
  /** Sums of integers can be kept as they were summed, undivided. */
  readonly values?: 'means' | 'sums';
  /** Sees integrations before the gain is divided out. */
  readonly look?: (integration: Integration) => void;
  /** Flags by channel, time and pair, and the channels that are kept. */
  readonly flags?: FlagRulesSettings;
}

interface Watched {
  readonly onProgress?: OnProgress;
  /** Breaks the correlation off; integrations that were finished have been handed on. */
  readonly stop?: AbortSignal;
}

function observing(
  source: Source & Partial<KnownLength>,
  channels: ChannelisePlan | undefined,
  settings: CorrelationSettings,
  emit: Emit<Integration>,
): Observing & { readonly clock: IntegrationClock } {
  const { delays, kurtosis, flaggedInputs, finer, gain, vanVleck, values, look, flags } = settings;
  const front: Front = { source, channels, finer, delays, kurtosis, flaggedInputs, gain };
  const clock = integrationClock(settings, spectraOfFront(front).grid);
  const stage = passing(emit);
  return {
    front,
    flaggedInputs,
    clock,
    products: [{ from: 'integrations', clock, vanVleck, values, look, flags, stage }],
  };
}

/** Every integration of a source's voltages, until it ends. */
export async function correlateVoltages(
  source: VoltageSource & Partial<KnownLength>,
  plan: ChannelisePlan,
  settings: CorrelationSettings & Watched,
  emit: Emit<Integration>,
): Promise<Account> {
  const { samples } = source;
  if (samples !== undefined) spectraIn({ ...source, samples }, plan);
  return correlated(source, plan, settings, emit);
}

/** Every integration of data that arrive channelised, until they end. */
export function correlateSpectra(
  source: SpectraSource & Partial<KnownLength>,
  settings: CorrelationSettings & Watched,
  emit: Emit<Integration>,
): Promise<Account> {
  return correlated(source, undefined, settings, emit);
}

const correlated = (
  source: Source & Partial<KnownLength>,
  plan: ChannelisePlan | undefined,
  settings: CorrelationSettings & Watched,
  emit: Emit<Integration>,
): Promise<Account> => {
  const { backend, backends = [backend], onProgress, stop } = settings;
  return observe(observing(source, plan, settings, emit), backends, { onProgress, stop });
};

/** Voltages to integrations as one stage, for callers with blocks of their own. */
export const prepareVoltageCorrelation = (
  source: VoltageSource,
  plan: ChannelisePlan,
  settings: CorrelationSettings,
): Promise<Stage<VoltageBlock, Integration>> =>
  asStage(source, plan, settings, ({ ofVoltages }) => ofVoltages);

/** The same of data that arrive channelised. */
export const prepareSpectraCorrelation = (
  source: SpectraSource,
  settings: CorrelationSettings,
): Promise<Stage<CanonicalSpectra, Integration>> =>
  asStage(source, undefined, settings, ({ ofSpectra }) => ofSpectra);

type Prepared = Awaited<ReturnType<typeof prepareFront>>;

/** What its only product is handed is what comes of it. */
const asStage = <Block>(
  source: Source,
  plan: ChannelisePlan | undefined,
  settings: CorrelationSettings,
  stageOf: (front: Prepared) => Stage<Block, TimedSpectra> | undefined,
): Promise<Stage<Block, Integration>> =>
  preparing(async (closers) => {
    const what = observing(source, plan, settings, () => Promise.resolve());
    const { backend } = settings;
    // Concurrently: compiling kernels takes most of a short run.
    const [front, behind] = await closers.keepAll([
      prepareFront(what.front, { backend, clock: what.clock }),
      behindFront(what, backend, what.clock),
    ]);
    const own = stageOf(front);
    if (!own) throw new Error('a source of one kind has a front of another');
    return chain(own, behind as Stage<TimedSpectra, Integration>);
  });
