/**
 * Parts of a recording's work: some of its spectra, some of its channels. Spectra are numbered from the recording's first
 * and blocks lie where those of the whole lie, so that what is made of a part is what the whole would have there:
 * sums of whole numbers add up to the same bits however it was cut, and floats are the same where no integration is cut.
 */
import type { Backend } from '../backend/backend.js';
import type { ChannelisePlan } from '../channelise/index.js';
import { elementsPerSpectra, spectraCAT, type SpectraCAT } from '../core/axes.js';
import type { CanonicalSpectra, Integration, VoltageBlock } from '../core/blocks.js';
import { preparing } from '../core/closing.js';
import { refuse } from '../core/errors.js';
import { channelSamplesIn, samplesIn, type SpectraGap } from '../core/gaps.js';
import { secondsBetween, type Instant } from '../core/instant.js';
import type { SampleRange } from '../core/sources.js';
import type { Recording, SpectraRecording, VoltageRecording } from '../formats/index.js';
import { spectraIn } from './channels.js';
import { run } from './run.js';
import { sliceBlock } from './slices.js';
import { sliceSpectra } from './spectra-slices.js';
import { prepareChannelise, spectrumGrid } from './stages/channelise.js';
import {
  integrationClock,
  oneIntegration,
  type IntegrationClock,
  type IntegrationSettings,
} from './stages/clock.js';
import { prepareCorrelate } from './stages/correlate.js';
import { gapsWithin, prepareSelectChannels } from './stages/select-channels.js';
import type { TimedSpectra } from './stages/spectra.js';
import { chain, type Emit, type Stage } from './stages/stage.js';
import { prepareTakeSpectra, spectraPerBlock } from './stages/take-spectra.js';
import { delaysOfPlan, type RequestedDelays } from './tracking.js';

/** Spectra by their number in the recording, and channels. */
export interface SpectraBox {
  readonly firstSpectrum: number;
  readonly endSpectrum: number;
  readonly firstChannel: number;
  readonly endChannel: number;
}

export interface PartSettings extends IntegrationSettings {
  readonly backend: Backend;
  readonly flaggedInputs?: Uint8Array;
  /** Those that stand still: what follows the sky is turned back by whole integrations. */
  readonly delays?: RequestedDelays;
  readonly stop?: AbortSignal;
}

/** What was met on the way, of this part alone: over all parts it adds up to the whole's. */
export interface PartAccount {
  readonly missingSamples: number;
  readonly saturated: number;
}

/** Spectra in a recording. */
export const spectraOf = (recording: Recording, plan: ChannelisePlan | undefined): number =>
  recording.kind === 'voltages' && plan ? spectraIn(recording, plan) : recording.samples;

/** The stretches of [first, end) that a clock's cuts make. */
export function stretchesOf(clock: IntegrationClock, first: number, end: number): SampleRange[] {
  const stretches: SampleRange[] = [];
  for (let at = first; at < end;) {
    const cut = Math.min(clock.cutAfter(at), end);
    stretches.push({ first: at, end: cut });
    at = cut;
  }
  return stretches;
}

/** When a recording's integrations end. */
export const clockOf = (
  settings: IntegrationSettings,
  recording: Recording,
  plan: ChannelisePlan | undefined,
): IntegrationClock =>
  integrationClock(
    settings,
    recording.kind === 'voltages' && plan ? spectrumGrid(recording, plan) : (recording as SpectraRecording),
  );

/** Levels of inputs and channels are undone in whole integrations, by correlate alone. */
export function refuseLevels({ levels, path }: SpectraRecording, fix: string): void {
  if (levels) refuse(path, 'was rounded at levels of its own for each input and channel', fix);
}

/** Integrations, or what of them lies in the box, in the order of `stretchesOf`. */
export async function correlatePart(
  recording: Recording,
  plan: ChannelisePlan | undefined,
  settings: PartSettings,
  box: SpectraBox,
  emit: Emit<Integration>,
): Promise<PartAccount> {
  const { backend, flaggedInputs, delays, stop } = settings;
  const clock = clockOf(settings, recording, plan);
  const channels = box.endChannel - box.firstChannel;
  const flags = flaggedInputs && { flaggedInputs };
  if (recording.kind === 'spectra') {
    refuseLevels(recording, 'correlate it in one piece (corella correlate)');
    const counted = { missingSamples: 0 };
    const source = {
      ...{ ...recording, channels },
      frequenciesHz: recording.frequenciesHz.subarray(box.firstChannel, box.endChannel),
    };
    // Turned by phases, whole numbers are no longer whole.
    const spectra = { ...source, type: delays ? ('cf32' as const) : source.type };
    const stages = await preparing(async (closers) => {
      const { firstSpectrum } = box;
      const asked = { backend, source, clock, firstSpectrum, ...(delays && { delays }) };
      const take = closers.keep(await prepareTakeSpectra(asked));
      const { polarisations } = recording;
      return chain(take, await prepareCorrelate({ backend, spectra, polarisations, grid: source, ...flags }));
    });
    await run(spectraWithin(recording, box, counted), stages, emit, stop && { stop });
    return { ...counted, saturated: 0 };
  }
  if (!plan) throw new Error('voltages need a plan of their channels');
  const grid = spectrumGrid(recording, plan);
  return channelised(
    recording,
    plan,
    { backend, clock, lists: 'sums', ...(delays && { delays }), ...(stop && { stop }) },
    box,
    async (stage, closers) => {
      const isWhole = channels === plan.channels;
      const range = { first: box.firstChannel, end: box.endChannel };
      const select = isWhole ? undefined : closers.keep(prepareSelectChannels(backend, plan.output, range));
      const correlate = await prepareCorrelate({
        ...{ backend, grid, polarisations: recording.polarisations },
        ...{ spectra: { ...plan.output, channels }, ...flags },
      });
      return select ? chain(stage, select, correlate) : chain(stage, correlate);
    },
    emit,
  );
}

/** Spectra as a file gets them: all channels, in the canonical order, each in memory of its own. */
export interface MadeSpectra {
  readonly firstSpectrum: number;
  readonly samples: number;
  readonly spectra: SpectraCAT;
  readonly gaps: readonly SpectraGap[];
}

/** The channeliser alone, over some spectra. */
export function channelisePart(
  recording: VoltageRecording,
  plan: ChannelisePlan,
  { backend, stop }: Pick<PartSettings, 'backend' | 'stop'>,
  box: SpectraBox,
  emit: Emit<MadeSpectra>,
): Promise<PartAccount> {
  return channelised(
    recording,
    plan,
    { backend, clock: oneIntegration, lists: 'gaps', ...(stop && { stop }) },
    box,
    (stage) => stage,
    async ({ block, index }) => {
      const { samples, gaps } = block;
      await emit({ firstSpectrum: index, samples, spectra: await block.read(), gaps });
    },
  );
}

type Closers = Parameters<Parameters<typeof preparing>[0]>[0];
type Channeliser = Awaited<ReturnType<typeof prepareChannelise>>;

interface Channelising {
  readonly backend: Backend;
  readonly clock: IntegrationClock;
  /** What is made of the spectra. */
  readonly lists: 'gaps' | 'sums';
  readonly delays?: RequestedDelays;
  readonly stop?: AbortSignal;
}

/** Voltages from the box's first spectrum on through the channeliser and what follows it. */
export async function channelised<Out>(
  recording: VoltageRecording,
  plan: ChannelisePlan,
  { backend, clock, lists, delays, stop }: Channelising,
  box: SpectraBox,
  followed: (
    channelise: Channeliser,
    closers: Closers,
  ) => Promise<Stage<VoltageBlock, Out>> | Stage<VoltageBlock, Out>,
  emit: Emit<Out>,
): Promise<PartAccount> {
  const { firstSpectrum, endSpectrum } = box;
  const { samplesPerSpectrum: perSpectrum, taps, mostDelaySamples: most = 0 } = plan;
  const own = {
    first: firstSpectrum * perSpectrum,
    // The samples after the last whole spectrum are the last part's.
    end: endSpectrum === spectraIn(recording, plan) ? recording.samples : endSpectrum * perSpectrum,
  };
  // A delayed input's window reaches into samples before: spectra that are dropped bring them in.
  const from = Math.max(0, firstSpectrum - (most > 0 ? Math.ceil((2 * most) / perSpectrum) + 1 : 0));
  // The window of the last spectrum reaches into what is the next part's own.
  const read = { first: from * perSpectrum, end: (endSpectrum + taps - 1) * perSpectrum + most };
  const counted = { missingSamples: 0 };
  const dropped = { saturated: 0 };
  const stages = await preparing(async (closers) => {
    const channelise = closers.keep(
      await prepareChannelise({
        ...{ backend, plan, source: recording, clock: alsoAt(firstSpectrum, clock), firstSpectrum: from },
        ...(delays && { delays: delaysOfPlan(delays, recording, plan) }),
      }),
    );
    return followed(
      from < firstSpectrum ? keptFrom(firstSpectrum, channelise, dropped) : channelise,
      closers,
    );
  });
  const blocks = voltagesWithin(recording, blockSamplesOf(plan, read, lists), read, own, counted);
  const { saturated: all } = await run(blocks, stages, emit, stop && { stop });
  const saturated = all - dropped.saturated;
  // Whoever works on a part of the channels has still made all of them: the first part counts for the others.
  return box.firstChannel === 0 ? { ...counted, saturated } : { missingSamples: 0, saturated: 0 };
}

/** The same clock with one cut more. */
const alsoAt = (cut: number, clock: IntegrationClock): IntegrationClock => ({
  cutAfter: (index) => (index < cut ? Math.min(cut, clock.cutAfter(index)) : clock.cutAfter(index)),
});

/** Without the spectra before the first that is wanted, where a cut falls; what saturated in them is told. */
function keptFrom(first: number, stage: Channeliser, dropped: { saturated: number }): Channeliser {
  const keep =
    (emit: Emit<TimedSpectra>): Emit<TimedSpectra> =>
    async (spectra) => {
      if (spectra.index >= first) await emit(spectra);
      else dropped.saturated = stage.account().saturated ?? 0;
    };
  return {
    ...stage,
    push: (block, emit) => stage.push(block, keep(emit)),
    flush: (emit) => stage.flush(keep(emit)),
  };
}

/**
 * Sums of whole numbers do not know in which blocks they were made: where a part is shorter than a block, no more is read
 * than it needs. Floats do, and so do lists of gaps: there blocks are those of the whole.
 */
function blockSamplesOf(plan: ChannelisePlan, { first, end }: SampleRange, lists: 'gaps' | 'sums'): number {
  if (lists === 'gaps' || plan.outputType === 'cf32') return plan.blockSamples;
  const quarter = Math.ceil((end - first) / 4);
  const least = plan.taps * plan.samplesPerSpectrum + (plan.mostDelaySamples ?? 0);
  return Math.min(plan.blockSamples, Math.max(least, quarter));
}

/** Where a block lies in its recording. */
const placeOf = (start: Instant, block: { readonly start: Instant }, rateHz: number): number =>
  Math.round(secondsBetween(start, block.start) * rateHz);

/** Samples of `read` in the recording's own blocks, cut at both ends; what is missing of `own` is counted. */
async function* voltagesWithin(
  recording: VoltageRecording,
  blockSamples: number,
  read: SampleRange,
  own: SampleRange,
  counted: { missingSamples: number },
): AsyncGenerator<VoltageBlock> {
  const { start, sampleRateHz } = recording;
  const until = Math.max(read.end, own.end);
  for await (const block of recording.blocks(blockSamples, { first: read.first, end: until })) {
    const at = placeOf(start, block, sampleRateHz);
    const mine = cut(own, at, block.samples);
    if (mine) counted.missingSamples += samplesIn(sliceGaps(block.gaps, mine));
    const some = cut(read, at, block.samples);
    if (some) yield sliceBlock(block, some, sampleRateHz);
    else block.release?.();
    if (at + block.samples >= until) return;
  }
}

/** The box of a recording of spectra, in its own blocks. */
export async function* spectraWithin(
  recording: SpectraRecording,
  box: SpectraBox,
  counted: { missingSamples: number },
): AsyncGenerator<CanonicalSpectra> {
  const { start, spectrumRateHz, type, inputs } = recording;
  const channels = { first: box.firstChannel, end: box.endChannel };
  const wanted = { first: box.firstSpectrum, end: box.endSpectrum };
  for await (const block of recording.blocks(spectraPerBlock(recording), wanted)) {
    const at = placeOf(start, block, spectrumRateHz);
    const some = cut(wanted, at, block.samples);
    if (some) {
      const part = sliceSpectra(block, recording, some);
      const row = inputs * part.samples * elementsPerSpectra(type);
      const spectra = spectraCAT(
        part.spectra.subarray(channels.first * row, channels.end * row),
        type,
        channels.end - channels.first,
        inputs,
        part.samples,
      );
      const gaps = gapsWithin(part.gaps, channels);
      counted.missingSamples += channelSamplesIn(gaps);
      yield { ...part, spectra, gaps };
    } else block.release?.();
    if (at + block.samples >= wanted.end) return;
  }
}

/** What of a range lies in a block, counted from the block's first sample. */
function cut({ first, end }: SampleRange, at: number, samples: number): SampleRange | undefined {
  const range = { first: Math.max(first - at, 0), end: Math.min(end - at, samples) };
  return range.end > range.first ? range : undefined;
}

const sliceGaps = <Gap extends { readonly firstSample: number; readonly endSample: number }>(
  gaps: readonly Gap[],
  { first, end }: SampleRange,
): Gap[] =>
  gaps.flatMap((gap) => {
    const firstSample = Math.max(gap.firstSample, first);
    const endSample = Math.min(gap.endSample, end);
    return endSample > firstSample ? [{ ...gap, firstSample, endSample }] : [];
  });
