/** corella image: pictures of the sky, from visibilities or directly from voltages. */
import type { Command } from 'commander';
import { addSeconds, type Instant } from '../core/instant.js';
import { bearableIntegrationS, coherenceOf } from '../pipeline/coherence.js';
import { coherenceFacts, coherenceLines } from './report/coherence-lines.js';
import { parse as splitPath, join } from 'node:path';
import { refuse } from '../core/errors.js';
import { DEGREES_PER_RADIAN, formatSeconds } from '../core/units.js';
import {
  type OpenedFile,
  openFile,
  readGainFile,
  type VisibilityFile,
  type VisibilityHeader,
  type VoltageRecording,
} from '../formats/index.js';
import { averageChannels, stokesI, type ImageField, type KernelSize } from '../image/index.js';
import { channelsOf, planChannels } from '../pipeline/channels.js';
import { matchGains } from '../pipeline/gains.js';
import { imageDirectly, imageIntegration } from '../pipeline/image.js';
import type { Calibrated, ImageSettings, SkyImage } from '../pipeline/sky-image.js';
import { writeSky, type PictureOptions } from '../pipeline/products.js';
import { chooseIntegration } from '../pipeline/select.js';
import type { SkyFrame } from '../sky/frame.js';
import type { Telescope } from '../telescope/telescope.js';
import {
  addChannelOptions,
  channelOptionNames,
  channelSettings,
  type ChannelOptions,
} from './options/channel-options.js';
import {
  addBackendOptions,
  addExamples,
  parseCount,
  refuseGiven,
  type BackendOptions,
} from './options/command.js';
import { addEopOption } from './options/eop-option.js';
import { history } from './report/history.js';
import { addIntegrationOption, choiceLines, type IntegrationOptions } from './options/integration-options.js';
import { lossFacts, lossLines } from './report/loss-lines.js';
import { addOpenOptions, openOptions, type OpenFlags } from './options/open-options.js';
import { refuseUnknown, telescopeFor, withBackend } from './open.js';
import { addOverwriteOption, checkOutputs, type OutputOptions } from './options/outputs.js';
import { duration, plainNumber } from './options/quantity.js';
import { addSourceOption, parseSources } from './options/sky-options.js';
import { openTerminal, type Terminal } from './report/terminal.js';

interface ImageOptions extends BackendOptions, OutputOptions, ChannelOptions, IntegrationOptions, OpenFlags {
  readonly out?: string;
  readonly direct?: true;
  readonly gains?: string;
  readonly pixels?: number;
  readonly field?: number;
  readonly kernel: KernelSize;
  readonly weight: 'natural' | 'uniform';
  readonly autos?: true;
  readonly beam?: true;
  readonly perChannel?: true;
  readonly duration?: number;
  readonly sources: string;
}

export function registerImage(program: Command): void {
  const command = program
    .command('image')
    .description('visibilities (+ gains) → FITS and PNG; --direct: from voltages (EPIC)')
    .argument('<file>', 'visibilities; or with --direct, a recording of voltages')
    .option(
      '-o, --out <path>',
      'the FITS to write; the PNG goes beside it (default: image.fits or direct.fits)',
    )
    .option('--direct', 'image the voltages themselves, without making visibilities')
    .option('--gains <path>', 'calibrate with these, from corella calibrate (default: none)')
    .option(
      '--pixels <number>',
      'along each side (default: 128, or more where the array needs more)',
      parseCount,
    )
    .option(
      '--field <degrees>',
      'width of the field around the zenith (default: the whole sky)',
      plainNumber('--field'),
    )
    .option('--kernel <size>', 'cells under each antenna: 1, 3, 5 or 7', parseKernel, 5)
    .option(
      '--weight <name>',
      'natural: deepest; uniform: sharpest (visibilities only)',
      parseWeight,
      'natural',
    )
    .option('--autos', 'keep autocorrelations (visibilities only; the direct road always has them)')
    .option('--beam', 'also write the synthesised beam (visibilities only)')
    .option('--per-channel', 'keep channels apart in the FITS instead of averaging them')
    .option(
      '--duration <time>',
      'with --direct: only so much of the recording, like 40ms (default: all)',
      duration('--duration'),
    )
    .action(run);
  addIntegrationOption(command);
  addOverwriteOption(command);
  addSourceOption(command, 'names to write on the picture');
  addChannelOptions(command);
  addOpenOptions(command, 'anything');
  addBackendOptions(command);
  addEopOption(command);
  addExamples(command, [
    ['image visibilities.uvfits --gains gains.json', 'image.fits and image.png, the whole sky'],
    [
      'image visibilities.uvfits --gains gains.json --weight uniform --field 60 --pixels 256',
      'a sharper field of 60°',
    ],
    [
      'image --direct voltages.sigmf-meta --gains gains.json',
      'direct.fits and direct.png, no visibilities in between',
    ],
    ['image visibilities.uvfits -o raw.fits', 'uncalibrated'],
  ]);
}

async function run(path: string, options: ImageOptions, command: Command): Promise<void> {
  if (options.direct === true) {
    refuseGiven(command, ['weight', 'autos', 'beam', 'integration'], 'is for visibilities, not for --direct');
  } else {
    refuseGiven(command, ['duration', ...channelOptionNames], 'is for voltages, with --direct alone');
  }
  const terminal = openTerminal(options);
  const settings: ImageSettings = {
    ...(options.pixels === undefined ? {} : { pixels: options.pixels }),
    field: fieldOf(options.field),
    kernelSize: options.kernel,
  };
  const out = options.out ?? (options.direct === true ? 'direct.fits' : 'image.fits');
  if (!/\.fits?$/i.test(out))
    refuse('--out', `'${out}' does not end in .fits`, 'the PNG takes the same name beside it');
  const { dir, name } = splitPath(out);
  const beside = (ending: string): string => join(dir, `${name}${ending}`);
  const outputs = {
    fits: out,
    png: beside('.png'),
    ...(options.beam === true && { beam: beside('-beam.fits') }),
  };
  const written = Object.values(outputs);
  const sourcesAt = parseSources(options.sources);
  const file = await openFile(path, await openOptions(options));
  try {
    await checkOutputs({ ...options, paths: written, from: path });
    refuseUnknown(file);
    const telescope = await telescopeFor(file, options);
    const made =
      options.direct === true
        ? await direct(voltagesOf(file), telescope, options, settings, terminal)
        : await fromVisibilities(visibilitiesOf(file), telescope, options, settings, terminal);
    const feeds = file.kind === 'visibilities' ? file.header.feeds : undefined;
    const products: PictureOptions = {
      telescope,
      ...(feeds === undefined ? {} : { feeds }),
      road: options.direct === true ? 'Direct imaging (EPIC)' : `From visibilities, ${options.weight} weight`,
      unit: options.gains === undefined ? 'counts' : 'Jy/beam',
      channelWidthHz: made.channelWidthHz,
      channels: options.perChannel === true ? 'keep' : 'average',
      history: [
        ...history({ from: file, telescope }),
        ...(options.gains === undefined ? [] : [`gains ${options.gains}`]),
      ],
      sources: sourcesAt(made.sky.frame),
    };
    const stage = terminal.stage('write');
    await writeSky(outputs, made.sky, products);
    stage.done();
    const { image, plan } = made.sky;
    const { pixels } = plan;
    const plane = stokesI(averageChannels(image, plan), plan, 0);
    const peak = plane.reduce((most, value) => (value > most ? value : most), -Infinity);
    terminal.result(
      { paths: written, pixels, peak, unit: products.unit, ...made.json, seconds: made.seconds },
      [
        `${written.join(', ')}: ${pixels} × ${pixels} pixels, peak ${Number(peak.toPrecision(4))} ${products.unit}, ${formatSeconds(made.seconds)}`,
        ...made.notes,
      ],
    );
  } finally {
    await file.close();
  }
}

interface Made {
  readonly sky: SkyImage & { readonly beam?: SkyImage['image'] };
  readonly channelWidthHz: number;
  readonly seconds: number;
  /** What the user should know of the data's choice. */
  readonly notes: readonly string[];
  readonly json: object;
}

async function fromVisibilities(
  file: VisibilityFile,
  telescope: Telescope,
  options: ImageOptions,
  settings: ImageSettings,
  terminal: Terminal,
): Promise<Made> {
  const choice = await chooseIntegration(file, options.integration);
  const { frequenciesHz, channelWidthHz } = file.header;
  const { start, durationS } = choice.integration;
  const gains = await gainsFor(options, telescope, frequenciesHz, addSeconds(start, durationS / 2));
  const stage = terminal.stage('image');
  const sky = await withBackend(options, (backend) =>
    imageIntegration(
      choice.integration,
      {
        backend,
        telescope,
        frequenciesHz,
        weight: options.weight,
        autos: options.autos === true ? 'include' : 'leave-out',
        ...gains,
      },
      settings,
    ),
  );
  return {
    sky,
    channelWidthHz,
    seconds: stage.done(),
    notes: [
      ...choiceLines(choice, options.integration),
      ...outsideLines(file.header, sky.frame, settings.field),
    ],
    json: { firstIntegration: choice.first, integrations: choice.used, integrationsInFile: choice.inFile },
  };
}

/** Fields lie round the zenith: what a telescope followed elsewhere may not be in them. */
export function outsideLines(
  { object, phaseCentre }: Pick<VisibilityHeader, 'object' | 'phaseCentre'>,
  frame: SkyFrame,
  field: ImageField,
): string[] {
  const { x, y, z } = frame.directionEnu(phaseCentre);
  const fromZenithDeg = Math.atan2(Math.hypot(x, y), z) * DEGREES_PER_RADIAN;
  if (fromZenithDeg <= (field.kind === 'field' ? field.widthDeg / 2 : 90)) return [];
  return [
    `the file's phase centre, ${object}, is ${fromZenithDeg.toFixed(1)}° from the zenith, ` +
      (fromZenithDeg > 90 ? 'below the horizon' : 'outside this field round the zenith'),
  ];
}

async function direct(
  recording: VoltageRecording,
  telescope: Telescope,
  options: ImageOptions,
  settings: ImageSettings,
  terminal: Terminal,
): Promise<Made> {
  const channels = planChannels(recording, await channelSettings(options, recording));
  const { frequenciesHz, channelWidthHz } = channelsOf(recording, channels);
  const lastsS = Math.min(options.duration ?? Infinity, recording.samples / recording.sampleRateHz);
  const gains = await gainsFor(options, telescope, frequenciesHz, addSeconds(recording.start, lastsS / 2));
  const stage = terminal.stage('image directly');
  const { sky, account } = await withBackend(options, (backend) =>
    imageDirectly(
      recording,
      channels,
      {
        backend,
        telescope,
        frequenciesHz,
        ...gains,
        ...(options.duration === undefined ? {} : { durationS: options.duration }),
        onProgress: stage.update,
      },
      settings,
    ),
  );
  const coherence = coherenceOf(telescope, frequenciesHz, channelWidthHz);
  return {
    sky,
    channelWidthHz,
    seconds: stage.done(`${sky.samples} time steps`),
    notes: [
      ...lossLines(recording, account.missingSamples, 'they add nothing'),
      ...coherenceLines(coherence, sky.durationS, {
        channel: 'narrower --channels save it, and so does correlate --track SOURCE',
        time: `--duration ${formatSeconds(bearableIntegrationS(coherence))} saves it, and so does correlate --track SOURCE`,
      }),
    ],
    json: { ...lossFacts(recording, account.missingSamples), ...coherenceFacts(coherence, sky.durationS) },
  };
}

async function gainsFor(
  options: ImageOptions,
  telescope: Telescope,
  frequenciesHz: Float64Array,
  moment: Instant,
): Promise<{ calibrated?: Calibrated }> {
  if (options.gains === undefined) return {};
  return {
    calibrated: matchGains(
      await readGainFile(options.gains),
      options.gains,
      telescope,
      frequenciesHz,
      moment,
    ),
  };
}

const voltagesOf = (file: OpenedFile): VoltageRecording =>
  file.kind === 'voltages'
    ? file
    : refuse(file.path, 'holds no voltages', 'leave out --direct, or name a recording');
const visibilitiesOf = (file: OpenedFile): VisibilityFile =>
  file.kind === 'visibilities'
    ? file
    : refuse(file.path, 'holds no visibilities', 'correlate it first, or ask for --direct');

export const fieldOf = (widthDeg: number | undefined): ImageField =>
  widthDeg === undefined ? { kind: 'all-sky' } : { kind: 'field', widthDeg };

function parseKernel(text: string): KernelSize {
  const sizes: readonly KernelSize[] = [1, 3, 5, 7];
  return (
    sizes.find((size) => String(size) === text) ??
    refuse('--kernel', `'${text}' is no kernel size`, 'choose 1, 3, 5 or 7')
  );
}

function parseWeight(text: string): 'natural' | 'uniform' {
  return text === 'natural' || text === 'uniform'
    ? text
    : refuse('--weight', `'${text}' is no weighting`, 'choose natural or uniform');
}
