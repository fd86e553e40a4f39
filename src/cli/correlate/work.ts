/** What a correlation is made of: how a recording becomes channels, how long integrations are, what the file says of it. */
import { phasedAt } from '../../pipeline/phased-at.js';
import type { SpectraType } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import { MOST_INTEGER_SAMPLES } from '../../correlate/index.js';
import { addSeconds } from '../../core/instant.js';
import type { OnProgress } from '../../core/progress.js';
import { formatSeconds } from '../../core/units.js';
import {
  sampleRateOf,
  type Recording,
  type StoredValues,
  type VisibilityHeader,
} from '../../formats/index.js';
import { channelsOf, planChannels, type ChannelSettings } from '../../pipeline/channels.js';
import { phaseLossOf } from '../../pipeline/compose/front.js';
import { bearableIntegrationS, coherenceOf, type Coherence } from '../../pipeline/coherence.js';
import { correlateSpectra, correlateVoltages, type CorrelationSettings } from '../../pipeline/correlate.js';
import { levelHistory, type Level } from '../../pipeline/levels.js';
import type { InputLevels } from '../../pipeline/levels/input-levels.js';
import { RoundingWatch, stretchOf, type Rounded } from '../../pipeline/levels/watch.js';
import {
  integrationClock,
  refuseSharedDates,
  type IntegrationSettings,
} from '../../pipeline/stages/clock.js';
import { leastSpectraOf } from '../../pipeline/stages/kurtosis.js';
import type { Account } from '../../pipeline/stages/stage.js';
import { mostDelaySamples, type RequestedDelays } from '../../pipeline/tracking.js';
import { skyFrame } from '../../sky/frame.js';
import type { PhaseCentre } from '../../sky/phase-centre.js';
import type { Telescope } from '../../telescope/telescope.js';
import type { KurtosisWork } from '../interference/kurtosis-options.js';
import { measuredSettings, type ChannelOptions } from '../options/channel-options.js';
import type { BackendOptions } from '../options/command.js';
import { planFine, refuseFine, type FineOptions } from '../options/fine-option.js';
import { leveled, levelsHistory, type LevelsOptions } from '../options/levels-options.js';
import type { OutputOptions } from '../options/outputs.js';
import { coherenceLines } from '../report/coherence-lines.js';
import { history } from '../report/history.js';

interface WorkOptions extends ChannelOptions, BackendOptions, FineOptions, LevelsOptions, OutputOptions {
  readonly values: StoredValues;
}

/** The correlation of a recording of either kind. */
export interface Work {
  /** How voltages become channels. */
  readonly settings?: ChannelSettings;
  readonly delays?: RequestedDelays;
  /** What is lost of an amplitude where delays are taken out of channels by phases alone. */
  readonly phaseLoss?: number;
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
  readonly type: SpectraType;
  /** Spectra a second. */
  readonly spectrumRateHz: number;
  readonly level?: Level;
  /** By how much the gain before rounding was over the usual: undone in means. */
  readonly overUsual: number;
  /** What rounding met, once the work is done; of what was rounded here. */
  readonly rounded?: () => Rounded | undefined;
  /** Gains of inputs and channels, where they have their own. */
  readonly levels?: InputLevels;
  /** What the history says of them. */
  readonly levelsHistory?: readonly string[];
  run(
    settings: CorrelationSettings & { readonly onProgress: OnProgress; readonly stop: AbortSignal },
    append: (integration: Integration) => Promise<void>,
  ): Promise<Account>;
}

export async function planWork(
  recording: Recording,
  options: WorkOptions,
  delays: RequestedDelays | undefined,
  { asked: { kurtosis } }: KurtosisWork,
): Promise<Work> {
  const asked = delays && { delays };
  if (delays?.towards !== undefined && options.values === 'sums') {
    refuse(
      '--values',
      'sums are whole numbers, and what is tracked is turned back afterwards',
      'take means, or do not track',
    );
  }
  refuseFine(recording, options);
  if (recording.kind === 'spectra' && options.fineChannels !== undefined) {
    if (delays)
      refuse('--fine-channels', 'finer channels are not delayed', 'correlate the channels as they are');
    const { streams, plan, settings, finer, level, overUsual } = await planFine(
      ...([recording, options.fineChannels, options, kurtosis] as const),
    );
    refuseFloatSums(plan.outputType, options);
    const watch = watchOf(plan.outputType);
    const made = { values: options.values, look: watch?.look };
    const { frequenciesHz, channelWidthHz } = finer.channels;
    return {
      ...{ frequenciesHz, channelWidthHz, type: plan.outputType, settings },
      spectrumRateHz: streams.sampleRateHz / plan.samplesPerSpectrum,
      ...{ overUsual, ...(level && { level }), ...watch?.work },
      run: (settings, append) =>
        correlateVoltages(streams, plan, { ...settings, ...made, gain: { overUsual }, finer }, append),
    };
  }
  if (recording.kind === 'spectra') {
    const { frequenciesHz, channelWidthHz, levels, overUsual = 1 } = recording;
    if (levels && options.values === 'sums') refuseLeveledSums(recording.path);
    refuseFloatSums(delays ? 'cf32' : recording.type, options);
    return {
      ...{ ...asked, overUsual, phaseLoss: phaseLossOf({ source: recording, delays }) },
      frequenciesHz,
      channelWidthHz,
      ...{ type: recording.type, spectrumRateHz: recording.spectrumRateHz },
      run: (settings, append) => correlateSpectra(recording, { ...settings, values: options.values }, append),
    };
  }
  const own = await leveled(options, recording);
  if (own && options.values === 'sums' && options.levels === 'measured' && options.levelsOut === undefined)
    refuseLeveledSums('--levels');
  const measured = own ? { ...own.settings, level: undefined } : await measuredSettings(options, recording);
  const { level, ...channels } = measured;
  const plan = planChannels(recording, {
    ...channels,
    ...leastSpectraOf(kurtosis, { ...recording, channels: channels.channels }),
    ...(delays && { mostDelaySamples: mostDelaySamples(delays) }),
  });
  refuseFloatSums(plan.outputType, options);
  const overUsual = level?.overUsual ?? 1;
  const watch = watchOf(plan.outputType);
  const made = {
    gain: { overUsual, levels: own?.levels },
    ...{ values: options.values, look: watch?.look },
  };
  const fate = options.values === 'means' ? 'undone in the means' : 'not undone';
  return {
    ...asked,
    ...channelsOf(recording, plan),
    ...{ type: plan.outputType, spectrumRateHz: recording.sampleRateHz / plan.samplesPerSpectrum },
    ...{ overUsual, ...(level && { level }), ...watch?.work },
    ...(own && { levels: own.levels, levelsHistory: levelsHistory(own.levels, options, fate) }),
    settings: channels,
    run: (settings, append) => correlateVoltages(recording, plan, { ...settings, ...made }, append),
  };
}

interface Watched {
  readonly look: (integration: Integration) => void;
  readonly work: Pick<Work, 'rounded'>;
}

/** Floats are not rounded. */
function watchOf(type: SpectraType): Watched | undefined {
  if (type === 'cf32') return undefined;
  const watch = new RoundingWatch(type);
  return {
    look: (integration) => {
      watch.add(stretchOf(integration));
    },
    work: { rounded: () => watch.found() },
  };
}

const refuseLeveledSums = (where: string): never =>
  refuse(
    where,
    'whole sums stay as they were summed, and nobody could undo levels of inputs and channels',
    'take means, or keep the levels of voltages with --levels-out',
  );

/** The most that a real or imaginary part of a sum may come to: every sample at full scale, x·conj(y) = 2·full². */
export function largestSum(
  { type, spectrumRateHz }: Pick<Work, 'type' | 'spectrumRateHz'>,
  recording: Pick<Recording, 'samples'>,
  longestS: number,
): number {
  const full = type === 'ci4' ? 7 : 127;
  // Said before days of work, not by the correlator after them.
  if (type !== 'cf32' && Math.floor(longestS * spectrumRateHz) > MOST_INTEGER_SAMPLES)
    refuse(
      '--integration',
      `${formatSeconds(longestS)} are more samples than whole sums can hold`,
      `give at most ${formatSeconds(Math.floor(MOST_INTEGER_SAMPLES / spectrumRateHz))}`,
    );
  return 2 * full ** 2 * Math.min(recording.samples, Math.ceil(longestS * spectrumRateHz) + 1);
}

/** Floats have no whole sums: refused before the work, not at its end. */
function refuseFloatSums(type: SpectraType, { values }: WorkOptions): void {
  if (values === 'sums' && type === 'cf32')
    refuse('--values', 'sums are whole numbers, and these channels are floats', 'take means, or --bits 8');
}

export function headerOf(
  recording: Recording,
  telescope: Telescope,
  { frequenciesHz, channelWidthHz, delays, level, levelsHistory: ofLevels = [] }: Work,
  centre: PhaseCentre | undefined,
  more: readonly string[],
): VisibilityHeader {
  const middle = addSeconds(recording.start, recording.samples / sampleRateOf(recording) / 2);
  const zenith = { phaseCentre: skyFrame(telescope.site, middle).zenith, object: 'zenith' };
  return {
    telescope,
    polarisations: recording.polarisations,
    frequenciesHz,
    channelWidthHz,
    ...(centre ? phasedAt(centre, telescope.site, middle) : zenith),
    feedFrame: 'feeds',
    history: [
      ...history({ from: recording, telescope }),
      ...(delays?.towards === undefined
        ? []
        : [`tracked: ${delays.towards}, turned back at the middle of each integration`]),
      ...levelHistory(level),
      ...ofLevels,
      ...more,
    ],
  };
}

/** How long integrations are, and what that costs. */
/** Of an integration's length: told above it. */
const NOTABLE_ROUNDING = 0.01;

export function integrationFor(
  recording: Recording,
  telescope: Telescope,
  { frequenciesHz, channelWidthHz, delays, spectrumRateHz }: Work,
  options: { readonly integration?: number; readonly align: NonNullable<IntegrationSettings['align']> },
): {
  readonly chosenS?: number;
  readonly longestS: number;
  readonly coherence: Coherence;
  readonly lines: string[];
} {
  const coherence = coherenceOf(telescope, frequenciesHz, channelWidthHz);
  const lastsS = recording.samples / sampleRateOf(recording);
  const isTracked = delays?.towards !== undefined;
  // What is tracked stands still; around it the sky turns on, more slowly the nearer it is.
  const bearableS = Math.max(bearableIntegrationS(coherence), isTracked ? TRACKED_INTEGRATION_S : 0);
  const shortened = options.integration === undefined && bearableS < lastsS;
  const chosenS = options.integration ?? (shortened ? bearableS : undefined);
  // Integrations hold whole spectra.
  const wholeS =
    chosenS === undefined ? lastsS : Math.max(1, Math.round(chosenS * spectrumRateHz)) / spectrumRateHz;
  const longestS = Math.min(wholeS, lastsS);
  const grid = { start: recording.start, spectrumRateHz };
  const clock = integrationClock(
    { ...(chosenS !== undefined && { integrationS: chosenS }), align: options.align },
    grid,
  );
  refuseSharedDates(clock, grid, Math.floor(lastsS * spectrumRateHz));
  return {
    ...(chosenS !== undefined && { chosenS }),
    longestS,
    coherence,
    lines: [
      ...(shortened
        ? [
            `integrations of ${formatSeconds(bearableS)}, which this array bears; --integration says otherwise`,
          ]
        : []),
      ...(options.integration !== undefined && Math.abs(wholeS / options.integration - 1) > NOTABLE_ROUNDING
        ? [
            `integrations of ${formatSeconds(wholeS)}: whole spectra, the nearest to ${formatSeconds(options.integration)}`,
          ]
        : []),
      ...(isTracked
        ? []
        : coherenceLines(coherence, longestS, {
            channel: '--track SOURCE saves it, and so do narrower --channels',
            time: `--track SOURCE saves it, and so does --integration ${formatSeconds(bearableIntegrationS(coherence))}`,
          })),
    ],
  };
}

/** Where something is tracked and nobody says otherwise. */
const TRACKED_INTEGRATION_S = 10;
