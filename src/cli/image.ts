/** corella image: pictures of the sky, from visibilities or directly from voltages. */
import { Command, Option } from 'commander';
import { parse as splitPath, join } from 'node:path';
import { refuse } from '../core/errors.js';
import { type OpenedFile, openFile, type VisibilityFile } from '../formats/index.js';
import type { ImageField, KernelSize } from '../image/index.js';
import { type ImageSettings, stokesFrameOf } from '../stages/index.js';
import { refuseUnplaced } from '../telescope/unplaced.js';
import { addChannelOptions, channelOptionNames, type ChannelOptions } from './options/channel-options.js';
import { addKurtosisOptions, kurtosisOptionNames } from './interference/kurtosis-options.js';
import { addBackendOptions, addExamples, parseCount, refuseGiven } from './options/command.js';
import {
  addBeamCorrectedOption,
  addElementOption,
  correctionOf,
  type ElementOptions,
} from './options/element-option.js';
import { addEopOption } from './options/eop-option.js';
import { tellingBand } from './report/band-lines.js';
import { tellingFlags, withOrientation } from './report/flag-lines.js';
import { addIntegrationOption } from './options/integration-options.js';
import { addOpenOptions, openOptions, type OpenFlags } from './options/open-options.js';
import { addPartOptions, partOf, type PartOptions } from './options/part-options.js';
import { refuseUnknown, telescopeFor } from './open.js';
import { addOverwriteOption, checkOutputs, parseOutput } from './options/outputs.js';
import { angle, duration } from './options/quantity.js';
import { addSourceOption } from './options/sky-options.js';
import { addTrackOptions, trackOptionNames } from './options/track-options.js';
import { addWideOptions } from './options/wide-options.js';
import { openTerminal } from './report/terminal.js';
import { runWideSeries } from './image-series.js';
import { dataFacts, gainsOver, parseKnown, type GainsOptions } from './image-gains.js';
import { addFeedsOption, type FeedsOptions } from './options/feeds-option.js';
import { chooseWide, runWide, type WideCommandOptions } from './image-wide.js';
import { registerDirect } from './image/direct.js';

/** With --direct the image is of a recording, and its options are others. */
export function registerImage(program: Command): void {
  if (process.argv.includes('--direct')) {
    const foreign = registerVisibilities(new Command()).options;
    registerDirect(program, foreign);
  } else registerVisibilities(program);
}

function registerVisibilities(program: Command): Command {
  const command = program
    .command('image')
    .argument('<file>', 'visibilities; or with --direct, a recording of voltages or of channelised data')
    .option(
      '-o, --out <path>',
      'the FITS to write; the PNG goes beside it (default: image.fits)',
      parseOutput,
    )
    .option('--direct', 'image the voltages themselves, without making visibilities (image --direct --help)')
    .option('--gains <path>', 'calibrate with these, from corella calibrate (default: none)')
    .option(
      '--cross-hand <known>',
      "known: those gains' X and Y share one phase, whatever their file says",
      parseKnown,
    )
    .option('--pixels <number>', 'along each side (default: what the array needs)', parseCount)
    .option(
      '--field <angle>',
      'width of the field, in degrees or with a unit (default: the whole sky, or of dishes what they see and the data allow)',
      angle('--field'),
    )
    .option(
      '--kernel <size>',
      'with --direct: cells along a side of the gridding kernels, 1, 3, 5 or 7',
      parseKernel,
      5,
    )
    .addOption(new Option('--autos').hideHelp())
    .addOption(new Option('--no-autos').hideHelp())
    .option('--no-picture', 'the FITS alone: drawing takes longer than imaging')
    .option('--beam', 'also write the synthesised beam (visibilities only)')
    .option('--cube', 'keep channels apart in the FITS instead of averaging them')
    .addOption(new Option('--per-channel').hideHelp())
    .option(
      '--duration <time>',
      'with --direct: only so much of the recording, like 40ms (default: all)',
      duration('--duration'),
    )
    .option(
      '--every <time>',
      'a series, an image of every so long, like 40ms or 10s: a FITS cube in time and a film (animated PNG)',
      duration('--every'),
    )
    .option('--sheet', 'with --every: also a sheet, the images side by side')
    .action(run);
  addIntegrationOption(command, 'all');
  addWideOptions(command);
  addBeamCorrectedOption(command);
  addElementOption(command);
  addFeedsOption(command);
  addOverwriteOption(command);
  addSourceOption(command, 'names to write on the picture');
  addPartOptions(command, 'has');
  addChannelOptions(command, 'or which');
  addKurtosisOptions(command);
  addTrackOptions(command, 'the image (--direct)');
  addOpenOptions(command, 'anything');
  addBackendOptions(command);
  addEopOption(command);
  for (const option of command.options) if (ofVoltages.includes(option.attributeName())) option.hideHelp();
  return addExamples(command, [
    ['image visibilities.uvfits --gains gains.json', 'image.fits and image.png, the whole sky'],
    [
      'image visibilities.uvfits --gains gains.json --centre "Cyg A" --field 20 --weights briggs:0',
      'a field of 20° round Cyg A, all integrations with their fringes stopped',
    ],
    [
      'image visibilities.uvfits --gains gains.json --centre "19h59m28.4s +40d44m02s" --cell 2arcmin --pixels 512 --clean',
      'CLEANed: restored image, and beside it dirty, model, residual and beam',
    ],
    [
      'image --direct voltages.sigmf-meta --gains gains.json',
      'direct.fits and direct.png, no visibilities in between',
    ],
    ['image visibilities.uvfits -o raw.fits', 'uncalibrated'],
    [
      'image night.uvh5 --gains gains.json --channels 8-23 --flag stand17 --flag-interference',
      'sixteen channels, without a station and without interference',
    ],
  ]);
}

interface ImageOptions
  extends
    WideCommandOptions,
    GainsOptions,
    Pick<ChannelOptions, 'gain'>,
    OpenFlags,
    ElementOptions,
    FeedsOptions {
  readonly kernel: KernelSize;
  readonly weight?: WideCommandOptions['weights'];
  readonly perChannel?: true;
  readonly every?: number;
}

type GivenOptions = ImageOptions & PartOptions;

/** Options of image --direct, which are refused here with a word on it. */
const ofVoltages: readonly string[] = [
  ...['duration', ...channelOptionNames.filter((name) => name !== 'channels')],
  ...[...trackOptionNames, ...kurtosisOptionNames],
];

async function run(path: string, given: GivenOptions, command: Command): Promise<void> {
  const options: ImageOptions = {
    ...given,
    ...((given.cube ?? given.perChannel) && { cube: true }),
    ...(given.weight && { weights: given.weights ?? given.weight }),
    ...(given.clean !== undefined && given.gain !== undefined && { loopGain: given.loopGain ?? given.gain }),
  };
  // --gain is the channeliser's word, and with --clean CLEAN's.
  const forVoltages = ofVoltages.filter((name) => name !== 'gain' || given.clean === undefined);
  refuseGiven(command, forVoltages, 'is for voltages, with --direct alone');
  if (options.every === undefined) refuseGiven(command, ['sheet'], 'is for a series, with --every');
  if (options.every !== undefined && !options.picture)
    refuse('--no-picture', 'is for one image: a series has its film', 'leave it out');
  const screen = openTerminal(options);
  const settings: ImageSettings = {
    ...(options.pixels === undefined ? {} : { pixels: options.pixels }),
    field: fieldOf(options.field),
    kernelSize: options.kernel,
  };
  const out = options.out ?? (options.every === undefined ? 'image.fits' : 'series.fits');
  if (!/\.fits?$/i.test(out))
    refuse('--out', `'${out}' does not end in .fits`, 'the PNG takes the same name beside it');
  const { dir, name } = splitPath(out);
  const beside = (ending: string): string => join(dir, `${name}${ending}`);
  const outputs = {
    fits: out,
    ...(options.picture && { png: beside('.png') }),
    ...(options.beam === true && { beam: beside('-beam.fits') }),
    ...(options.sheet === true && { sheet: beside('-sheet.png') }),
  };
  const written = Object.values(outputs);
  const flagsOut = given.flagsOut === undefined ? [] : [given.flagsOut];
  await checkOutputs({ ...options, paths: [...written, ...flagsOut], from: path });
  const opened = await openFile(path, await openOptions(options));
  try {
    refuseUnknown(opened);
    const part = opened.kind === 'visibilities' ? await partOf(opened, given) : undefined;
    const file = part?.file ?? opened;
    const { telescope, frame: data } = stokesFrameOf(
      await telescopeFor(file, options),
      file.kind === 'visibilities' ? file.header : { feedFrame: 'feeds' },
      options.feeds,
    );
    const terminal = tellingBand(
      part
        ? tellingFlags(screen, options.stokes === 'IQUV' ? withOrientation(part.told) : part.told, given)
        : screen,
      telescope,
      file,
    );
    refuseUnplaced(path, telescope, 'there is no image of the sky in them');
    const beam = await correctionOf(options, telescope);
    if (beam && options.every !== undefined)
      refuse('--beam-corrected', 'is for one image, not for a series', 'leave out --every');
    const facts = dataFacts(file, beam);
    const visibilities = visibilitiesOf(file);
    const { frequenciesHz } = visibilities.header;
    const choice = await chooseWide(command, options, visibilities, telescope, settings);
    const gains = await gainsOver(options, telescope, frequenciesHz, facts);
    if (options.every === undefined) {
      const corrected = { ...choice, data, ...(beam && { beam }) };
      await runWide(visibilities, telescope, options, corrected, gains, terminal);
    } else {
      refuseGiven(command, ['clean', 'cube', 'perChannel', 'stokes', 'beam'], 'is not for a series');
      await runWideSeries(visibilities, telescope, options, choice, options.every, gains, terminal);
    }
    await part?.finish();
  } finally {
    await opened.close();
  }
}

const visibilitiesOf = (file: OpenedFile): VisibilityFile =>
  file.kind === 'visibilities'
    ? file
    : refuse(file.path, 'holds no visibilities', 'correlate it first, or ask for --direct');

export const fieldOf = (widthDeg: number | undefined): ImageField =>
  widthDeg === undefined ? { kind: 'all-sky' } : { kind: 'field', widthDeg };

export function parseKernel(text: string): KernelSize {
  const sizes: readonly KernelSize[] = [1, 3, 5, 7];
  return (
    sizes.find((size) => String(size) === text) ??
    refuse('--kernel', `'${text}' is no size of gridding kernels`, 'choose 1, 3, 5 or 7')
  );
}

export function parseWeight(text: string): 'natural' | 'uniform' {
  return text === 'natural' || text === 'uniform'
    ? text
    : refuse('--weight', `'${text}' is no weighting`, 'choose natural or uniform');
}
