/** corella correlate: recorded voltages, or already channelised data, to visibilities. */
import type { Command } from 'commander';
import { formatHz, formatSeconds } from '../core/units.js';
import { openFile, type StoredValues, visibilityFormatFor } from '../formats/index.js';
import { type CorrelationSettings } from '../pipeline/correlate.js';
import { phaseLossLines } from '../pipeline/phase-loss.js';
import { writtenAsFar } from '../pipeline/write.js';
import { refuse } from '../core/errors.js';
import { NO_TELESCOPE, refuseUnplaced } from '../telescope/unplaced.js';
import { addChannelOptions, channelOptionNames, type ChannelOptions } from './options/channel-options.js';
import {
  addBackendOptions,
  addCardsOption,
  addExamples,
  refuseGiven,
  type CardsOptions,
} from './options/command.js';
import { addEopOption } from './options/eop-option.js';
import {
  addFloatTapsOption,
  floatTapsLines,
  withFloatTaps,
  type FloatTapsOptions,
} from './options/float-taps-option.js';
import { addFineOption, mirrorLines, type FineOptions } from './options/fine-option.js';
import { addLevelsOptions, levelsFacts, levelsLines, type LevelsOptions } from './options/levels-options.js';
import {
  addCorrelatePartOptions,
  correlatePart,
  stretchOf,
  type CorrelatePartOptions,
} from './options/correlate-part.js';
import { addOpenOptions, openOptions, type OpenFlags } from './options/open-options.js';
import { refuseUnknown, telescopeFor, withCards } from './open.js';
import { leftoverLines } from './options/leftover-lines.js';
import { addOverwriteOption, checkOutputs, parseOutput, type OutputOptions } from './options/outputs.js';
import { duration } from './options/quantity.js';
import { askedLines } from './report/flag-lines.js';
import { levelFacts, levelLines, roundedFacts, roundedLines } from './report/level-lines.js';
import { lossFacts, lossLines, railLines } from './report/loss-lines.js';
import { coherenceFacts } from './report/coherence-lines.js';
import { tellingBand } from './report/band-lines.js';
import { openTerminal, spectraText } from './report/terminal.js';
import { addPhaseCentreOption, parseCentre, type PhaseCentreOptions } from './options/phase-centre-option.js';
import { kurtosisFacts, kurtosisHistory, kurtosisLines } from './interference/kurtosis-lines.js';
import { addKurtosisOptions, kurtosisWork, type KurtosisOptions } from './interference/kurtosis-options.js';
import { addVanVleckOption, vanVleckWork, type VanVleckOptions } from './interference/van-vleck-lines.js';
import { headerOf, integrationFor, largestSum, planWork } from './correlate/work.js';
import { addTrackOptions, delayRequest, requestedFor, type TrackOptions } from './options/track-options.js';

export interface CorrelateOptions
  extends
    CardsOptions,
    ChannelOptions,
    CorrelatePartOptions,
    FineOptions,
    FloatTapsOptions,
    KurtosisOptions,
    LevelsOptions,
    OpenFlags,
    OutputOptions,
    TrackOptions,
    VanVleckOptions,
    PhaseCentreOptions {
  readonly out: string;
  readonly integration?: number;
  readonly align: Align;
  readonly values: StoredValues;
}

export function registerCorrelate(program: Command): void {
  addLevelsOptions(
    addFineOption(addFloatTapsOption(addCorrelateOptions(program.command('correlate')))),
  ).action(run);
}

/** What correlate takes, wherever it is done. */
export function addCorrelateOptions(command: Command): Command {
  command
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
    );
  addVanVleckOption(command);
  addTrackOptions(command);
  addPhaseCentreOption(command, 'the tracked place, else the zenith');
  addCorrelatePartOptions(command);
  addKurtosisOptions(command);
  addOverwriteOption(command);
  addChannelOptions(command);
  addOpenOptions(command, 'recordings');
  addCardsOption(addBackendOptions(command));
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
    ['correlate channels.sigmf-meta --fine-channels 16', 'the same, each channel made into sixteen'],
    ['correlate voltages.sigmf-meta --bits 4 --levels measured', 'four bits of a band that slopes'],
    ['correlate voltages.sigmf-meta --backend cuda --cards 0,1', 'half of the channels on each of two cards'],
    [
      'correlate bench.vdif --rate 4MHz --frequency 1.4GHz --telescope none',
      'of a laboratory, or of one dish: nobody says where the inputs stand',
    ],
    ['correlate voltages.sigmf-meta --values sums -o sums.uvh5', 'exact integers'],
  ]);
}

async function run(path: string, options: CorrelateOptions, command: Command): Promise<void> {
  const screen = openTerminal(options);
  // Refused before hours of work, not after.
  const format = visibilityFormatFor(options.out);
  const opened = await openFile(path, await openOptions(options));
  try {
    await checkOutputs({ ...options, paths: [options.out], from: path });
    for (const line of await leftoverLines(options.out)) screen.say(line);
    if (opened.kind === 'visibilities') refuse(path, 'holds visibilities already', 'calibrate or image it');
    refuseUnknown(opened);
    const recording = withFloatTaps(stretchOf(opened, options), options);
    if (recording.kind === 'spectra')
      refuseGiven(
        command,
        options.fineChannels === undefined
          ? [...channelOptionNames, 'levels', 'levelsOut']
          : ['channels', 'levels', 'levelsOut'],
        `is for voltages, and ${path} is channelised already; --fine-channels channelises it further`,
      );
    const telescope = await telescopeFor(recording, options);
    const terminal = tellingBand(screen, telescope, recording);
    if (options.track !== undefined)
      refuseUnplaced('--track', telescope, 'there is nothing to follow a source by');
    const stage = terminal.stage('correlate');
    const request = await delayRequest(options, telescope);
    const kurtosis = kurtosisWork(options);
    const vanVleck = vanVleckWork(options);
    const work = await planWork(recording, options, requestedFor(recording, telescope, request), kurtosis);
    const centre = parseCentre(options) ?? request.centre;
    const more = [
      ...kurtosisHistory(kurtosis),
      ...vanVleck.history(recording.bits),
      ...phaseLossLines(work.phaseLoss),
    ];
    const part = await correlatePart(headerOf(recording, telescope, work, centre, more), options);
    const { header } = part;
    const integrationS = integrationFor(recording, telescope, work, options);
    const { account, backendText } = await withCards(options, async (backends) => {
      const [backend] = backends;
      const settings = {
        backend,
        flaggedInputs: part.flaggedInputs,
        flags: part.flags,
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
        (append, stop) => work.run({ ...settings, backends, stop }, append),
      );
      const on = backends.map((one) => one.description).join(' and ');
      return { account: counted, backendText: `${backend.kind}: ${on}` };
    });
    const { integrations, spectra, saturated, samplesIn, missingSamples } = account;
    const seconds = stage.done(backendText);
    const rounded = work.rounded?.();
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
        ...levelsFacts(work.levels),
        ...roundedFacts(rounded),
        ...lossFacts(recording, missingSamples),
        ...(part.asked.rules > 0 && { flags: { values: part.asked.values, asked: part.asked.ruled } }),
        ...kurtosisFacts(kurtosis, work.spectrumRateHz),
        ...vanVleck.facts(),
        ...(work.phaseLoss !== undefined && { phaseLoss: work.phaseLoss }),
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
        ...levelsLines(work.levels),
        ...roundedLines(rounded, work),
        ...mirrorLines(recording, options),
        ...floatTapsLines(opened, options),
        ...railLines(saturated, 2 * spectra * work.frequenciesHz.length * recording.inputs),
        ...lossLines(recording, missingSamples, 'the counts say where'),
        ...askedLines(part.asked),
        ...kurtosisLines(kurtosis, work.spectrumRateHz),
        ...vanVleck.lines(recording.bits),
        ...phaseLossLines(work.phaseLoss),
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
