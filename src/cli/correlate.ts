/** corella correlate: recorded voltages, or already channelised data, to visibilities. */
import type { Command } from 'commander';
import type { SpectraType } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { addSeconds } from '../core/instant.js';
import type { OnProgress } from '../core/progress.js';
import { formatHz, formatSeconds } from '../core/units.js';
import {
  openFile,
  type Recording,
  sampleRateOf,
  type StoredValues,
  visibilityFormatFor,
  type VisibilityHeader,
} from '../formats/index.js';
import { channelsOf, planChannels, type ChannelSettings } from '../pipeline/channels.js';
import { correlateSpectra, correlateVoltages, type CorrelationSettings } from '../pipeline/correlate.js';
import { atUsualGain, type Level } from '../pipeline/levels.js';
import type { Account, Emit } from '../pipeline/stages/stage.js';
import { writtenAsFar } from '../pipeline/write.js';
import { skyFrame } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import { refuse } from '../core/errors.js';
import { NO_TELESCOPE, refuseUnplaced } from '../telescope/unplaced.js';
import {
  addChannelOptions,
  channelOptionNames,
  measuredSettings,
  type ChannelOptions,
} from './options/channel-options.js';
import { addBackendOptions, addExamples, refuseGiven, type BackendOptions } from './options/command.js';
import { addEopOption } from './options/eop-option.js';
import {
  addCorrelatePartOptions,
  correlatePart,
  stretchOf,
  type CorrelatePartOptions,
} from './options/correlate-part.js';
import { history } from './report/history.js';
import { addOpenOptions, openOptions, type OpenFlags } from './options/open-options.js';
import { refuseUnknown, telescopeFor, withBackend } from './open.js';
import { leftoverLines } from './options/leftover-lines.js';
import { addOverwriteOption, checkOutputs, parseOutput, type OutputOptions } from './options/outputs.js';
import { duration } from './options/quantity.js';
import { levelFacts, levelLines } from './report/level-lines.js';
import { lossFacts, lossLines, railLines } from './report/loss-lines.js';
import { coherenceFacts, coherenceLines } from './report/coherence-lines.js';
import { openTerminal, spectraText } from './report/terminal.js';
import { bearableIntegrationS, coherenceOf, type Coherence } from '../pipeline/coherence.js';
import { mostDelaySamples, type RequestedDelays } from '../pipeline/tracking.js';
import type { PhaseCentre } from '../sky/phase-centre.js';
import {
  addPhaseCentreOption,
  centreOf,
  parseCentre,
  type PhaseCentreOptions,
} from './options/phase-centre-option.js';
import { kurtosisFacts, kurtosisHistory, kurtosisLines } from './interference/kurtosis-lines.js';
import {
  addKurtosisOptions,
  kurtosisWork,
  type KurtosisOptions,
  type KurtosisWork,
} from './interference/kurtosis-options.js';
import { vanVleckWork } from './interference/van-vleck-lines.js';
import { leastSpectraOf } from '../pipeline/stages/kurtosis.js';
import { addTrackOptions, delayRequest, requestedFor, type TrackOptions } from './options/track-options.js';

export interface CorrelateOptions
  extends
    BackendOptions,
    ChannelOptions,
    CorrelatePartOptions,
    KurtosisOptions,
    OpenFlags,
    OutputOptions,
    TrackOptions,
    PhaseCentreOptions {
  readonly out: string;
  readonly integration?: number;
  readonly align: Align;
  readonly values: StoredValues;
  readonly vanVleck?: true;
}

export function registerCorrelate(program: Command): void {
  addCorrelateOptions(program.command('correlate')).action(run);
}

/** What correlate takes, wherever it is done. */
export function addCorrelateOptions(command: Command): Command {
  command
    .description('recorded voltages, or already channelised data → visibilities')
    .argument('<recording>', 'voltages or channelised data in any format we read')
    .option(
      '-o, --out <path>',
      'visibilities to write; the extension chooses the format',
      parseOutput,
      'visibilities.uvfits',
    )
    .option(
      '--integration <time>',
      'length of each integration, like 40ms (default: what the array bears: 99 % of the amplitude is kept)',
      duration('--integration'),
    )
    .option(
      '--align <clock>',
      "first-sample: integrations are counted from the recording's own start; utc: they end on UTC's boundaries",
      parseAlign,
      'first-sample',
    )
    .option(
      '--values <kind>',
      'means, or sums: whole numbers bit for bit as they were summed, fringes running (.uvh5 alone)',
      parseValues,
      'means',
    )
    .option(
      '--van-vleck',
      'take back what rounding to 8 or 4 bits does to powers and correlations of noise (told in the history)',
    );
  addTrackOptions(command);
  addPhaseCentreOption(command, 'the tracked place, else the zenith');
  addCorrelatePartOptions(command);
  addKurtosisOptions(command);
  addOverwriteOption(command);
  addChannelOptions(command);
  addOpenOptions(command, 'recordings');
  addBackendOptions(command);
  addEopOption(command);
  return addExamples(command, [
    ['correlate voltages.sigmf-meta -o visibilities.uvfits', 'channelise and correlate, one integration'],
    [
      'correlate voltages.sigmf-meta --channels 128 --taps 16 --integration 40ms',
      'finer channels, an integration every 40 ms',
    ],
    ['correlate voltages.sigmf-meta --flag stand17,stand41:Y', 'without a dead station and a dead dipole'],
    [
      'correlate voltages.sigmf-meta --channels 128 --keep-channels 8-119 --flag channels=40-42',
      'without the edges of the band, and a transmitter flagged',
    ],
    [
      'correlate voltages.sigmf-meta --integration 1s --align utc',
      'on whole seconds of UTC, whenever the recording began',
    ],
    [
      'correlate dishes.sigmf-meta --track CygA --integration 1s',
      'eight dishes over kilometres: delays and fringes follow the source',
    ],
    ['correlate voltages.sigmf-meta --delays cables.json', 'cables of known lengths taken out'],
    [
      'correlate voltages.sigmf-meta --kurtosis',
      'without interference, as far as it is no noise (docs/interference.md)',
    ],
    ['correlate channels.sigmf-meta', 'data that are channelised already'],
    [
      'correlate bench.vdif --rate 4MHz --frequency 1.4GHz --telescope none',
      'of a laboratory, or of one dish: nobody says where the inputs stand',
    ],
    ['correlate voltages.sigmf-meta --values sums -o sums.uvh5', 'exact integers'],
  ]);
}

async function run(path: string, options: CorrelateOptions, command: Command): Promise<void> {
  const terminal = openTerminal(options);
  // Refused before hours of work, not after.
  const format = visibilityFormatFor(options.out);
  const opened = await openFile(path, await openOptions(options));
  try {
    await checkOutputs({ ...options, paths: [options.out], from: path });
    for (const line of await leftoverLines(options.out)) terminal.say(line);
    if (opened.kind === 'visibilities') refuse(path, 'holds visibilities already', 'calibrate or image it');
    refuseUnknown(opened);
    const recording = stretchOf(opened, options);
    if (recording.kind === 'spectra')
      refuseGiven(command, channelOptionNames, `is for voltages, and ${path} is channelised already`);
    const telescope = await telescopeFor(recording, options);
    if (options.track !== undefined)
      refuseUnplaced('--track', telescope, 'there is nothing to follow a source by');
    const stage = terminal.stage('correlate');
    const request = await delayRequest(options, telescope);
    const kurtosis = kurtosisWork(options);
    const vanVleck = vanVleckWork(options);
    const work = await planWork(recording, options, requestedFor(recording, telescope, request), kurtosis);
    const centre = parseCentre(options) ?? request.centre;
    const more = [...kurtosisHistory(kurtosis), ...vanVleck.history];
    const part = await correlatePart(headerOf(recording, telescope, work, centre, more), options);
    const { header } = part;
    const integrationS = integrationFor(recording, telescope, work, options);
    const { account, backendText } = await withBackend(options, async (backend) => {
      const settings = {
        backend,
        flaggedInputs: part.flaggedInputs,
        ...(integrationS.chosenS === undefined ? {} : { integrationS: integrationS.chosenS }),
        ...(work.delays && { delays: work.delays }),
        ...kurtosis.asked,
        ...vanVleck.asked,
        align: options.align,
        onProgress: stage.update,
      };
      const counted = await writtenAsFar(
        { path: options.out, unit: 'integration' },
        () =>
          format.createVisibilities(options.out, header, {
            values: options.values,
            largestSum: largestSum(work, recording, integrationS.longestS),
          }),
        (append, stop) => work.run({ ...settings, stop }, (one) => append(part.through(one))),
      );
      return { account: counted, backendText: `${backend.kind}: ${backend.description}` };
    });
    const { integrations, spectra, saturated, samplesIn, missingSamples } = account;
    const seconds = stage.done(backendText);
    const channelCount = header.frequenciesHz.length;
    terminal.result(
      {
        path: options.out,
        integrations,
        stations: telescope.stations.length,
        polarisations: recording.polarisations,
        channels: channelCount,
        channelWidthHz: work.channelWidthHz,
        samplesIn,
        spectra,
        saturated,
        ...levelFacts(work.level),
        ...lossFacts(recording, missingSamples),
        ...kurtosisFacts(kurtosis, work.spectrumRateHz),
        ...vanVleck.facts(),
        integrationS: integrationS.longestS,
        ...(work.delays?.towards === undefined
          ? coherenceFacts(integrationS.coherence, integrationS.longestS)
          : { tracked: { towards: work.delays.towards } }),
        phaseCentre: { object: header.object, ...header.phaseCentre },
        seconds,
      },
      [
        `${options.out}: ${integrations} integration${integrations === 1 ? '' : 's'} of ${telescope.stations.length} station${telescope.stations.length === 1 ? '' : 's'}, ` +
          `${channelCount} channels of ${formatHz(work.channelWidthHz)}, from ${spectraText(spectra)}, ${formatSeconds(seconds)}`,
        ...(options.telescope === NO_TELESCOPE
          ? ['nobody says where the stations stand: all are written at one place, and cannot be imaged']
          : []),
        ...integrationS.lines,
        ...levelLines(work.level),
        ...railLines(saturated, 2 * spectra * work.frequenciesHz.length * recording.inputs),
        ...lossLines(recording, missingSamples, 'the counts say where'),
        ...kurtosisLines(kurtosis, work.spectrumRateHz),
        ...vanVleck.lines(),
      ],
    );
  } finally {
    await opened.close();
  }
}

type Align = NonNullable<CorrelationSettings['align']>;

export function parseAlign(text: string): Align {
  return text === 'first-sample' || text === 'utc'
    ? text
    : refuse('--align', `'${text}' is no clock`, 'choose first-sample or utc');
}

export function parseValues(text: string): StoredValues {
  return text === 'means' || text === 'sums'
    ? text
    : refuse('--values', `'${text}' is not a kind of values`, 'choose means or sums');
}

/** The correlation of a recording of either kind. */
export interface Work {
  /** How voltages become channels. */
  readonly settings?: ChannelSettings;
  readonly delays?: RequestedDelays;
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
  readonly type: SpectraType;
  /** Spectra a second. */
  readonly spectrumRateHz: number;
  readonly level?: Level;
  run(
    settings: CorrelationSettings & { readonly onProgress: OnProgress; readonly stop: AbortSignal },
    append: (integration: Integration) => Promise<void>,
  ): Promise<Account>;
}

export async function planWork(
  recording: Recording,
  options: CorrelateOptions,
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
  if (recording.kind === 'spectra') {
    const { frequenciesHz, channelWidthHz } = recording;
    refuseFloatSums(delays ? 'cf32' : recording.type, options);
    return {
      ...asked,
      frequenciesHz,
      channelWidthHz,
      ...{ type: recording.type, spectrumRateHz: recording.spectrumRateHz },
      run: (settings, append) => correlateSpectra(recording, settings, append),
    };
  }
  const channels = await measuredSettings(options, recording);
  const plan = planChannels(recording, {
    ...channels,
    ...leastSpectraOf(kurtosis, { ...recording, channels: channels.channels }),
    ...(delays && { mostDelaySamples: mostDelaySamples(delays) }),
  });
  refuseFloatSums(plan.outputType, options);
  const { level } = channels;
  // Whole sums stay as they were summed.
  const inUsualUnit = (append: Emit<Integration>): Emit<Integration> =>
    level && options.values === 'means' ? (one) => append(atUsualGain(one, level)) : append;
  return {
    ...asked,
    ...channelsOf(recording, plan),
    ...{ type: plan.outputType, spectrumRateHz: recording.sampleRateHz / plan.samplesPerSpectrum },
    ...(level && { level }),
    settings: channels,
    run: (settings, append) => correlateVoltages(recording, plan, settings, inUsualUnit(append)),
  };
}

/** The most that a real or imaginary part of a sum may come to: every sample at full scale, x·conj(y) = 2·full². */
function largestSum({ type, spectrumRateHz }: Work, recording: Recording, longestS: number): number {
  const full = type === 'ci4' ? 7 : 127;
  return 2 * full ** 2 * Math.min(recording.samples, Math.ceil(longestS * spectrumRateHz) + 1);
}

/** Floats have no whole sums: refused before the work, not at its end. */
function refuseFloatSums(type: SpectraType, { values }: CorrelateOptions): void {
  if (values === 'sums' && type === 'cf32')
    refuse('--values', 'sums are whole numbers, and these channels are floats', 'take means, or --bits 8');
}

export function headerOf(
  recording: Recording,
  telescope: Telescope,
  { frequenciesHz, channelWidthHz, delays, level }: Work,
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
    ...(centre ? centreOf(centre, telescope.site, middle) : zenith),
    history: [
      ...history({ from: recording, telescope }),
      ...(delays?.towards === undefined
        ? []
        : [`tracked: ${delays.towards}, turned back at the middle of each integration`]),
      ...(level?.follows === 'measured'
        ? [`gain before rounding: ${level.gain}, by the first samples' level`]
        : []),
      ...more,
    ],
  };
}

/** How long integrations are, and what that costs. */
export function integrationFor(
  recording: Recording,
  telescope: Telescope,
  { frequenciesHz, channelWidthHz, delays }: Work,
  options: CorrelateOptions,
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
  const longestS = Math.min(chosenS ?? lastsS, lastsS);
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
