/**
 * A range of a recording as a source: some of its spectra, some of its channels. Spectra are numbered from the first of
 * the whole recording, and blocks are cut where those of the whole are cut. So the products of a range equal those of
 * the whole there: sums of integers are the same bits wherever the recording was cut, floats are the same where no
 * integration was cut.
 */
import type { ChannelisePlan } from '../channelise/index.js';
import { elementsPerSpectra, spectraCAT } from '../core/axes.js';
import type { CanonicalSpectra, VoltageBlock } from '../core/blocks.js';
import { channelSamplesIn, samplesIn } from '../core/gaps.js';
import { secondsBetween, type Instant } from '../core/instant.js';
import type { KnownLength, SampleRange, SpectraSource, VoltageSource } from '../core/sources.js';
import { refuse, wholeNumber } from '../core/errors.js';
import {
  spectraIn,
  sliceBlock,
  sliceSpectra,
  type IntegrationClock,
  gapsWithin,
  movedGaps,
  type TimedSpectra,
  type Emit,
  type Stage,
} from '../stages/index.js';

/** Spectra by their number in the recording, and channels. */
export interface SpectraRange {
  readonly firstSpectrum: number;
  readonly endSpectrum: number;
  readonly firstChannel: number;
  readonly endChannel: number;
}

/** A range that is not inside the recording is refused before planning. */
export function checkRange(
  range: SpectraRange,
  whole: { readonly spectra: number; readonly channels: number },
  where: string,
): void {
  const { firstSpectrum, endSpectrum, firstChannel, endChannel } = range;
  wholeNumber(where, 'the first spectrum', firstSpectrum, 0, whole.spectra);
  wholeNumber(where, 'the end of the spectra', endSpectrum, 0, whole.spectra);
  wholeNumber(where, 'the first channel', firstChannel, 0, whole.channels);
  wholeNumber(where, 'the end of the channels', endChannel, 0, whole.channels);
  if (endSpectrum <= firstSpectrum || endChannel <= firstChannel)
    refuse(
      where,
      `spectra ${firstSpectrum} to ${endSpectrum} of channels ${firstChannel} to ${endChannel} are none`,
      'give an end behind the first',
    );
}

/** What was missing in a range, counted as it is read. */
export interface Counted {
  missingSamples: number;
}

/** The samples that make the spectra of a range. */
interface RangeOfVoltages {
  /**
   * The first spectrum that is made; those before the range's first supply what delayed inputs need, and are dropped.
   */
  readonly firstMade: number;
  /** What is read. */
  readonly read: SampleRange;
  /** What is counted: over all ranges of a recording each sample once. */
  readonly own: SampleRange;
}

/** `used`: the spectra needed for those of the range, where a stage after the channeliser needs their neighbours. */
export function voltagesOfRange(
  source: KnownLength,
  plan: ChannelisePlan,
  { firstSpectrum, endSpectrum }: SpectraRange,
  used: SampleRange = { first: firstSpectrum, end: endSpectrum },
): RangeOfVoltages {
  const { samplesPerSpectrum: perSpectrum, taps, mostDelaySamples: most = 0 } = plan;
  const before = most > 0 ? Math.ceil((2 * most) / perSpectrum) + 1 : 0;
  const firstMade = Math.max(0, used.first - before);
  return {
    firstMade,
    // The window of the last spectrum reaches into the samples of the next range.
    read: { first: firstMade * perSpectrum, end: (used.end + taps - 1) * perSpectrum + most },
    own: {
      first: firstSpectrum * perSpectrum,
      // The samples after the last whole spectrum belong to the last range.
      end: endSpectrum === spectraIn(source, plan) ? source.samples : endSpectrum * perSpectrum,
    },
  };
}

/** Sums of integers do not depend on blocks: for a range shorter than a block, only what it needs is read. */
export function shortBlockSamples(plan: ChannelisePlan, { first, end }: SampleRange): number {
  const least = plan.taps * plan.samplesPerSpectrum + (plan.mostDelaySamples ?? 0);
  return Math.min(plan.blockSamples, Math.max(least, Math.ceil((end - first) / 4)));
}

/** The same clock with one cut more. */
export const alsoAt = (cut: number, clock: IntegrationClock): IntegrationClock => ({
  cutAfter: (index) => (index < cut ? Math.min(cut, clock.cutAfter(index)) : clock.cutAfter(index)),
});

/** The range widened to whole blocks of so many spectra, within the source. */
export const widened = (
  { firstSpectrum, endSpectrum }: SpectraRange,
  blockSpectra: number,
  spectra: number,
): SampleRange => ({
  first: Math.floor(firstSpectrum / blockSpectra) * blockSpectra,
  end: Math.min(spectra, Math.ceil(endSpectrum / blockSpectra) * blockSpectra),
});

/**
 * Drops the spectra before those that are used; a cut must be there. Saturation in a block is counted by the range in
 * which the block begins: the neighbour makes the same block.
 */
export function keptFrom<In>(
  { used, own }: { readonly used: SampleRange; readonly own: SampleRange },
  stage: Stage<In, TimedSpectra>,
): Stage<In, TimedSpectra> {
  let [before, dropped] = [0, 0];
  const keep =
    (emit: Emit<TimedSpectra>): Emit<TimedSpectra> =>
    async (spectra) => {
      const saturated = stage.account().saturated ?? 0;
      if (spectra.index < own.first || spectra.index >= own.end) dropped += saturated - before;
      before = saturated;
      if (spectra.index >= used.first) await emit(spectra);
    };
  return {
    ...stage,
    push: (block, emit) => stage.push(block, keep(emit)),
    flush: (emit) => stage.flush(keep(emit)),
    account: () => {
      const account = stage.account();
      return { ...account, saturated: (account.saturated ?? 0) - dropped };
    },
  };
}

const placeOf = (start: Instant, block: { readonly start: Instant }, rateHz: number): number =>
  Math.round(secondsBetween(start, block.start) * rateHz);

/** Samples of `read` in the recording's own blocks, cut at both ends; missing samples of `own` are counted. */
export async function* voltagesWithin(
  source: VoltageSource,
  blockSamples: number,
  { read, own }: Pick<RangeOfVoltages, 'read' | 'own'>,
  counted: Counted,
): AsyncGenerator<VoltageBlock> {
  const { start, sampleRateHz } = source;
  const until = Math.max(read.end, own.end);
  for await (const block of source.blocks(blockSamples, { first: read.first, end: until })) {
    const at = placeOf(start, block, sampleRateHz);
    const mine = cut(own, at, block.samples);
    if (mine) counted.missingSamples += samplesIn(movedGaps(block.gaps, mine, 0));
    const some = cut(read, at, block.samples);
    if (some) yield sliceBlock(block, some, sampleRateHz);
    else block.release?.();
    if (at + block.samples >= until) return;
  }
}

/** The range of a recording of spectra, in its own blocks; missing samples of `own` are counted. */
export async function* spectraWithin(
  source: SpectraSource,
  blockSpectra: number,
  range: SpectraRange,
  counted: Counted,
  own: SampleRange = { first: range.firstSpectrum, end: range.endSpectrum },
): AsyncGenerator<CanonicalSpectra> {
  const { start, spectrumRateHz, type, inputs } = source;
  const channels = { first: range.firstChannel, end: range.endChannel };
  const wanted = { first: range.firstSpectrum, end: range.endSpectrum };
  for await (const block of source.blocks(blockSpectra, wanted)) {
    const at = placeOf(start, block, spectrumRateHz);
    const some = cut(wanted, at, block.samples);
    if (some) {
      const part = sliceSpectra(block, source, some);
      const row = inputs * part.samples * elementsPerSpectra(type);
      const spectra = spectraCAT(
        part.spectra.subarray(channels.first * row, channels.end * row),
        type,
        channels.end - channels.first,
        inputs,
        part.samples,
      );
      const gaps = gapsWithin(part.gaps, channels);
      const from = at + some.first;
      const mine = cut(own, from, part.samples);
      if (mine) counted.missingSamples += channelSamplesIn(movedGaps(gaps, mine, 0));
      yield { ...part, spectra, gaps };
    } else block.release?.();
    if (at + block.samples >= wanted.end) return;
  }
}

/** The part of a range in a block, counted from the block's first sample. */
function cut({ first, end }: SampleRange, at: number, samples: number): SampleRange | undefined {
  const range = { first: Math.max(first - at, 0), end: Math.min(end - at, samples) };
  return range.end > range.first ? range : undefined;
}
