/** corella correlate: recorded voltages, or already channelised data, to visibilities. */
import type { Command } from 'commander';
import type { SpectraType } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { addSeconds } from '../core/instant.js';
import { formatHz, formatSeconds } from '../core/units.js';
import { sampleRateOf, type Recording, type StoredValues, type VisibilityHeader } from '../formats/format.js';
import { openFile, visibilityFormatFor } from '../formats/registry.js';
import { channelsOf, planChannels } from '../pipeline/channels.js';
import {
  correlateSpectra,
  correlateVoltages,
  newTally,
  type CorrelationSettings,
} from '../pipeline/correlate.js';
import { writeIntegrations } from '../pipeline/visibilities.js';
import { skyFrame } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import { refuse } from '../core/errors.js';
import {
  addChannelOptions,
  channelOptionNames,
  channelSettings,
  type ChannelOptions,
} from './channel-options.js';
import { addBackendOptions, addExamples, refuseGiven, type BackendOptions } from './command.js';
import { addEopOption } from './eop-option.js';
import { addFlagOption, parseFlags, type FlagOptions } from './flags.js';
import { history } from './history.js';
import { addOpenOptions, openOptions, type OpenFlags } from './open-options.js';
import { refuseUntold, telescopeFor, withBackend } from './open.js';
import { duration } from './quantity.js';
import { lossFacts, lossLines, railLines } from './loss-lines.js';
import { openTerminal, spectraText } from './terminal.js';

interface CorrelateOptions extends BackendOptions, ChannelOptions, FlagOptions, OpenFlags {
  readonly out: string;
  readonly integration?: number;
  readonly values: StoredValues;
}

export function registerCorrelate(program: Command): void {
  const command = program
    .command('correlate')
    .description('recorded voltages, or already channelised data → visibilities')
    .argument('<recording>', 'voltages or channelised data in any format we read')
    .option(
      '-o, --out <path>',
      'visibilities to write; the extension chooses the format',
      'visibilities.uvfits',
    )
    .option(
      '--integration <time>',
      'length of each integration, like 40ms (default: one over everything)',
      duration('--integration'),
    )
    .option(
      '--values <kind>',
      'means, or sums: whole numbers bit for bit as they were summed, fringes running (.uvh5 alone)',
      parseValues,
      'means',
    )
    .action(run);
  addFlagOption(command);
  addChannelOptions(command);
  addOpenOptions(command, 'recordings');
  addBackendOptions(command);
  addEopOption(command);
  addExamples(command, [
    ['correlate voltages.sigmf-meta -o visibilities.uvfits', 'channelise and correlate, one integration'],
    [
      'correlate voltages.sigmf-meta --channels 128 --taps 16 --integration 40ms',
      'finer channels, an integration every 40 ms',
    ],
    ['correlate voltages.sigmf-meta --flag stand17,stand41:Y', 'without a dead station and a dead dipole'],
    ['correlate channels.sigmf-meta', 'data that are channelised already'],
    ['correlate voltages.sigmf-meta --values sums -o sums.uvh5', 'exact integers'],
  ]);
}

async function run(path: string, options: CorrelateOptions, command: Command): Promise<void> {
  const terminal = openTerminal(options);
  // Refused before hours of work, not after.
  const format = visibilityFormatFor(options.out);
  const recording = await openFile(path, await openOptions(options));
  try {
    if (recording.kind === 'visibilities')
      refuse(path, 'holds visibilities already', 'calibrate or image it');
    if (recording.kind === 'spectra')
      refuseGiven(command, channelOptionNames, `is for voltages, and ${path} is channelised already`);
    refuseUntold(recording);
    const telescope = await telescopeFor(recording, options);
    const tally = newTally();
    const stage = terminal.stage('correlate');
    const { integrations, channels, backendText } = await withBackend(options, async (backend) => {
      const settings: CorrelationSettings = {
        backend,
        flaggedInputs: parseFlags(options.flag, recording.inputs, recording.polarisations, telescope),
        ...(options.integration === undefined ? {} : { integrationS: options.integration }),
        onProgress: stage.update,
      };
      const { stream, ...facts } = await begin(recording, options, settings, tally);
      const header = headerOf(recording, telescope, facts);
      const count = await writeIntegrations(
        () => format.createVisibilities(options.out, header, options.values),
        stream,
      );
      return { integrations: count, channels: facts, backendText: `${backend.kind}: ${backend.description}` };
    });
    const seconds = stage.done(backendText);
    const channelCount = channels.frequenciesHz.length;
    terminal.result(
      {
        path: options.out,
        integrations,
        stations: telescope.stations.length,
        polarisations: recording.polarisations,
        channels: channelCount,
        channelWidthHz: channels.channelWidthHz,
        ...tally,
        ...lossFacts(recording, tally.missingSamples),
        seconds,
      },
      [
        `${options.out}: ${integrations} integration${integrations === 1 ? '' : 's'} of ${telescope.stations.length} station${telescope.stations.length === 1 ? '' : 's'}, ` +
          `${channelCount} channels of ${formatHz(channels.channelWidthHz)}, from ${spectraText(tally.spectra)}, ${formatSeconds(seconds)}`,
        ...railLines(tally.saturated, 2 * tally.spectra * channelCount * recording.inputs),
        ...lossLines(recording, tally.missingSamples, 'the counts say where'),
      ],
    );
  } finally {
    await recording.close();
  }
}

function parseValues(text: string): StoredValues {
  return text === 'means' || text === 'sums'
    ? text
    : refuse('--values', `'${text}' is not a kind of values`, 'choose means or sums');
}

interface Begun {
  readonly stream: AsyncIterable<Integration>;
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
}

async function begin(
  recording: Recording,
  options: CorrelateOptions,
  settings: CorrelationSettings,
  tally: ReturnType<typeof newTally>,
): Promise<Begun> {
  if (recording.kind === 'spectra') {
    const { frequenciesHz, channelWidthHz } = recording;
    refuseFloatSums(recording.type, options);
    return { stream: correlateSpectra(recording, settings, tally), frequenciesHz, channelWidthHz };
  }
  const plan = planChannels(recording, await channelSettings(options, recording));
  refuseFloatSums(plan.outputType, options);
  return { stream: correlateVoltages(recording, plan, settings, tally), ...channelsOf(recording, plan) };
}

/** Floats have no whole sums: refused before the work, not at its end. */
function refuseFloatSums(type: SpectraType, { values }: CorrelateOptions): void {
  if (values === 'sums' && type === 'cf32')
    refuse('--values', 'sums are whole numbers, and these channels are floats', 'take means, or --bits 8');
}

function headerOf(
  recording: Recording,
  telescope: Telescope,
  { frequenciesHz, channelWidthHz }: Omit<Begun, 'stream'>,
): VisibilityHeader {
  const middle = addSeconds(recording.start, recording.samples / sampleRateOf(recording) / 2);
  return {
    telescope,
    polarisations: recording.polarisations,
    frequenciesHz,
    channelWidthHz,
    phaseCentre: skyFrame(telescope.site, middle).zenith,
    object: 'zenith',
    history: history({ from: recording, telescope }),
  };
}
