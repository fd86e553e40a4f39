/**
 * How samples become spectra: channelised, or taken as they arrived; delayed; finer channels in the order of the band;
 * flagged by kurtosis. Every product starts from what the front makes, whether the source is a recording, a range of
 * one, or a live stream. No other code prepares a channeliser's stage or takes spectra.
 */
import type { Backend } from '../backend/backend.js';
import type { CudaBackend } from '../backend/cuda/cuda.js';
import type { ChannelisePlan } from '../channelise/index.js';
import type { SpectraType } from '../core/axes.js';
import type { CanonicalSpectra, SpectraShape, VoltageBlock } from '../core/blocks.js';
import { preparing, type Closable, type Closers } from '../core/closing.js';
import { refuse } from '../core/errors.js';
import { addSamples, type Instant } from '../core/instant.js';
import type { KnownLength, SampleRange, Source, SpectraSource, VoltageSource } from '../core/sources.js';
import type { LiveSpectraSource } from '../receive/index.js';
import { cannotTurn, shapeOf } from '../receive/on-card.js';
import {
  channelsOf,
  spectraIn,
  prepareFold,
  spectraBehind,
  type Finer,
  type EqualiserGains,
  checkedPhaseLoss,
  run,
  type RunOptions,
  prepareChannelise,
  spectrumGrid,
  everySpectra,
  spectrumStart,
  type IntegrationClock,
  type SpectrumGrid,
  gatherSpectra,
  gatherVoltages,
  splitSpectra,
  flaggedBlockOf,
  powersFor,
  prepareKurtosis,
  type RequestedKurtosis,
  prepareSelectChannels,
  type TimedSpectra,
  chain,
  type Account,
  type Stage,
  prepareTakeCells,
  prepareTakeSpectra,
  spectraPerBlock,
  delaysOfPlan,
  type RequestedDelays,
} from '../stages/index.js';
import {
  alsoAt,
  keptFrom,
  shortBlockSamples,
  spectraWithin,
  voltagesOfRange,
  voltagesWithin,
  widened,
  type Counted,
  type SpectraRange,
} from './range.js';

/** The factor that requantisation applied to spectra, relative to the nominal gain: products are divided by it. */
export interface Gain {
  /** One ratio for all. */
  readonly gainRatio?: number;
  /** Equaliser gains, one for each input and channel; they include the ratio. */
  readonly levels?: Pick<EqualiserGains, 'factors' | 'channels' | 'inputs'>;
}

export interface Front {
  readonly source: Source & Partial<KnownLength> & { readonly path?: string };
  /** How voltages become channels; for voltages only. */
  readonly channels?: ChannelisePlan;
  /** Where the source is the channels of a recording, taken as streams of voltages (fine/streams.ts). */
  readonly finer?: Finer;
  /** Fixed delays, or a place that is tracked. */
  readonly delays?: RequestedDelays;
  readonly kurtosis?: RequestedKurtosis;
  /** [a], 1 where an input is flagged from the start: kurtosis does not test it. */
  readonly flaggedInputs?: Uint8Array;
  /** For voltages that are requantised here; spectra have theirs in their source. */
  readonly gain?: Gain;
  /** Only these spectra and channels. */
  readonly range?: SpectraRange;
}

/** The spectra that a front makes. */
export interface FrontSpectra {
  readonly type: SpectraType;
  readonly channels: number;
  readonly inputs: number;
  readonly polarisations: 1 | 2;
  /** So many channels, from the first on, hold real numbers. */
  readonly realChannels: number;
  readonly grid: SpectrumGrid;
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
}

export function spectraOfFront({ source, channels: plan, finer, delays, range }: Front): FrontSpectra {
  const { polarisations } = source;
  const some = (all: Float64Array): Float64Array =>
    range ? all.subarray(range.firstChannel, range.endChannel) : all;
  if (source.kind === 'spectra') {
    const frequenciesHz = some(source.frequenciesHz);
    return {
      // After phase rotation integers are no longer integers.
      type: delays ? 'cf32' : source.type,
      channels: frequenciesHz.length,
      inputs: source.inputs,
      polarisations,
      realChannels: range && range.firstChannel > 0 ? 0 : (source.realChannels ?? 0),
      grid: source,
      frequenciesHz,
      channelWidthHz: source.channelWidthHz,
    };
  }
  const made = finer?.channels ?? channelsOf(source, planned(plan));
  const frequenciesHz = some(made.frequenciesHz);
  return {
    type: planned(plan).outputType,
    channels: frequenciesHz.length,
    inputs: finer?.inputs ?? source.inputs,
    polarisations,
    realChannels: planned(plan).sampling === 'real' && !(range && range.firstChannel > 0) ? 1 : 0,
    grid: spectrumGrid(source, planned(plan)),
    frequenciesHz,
    channelWidthHz: made.channelWidthHz,
  };
}

/** Spectra in all of a recording. */
export function spectraOfSource(front: Front): number {
  const { source, channels } = front;
  const samples = source.samples ?? refuse('range', 'the source has no end', 'give a recording');
  return source.kind === 'spectra' ? samples : spectraIn({ ...source, samples }, planned(channels));
}

/** The end of the spectra that are used: those of the front's range, or all of the recording. */
export const endOfFront = (front: Front): number => front.range?.endSpectrum ?? spectraOfSource(front);

/** The gain that products of these spectra are divided by. */
export const gainOfFront = ({ source, gain = {} }: Front): Gain => {
  if (source.kind !== 'spectra') return gain;
  const { levels, channels, inputs, gainRatio } = source;
  return levels ? { levels: { factors: levels, channels, inputs } } : { gainRatio };
};

/** Amplitude loss where delays are corrected by phases alone; undefined where samples are delayed. */
export const phaseLossOf = ({ source, delays }: Pick<Front, 'source' | 'delays'>): number | undefined =>
  source.kind === 'spectra' && delays ? checkedPhaseLoss(source, delays) : undefined;

const planned = (plan: ChannelisePlan | undefined): ChannelisePlan =>
  plan ?? refuse('front.channels', 'voltages need channels', 'say how many');

interface PreparedFront extends Closable {
  /** Runs the source through the front and the stage after it; closes both. */
  run(behind: Stage<TimedSpectra, unknown>, options?: RunOptions): Promise<Account>;
  /** The front for voltages as a stage, for callers with blocks of their own. */
  readonly ofVoltages?: Stage<VoltageBlock, TimedSpectra>;
  readonly ofSpectra?: Stage<CanonicalSpectra, TimedSpectra>;
}

interface FrontMachine {
  readonly backend: Backend;
  /** Where spectra are cut, for whatever is made of them. */
  readonly clock: IntegrationClock;
  /** Sums of integers do not depend on blocks: a short range may be read in shorter ones than the whole recording. */
  readonly blocks?: 'of the whole' | 'as short as the range';
}

export const prepareFront = (front: Front, machine: FrontMachine): Promise<PreparedFront> =>
  preparing((closers) =>
    front.source.kind === 'voltages'
      ? voltageFront(front, front.source, machine, closers)
      : spectraFront(front, front.source, machine, closers),
  );

async function voltageFront(
  front: Front,
  source: VoltageSource & Partial<KnownLength>,
  { backend, clock, blocks: lengths = 'of the whole' }: FrontMachine,
  closers: Closers,
): Promise<PreparedFront> {
  const { finer, delays, kurtosis, range } = front;
  const plan = planned(front.channels);
  const blockSpectra = kurtosis && flaggedBlockOf(kurtosis, spectraOfFront({ ...front, range: undefined }));
  // Phases are computed from the first spectrum of each run, and rounded relative to it.
  const runSpectra = delays?.towards === undefined ? undefined : trackedRunOf(plan);
  const own = [blockSpectra, runSpectra].filter((spectra) => spectra !== undefined);
  const spans = range && spansOf(front, range, own);
  const ranged = range && spans && voltagesOfRange(known(source), plan, range, spans.used);
  const isTracked = runSpectra !== undefined;
  const channelise = closers.keep(
    await prepareChannelise({
      backend,
      plan,
      source,
      clock: alsoAt(spans?.used.first ?? 0, own.length === 0 ? clock : cutAtMultiples(own)),
      firstSpectrum: ranged?.firstMade,
      delays: delays && delaysOfPlan(delays, source, plan),
      ...(finer || isTracked ? {} : powersFor(kurtosis, plan.output)),
    }),
  );
  const counted: Counted = { missingSamples: 0 };
  const kept = spans ? keptFrom(spans, channelise) : channelise;
  const accounted = range ? countedOnce(kept, counted, range.firstChannel === 0) : kept;
  const shape = spectraBehind(plan.output, finer);
  const ordered = finer
    ? chain(accounted, closers.keep(prepareFold(backend, plan.output, finer.inputs, finer.channels)))
    : accounted;
  const grid = spectrumGrid(source, plan);
  const startOf = (spectrum: number): Instant => spectrumStart(grid, spectrum);
  const cutBehind = { backend, clock, startOf, blockSpectra, isCut: own.length === 0 };
  const flagged = await finished(ordered, shape, front, cutBehind, closers);
  const gathered = runSpectra ?? blockSpectra;
  const isGathered = gathered !== undefined && gathered * plan.samplesPerSpectrum <= plan.blockSamples;
  const stage = isGathered ? chain(gatherVoltages(source, plan, gathered), flagged) : flagged;
  // Sums of floats depend on blocks.
  const whole = lengths === 'of the whole' || plan.outputType === 'cf32';
  const blocks = (): AsyncIterable<VoltageBlock> =>
    ranged
      ? voltagesWithin(
          source,
          whole ? plan.blockSamples : shortBlockSamples(plan, ranged.read),
          ranged,
          counted,
        )
      : source.blocks(plan.blockSamples);
  return {
    ofVoltages: stage,
    run: (behind, options) => run(blocks(), chain(stage, behind), nothing, options),
    close: () => stage.close(),
  };
}

async function spectraFront(
  front: Front,
  source: SpectraSource & Partial<KnownLength>,
  { backend, clock }: FrontMachine,
  closers: Closers,
): Promise<PreparedFront> {
  const { delays, kurtosis, range } = front;
  if (delays) checkedPhaseLoss(source, delays);
  const blockSpectra = kurtosis && flaggedBlockOf(kurtosis, source);
  if (backend.kind === 'cuda' && !delays && !range && hasCells(source))
    return cellFront(front, source, { backend, clock }, closers);
  const spans = range && spansOf(front, range, blockSpectra === undefined ? [] : [blockSpectra]);
  // Kurtosis tests all channels together: those of a range are chosen after it.
  const read =
    range &&
    (kurtosis
      ? {
          firstSpectrum: spans?.used.first ?? 0,
          endSpectrum: spans?.used.end ?? 0,
          firstChannel: 0,
          endChannel: source.channels,
        }
      : range);
  const taken = read
    ? {
        ...source,
        channels: read.endChannel - read.firstChannel,
        frequenciesHz: source.frequenciesHz.subarray(read.firstChannel, read.endChannel),
      }
    : source;
  const take = closers.keep(
    await prepareTakeSpectra({
      backend,
      source: taken,
      delays,
      leastSpectra: blockSpectra,
      clock: blockSpectra === undefined ? clock : everySpectra(blockSpectra),
      firstSpectrum: read?.firstSpectrum,
      flagged: kurtosis !== undefined,
    }),
  );
  const counted: Counted = { missingSamples: 0 };
  const perBlock = spectraPerBlock(taken, blockSpectra);
  const type = delays ? 'cf32' : source.type;
  const shape = { type, channels: taken.channels, inputs: source.inputs, capacity: perBlock } as const;
  const rest = range && kurtosis ? front : { ...front, range: undefined };
  const isCounted = !kurtosis || range?.firstChannel === 0;
  const startOf = (spectrum: number): Instant => addSamples(source.start, spectrum, source.spectrumRateHz);
  const stage = await finished(
    range ? countedOnce(take, counted, isCounted) : take,
    shape,
    rest,
    { backend, clock, startOf, blockSpectra, isCut: !kurtosis },
    closers,
  );
  const blocks = (): AsyncIterable<CanonicalSpectra> =>
    read
      ? spectraWithin(source, blockSpectra ?? spectraPerBlock(source), read, counted, spans?.own)
      : source.blocks(blockSpectra ?? perBlock);
  return {
    ofSpectra: stage,
    run: (behind, options) => run(blocks(), chain(stage, behind), nothing, options),
    close: () => stage.close(),
  };
}

/** Whether blocks can be used in the ring's layout, and transposed on a card. */
const hasCells = (source: SpectraSource): source is LiveSpectraSource =>
  'cells' in source &&
  cannotTurn((source as LiveSpectraSource).ring.stream, source.polarisations) === undefined;

/** Packets of spectra straight to the card. */
async function cellFront(
  front: Front,
  source: LiveSpectraSource,
  { backend, clock }: FrontMachine & { readonly backend: CudaBackend },
  closers: Closers,
): Promise<PreparedFront> {
  const { kurtosis } = front;
  const blockSpectra = kurtosis && flaggedBlockOf(kurtosis, source);
  const cuts = blockSpectra === undefined ? clock : everySpectra(blockSpectra);
  const take = closers.keep(await prepareTakeCells({ backend, source, clock: cuts }));
  const startOf = (spectrum: number): Instant => addSamples(source.start, spectrum, source.spectrumRateHz);
  const stage = await finished(
    take,
    shapeOf(source.ring),
    front,
    { backend, clock, startOf, blockSpectra, isCut: !kurtosis },
    closers,
  );
  return {
    run: (behind, options) => run(source.cells(), chain(stage, behind), nothing, options),
    close: () => stage.close(),
  };
}

interface Spans {
  /** The spectra of the range. */
  readonly own: SampleRange;
  /** Those and their neighbours in whole blocks of the flagger, and whole runs of tracking. */
  readonly used: SampleRange;
}

function spansOf(front: Front, range: SpectraRange, blocks: readonly number[]): Spans {
  const own = { first: range.firstSpectrum, end: range.endSpectrum };
  const used = blocks.map((spectra) => widened(range, spectra, spectraOfSource(front)));
  return {
    own,
    used: {
      first: Math.min(own.first, ...used.map(({ first }) => first)),
      end: Math.max(own.end, ...used.map(({ end }) => end)),
    },
  };
}

/** Spectra that are tracked at a time: a power of two, 256 or what fits a block. */
function trackedRunOf({ blockSamples, samplesPerSpectrum }: ChannelisePlan): number {
  const most = Math.min(MOST_TRACKED_SPECTRA, Math.floor(blockSamples / samplesPerSpectrum));
  return 2 ** Math.floor(Math.log2(Math.max(1, most)));
}
const MOST_TRACKED_SPECTRA = 256;

const cutAtMultiples = (lengths: readonly number[]): IntegrationClock => ({
  cutAfter: (index) => Math.min(...lengths.map((spectra) => (Math.floor(index / spectra) + 1) * spectra)),
});

/** Flagged by kurtosis in blocks of its own, where requested; then the channels of the range. */
async function finished<In>(
  spectra: Stage<In, TimedSpectra>,
  shape: SpectraShape,
  front: Front,
  {
    backend,
    clock,
    startOf,
    blockSpectra,
    isCut,
  }: {
    readonly backend: Backend;
    readonly clock: IntegrationClock;
    readonly startOf: (spectrum: number) => Instant;
    readonly blockSpectra: number | undefined;
    /** Whether spectra arrive cut where the clock cuts, and without what is outside the range. */
    readonly isCut: boolean;
  },
  closers: Closers,
): Promise<Stage<In, TimedSpectra>> {
  const { kurtosis, flaggedInputs, range } = front;
  const whole = spectraOfFront({ ...front, range: undefined });
  const keep = <Kept extends Closable>(one: Kept): Kept => closers.keep(one);
  let stage = spectra;
  if (kurtosis && blockSpectra !== undefined)
    stage = chain(
      stage,
      keep(gatherSpectra(backend, shape, blockSpectra, clock)),
      keep(await prepareKurtosis(whole, { backend, kurtosis, flaggedInputs })),
    );
  if (!isCut) {
    const span = range && { first: range.firstSpectrum, end: range.endSpectrum };
    const capacity = Math.max(shape.capacity, blockSpectra ?? 0);
    stage = chain(stage, keep(splitSpectra(backend, { ...shape, capacity }, clock, startOf, span)));
  }
  if (!range || range.endChannel - range.firstChannel === shape.channels) return stage;
  const channels = { first: range.firstChannel, end: range.endChannel };
  return chain(stage, keep(prepareSelectChannels(backend, shape, channels)));
}

/**
 * Missing samples of a range are counted where it is read. Where a range reads all channels, the first one counts for
 * all.
 */
const countedOnce = <In>(
  stage: Stage<In, TimedSpectra>,
  counted: Counted,
  isCounted: boolean,
): Stage<In, TimedSpectra> => ({
  ...stage,
  account: () => ({
    ...stage.account(),
    ...(isCounted ? { missingSamples: counted.missingSamples } : { missingSamples: 0, saturated: 0 }),
  }),
});

const known = (source: VoltageSource & Partial<KnownLength>): KnownLength => ({
  ...source,
  samples: source.samples ?? refuse('range', 'the source has no end', 'give a recording'),
});

const nothing = (): Promise<void> => Promise.resolve();
