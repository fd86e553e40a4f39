/** From samples to integrations: channelise where needed, correlate, and end integrations on their clock. */
import type { OnProgress } from '../core/progress.js';
import type { Backend } from '../backend/backend.js';
import { outputRail, type ChannelisePlan } from '../channelise/index.js';
import type { SpectraType } from '../core/axes.js';
import type { CanonicalSpectra, Integration, VoltageBlock } from '../core/blocks.js';
import { preparing } from '../core/closing.js';
import { refuse } from '../core/errors.js';
import type { Instant } from '../core/instant.js';
import type { KnownLength, SpectraSource, VoltageSource } from '../core/sources.js';
import { channelsOf, spectraIn } from './channels.js';
import { inOrder, spectraBehind, type Finer } from './fine/fold.js';
import { lengthOf, run } from './run.js';
import { prepareChannelise, spectrumGrid } from './stages/channelise.js';
import { integrationClock, type IntegrationSettings } from './stages/clock.js';
import { prepareCorrelate } from './stages/correlate.js';
import { chain, type Account, type Emit, type Stage } from './stages/stage.js';
import { prepareTurnBack } from './stages/turn-back.js';
import { delaysOfPlan, type RequestedDelays } from './tracking.js';
import { prepareVanVleck, type RequestedVanVleck } from './stages/van-vleck.js';
import { flagging, leastSpectraOf, powersFor, type RequestedKurtosis } from './stages/kurtosis.js';
import { prepareTakeSpectra, spectraPerBlock } from './stages/take-spectra.js';

export interface CorrelationSettings extends IntegrationSettings {
  readonly backend: Backend;
  readonly flaggedInputs?: Uint8Array;
  /** What is delayed; tracking is turned back at the middle of each integration. */
  readonly delays?: RequestedDelays;
  /** Interference is taken out of the voltages before they are correlated. */
  readonly kurtosis?: RequestedKurtosis;
  /** What rounding to few levels does to products is taken back. */
  readonly vanVleck?: RequestedVanVleck;
  /** Voltages are the channels of a recording that is channelised already, and become finer ones (fine/streams.ts). */
  readonly finer?: Finer;
}

interface Watched {
  readonly onProgress?: OnProgress;
  /** Breaks the correlation off; integrations that were finished have been handed on. */
  readonly stop?: AbortSignal;
}

/** Voltages to integrations, prepared once for a stream of any length. */
export function prepareVoltageCorrelation(
  source: VoltageSource,
  plan: ChannelisePlan,
  settings: CorrelationSettings,
): Promise<Stage<VoltageBlock, Integration>> {
  const { backend, flaggedInputs, delays, finer, kurtosis } = settings;
  const spectra = spectraBehind(plan.output, finer);
  const grid = spectrumGrid(source, plan);
  const clock = integrationClock(settings, grid);
  return preparing(async (closers) => {
    // Together: where kernels are compiled, that is most of a short run.
    const [channelise, correlate] = await closers.keepAll([
      prepareChannelise({
        ...{ backend, plan, source, clock },
        ...(delays && { delays: delaysOfPlan(delays, source, plan) }),
        ...(finer ? {} : powersFor(kurtosis, plan.output)),
      }),
      prepareCorrelate({
        backend,
        spectra,
        polarisations: source.polarisations,
        grid,
        ...(flaggedInputs && { flaggedInputs }),
      }),
    ]);
    const made = chain(
      inOrder(channelise, backend, plan.output, finer),
      await flagging(
        { ...spectra, polarisations: source.polarisations, sampling: plan.sampling },
        settings,
        correlate,
      ),
    );
    const unrounded = corrected(made, settings, plan.outputType, plan.sampling === 'real' ? 1 : 0);
    return unphased(unrounded, settings, source.start, channelsOf(source, plan).frequenciesHz);
  });
}

/** As without rounding, where that was asked for. */
function corrected<In>(
  stages: Stage<In, Integration>,
  { vanVleck }: CorrelationSettings,
  type: SpectraType,
  realChannels: number,
): Stage<In, Integration> {
  if (!vanVleck) return stages;
  if (type === 'cf32')
    refuse(
      '--van-vleck',
      'these channels are floats, and were not rounded',
      'leave it out, or give --bits 8 or 4',
    );
  return chain(stages, prepareVanVleck({ ...vanVleck, rail: outputRail[type], realChannels }));
}

/** Without what was tracked: inside the house nothing is. */
function unphased<In>(
  stages: Stage<In, Integration>,
  { delays }: CorrelationSettings,
  start: Instant,
  frequenciesHz: Float64Array,
): Stage<In, Integration> {
  if (delays?.towards === undefined) return stages;
  const { law, tickRateHz } = delays;
  return chain(stages, prepareTurnBack({ law, tickRateHz, start, frequenciesHz }));
}

/** The same of data that arrive channelised. */
export function prepareSpectraCorrelation(
  source: SpectraSource,
  settings: CorrelationSettings,
): Promise<Stage<CanonicalSpectra, Integration>> {
  const { backend, flaggedInputs, delays } = settings;
  const clock = integrationClock(settings, source);
  return preparing(async (closers) => {
    const take = closers.keep(
      await prepareTakeSpectra({
        ...{ backend, source, clock, ...(delays && { delays }) },
        ...leastSpectraOf(settings.kurtosis, source),
        flagged: settings.kurtosis !== undefined,
      }),
    );
    const correlate = await prepareCorrelate({
      backend,
      // Turned by phases, whole numbers are no longer whole.
      spectra: delays ? { ...source, type: 'cf32' } : source,
      polarisations: source.polarisations,
      grid: source,
      ...(flaggedInputs && { flaggedInputs }),
    });
    const type = delays ? 'cf32' : source.type;
    const flagged = await flagging({ ...source, type }, settings, correlate);
    const unrounded = corrected(chain(take, flagged), settings, type, source.realChannels ?? 0);
    return unphased(unrounded, settings, source.start, source.frequenciesHz);
  });
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
  const stages = await prepareVoltageCorrelation(source, plan, settings);
  return run(source.blocks(plan.blockSamples), stages, emit, { ...lengthOf(source), ...watched(settings) });
}

/** Correlates data that arrive channelised, to their end. */
export async function correlateSpectra(
  source: SpectraSource & Partial<KnownLength>,
  settings: CorrelationSettings & Watched,
  emit: Emit<Integration>,
): Promise<Account> {
  const stages = await prepareSpectraCorrelation(source, settings);
  const { leastSpectra } = leastSpectraOf(settings.kurtosis, source);
  return run(source.blocks(spectraPerBlock(source, leastSpectra)), stages, emit, {
    ...lengthOf(source),
    ...watched(settings),
  });
}

const watched = ({ onProgress, stop }: Watched): Watched => ({
  ...(onProgress && { onProgress }),
  ...(stop && { stop }),
});
