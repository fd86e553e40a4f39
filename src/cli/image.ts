/** corella image: pictures of the sky, from visibilities or directly from voltages. */
import { Command, Option } from 'commander';
import { parse as splitPath, join } from 'node:path';
import { refuse } from '../core/errors.js';
import { addSeconds } from '../core/instant.js';
import { formatSeconds } from '../core/units.js';
import { type OpenedFile, openFile, type VisibilityFile } from '../formats/index.js';
import type { ImageField, KernelSize } from '../image/index.js';
import { imageOnCards } from '../pipeline/cards/image.js';
import { imageIntegration } from '../pipeline/image.js';
import type { ImageSettings } from '../pipeline/sky-image.js';
import type { DataFacts } from '../pipeline/gains/apply.js';
import { writeSky, type PictureOptions } from '../pipeline/products.js';
import { chooseIntegration } from '../pipeline/select.js';
import { snapshotOnSky, stokesFrameOf } from '../pipeline/stokes.js';
import { tiltFacts, tiltLines } from '../pipeline/tilt.js';
import type { Telescope } from '../telescope/telescope.js';
import { refuseUnplaced } from '../telescope/unplaced.js';
import { addChannelOptions, channelOptionNames } from './options/channel-options.js';
import { addKurtosisOptions, kurtosisOptionNames } from './interference/kurtosis-options.js';
import {
  addBackendOptions,
  addCardsOption,
  addExamples,
  parseCount,
  refuseGiven,
} from './options/command.js';
import { addBeamCorrectedOption, addElementOption, correctionOf } from './options/element-option.js';
import { addEopOption } from './options/eop-option.js';
import { tellingBand } from './report/band-lines.js';
import { tellingFlags, withOrientation } from './report/flag-lines.js';
import { history } from './report/history.js';
import { betweenPixels, seenIn } from '../pipeline/seen-in.js';
import { coarseLines, loneHandNote, outsideLines } from './report/image-notes.js';
import { addIntegrationOption, choiceLines } from './options/integration-options.js';
import { addOpenOptions, openOptions } from './options/open-options.js';
import { addPartOptions, partOf, type PartOptions } from './options/part-options.js';
import { refuseUnknown, telescopeFor, withCards } from './open.js';
import { addOverwriteOption, checkOutputs, parseOutput } from './options/outputs.js';
import { angle, duration } from './options/quantity.js';
import { addSourceOption, parseSources } from './options/sky-options.js';
import { addTrackOptions, trackOptionNames } from './options/track-options.js';
import { addWideOptions } from './options/wide-options.js';
import { openTerminal, type Terminal } from './report/terminal.js';
import { runWideSeries } from './image-series.js';
import { localCentre } from '../sky/phase-centre.js';
import { corrected, type ImageOptions, type Made } from './image-direct.js';
import {
  stokesNotes,
  crossHandsOf,
  dataFacts,
  gainsFor,
  gainsOver,
  imageUnit,
  parseKnown,
} from './image-gains.js';
import { addFeedsOption } from './options/feeds-option.js';
import { chooseWide, runWide } from './image-wide.js';
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
      'width of the field, in degrees or with a unit (default: the whole sky, or 1024 pixels round --centre)',
      angle('--field'),
    )
    .option(
      '--kernel <size>',
      'cells along a side of the gridding kernels round the zenith: 1, 3, 5 or 7',
      parseKernel,
      5,
    )
    .option('--autos', 'keep autocorrelations, in images round the zenith')
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
  addIntegrationOption(command, ', or all with --centre and its like');
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
  addCardsOption(addBackendOptions(command));
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

/** --channels is how many to make of voltages, and which of visibilities. */
type GivenOptions = Omit<ImageOptions, 'channels'> & PartOptions;

/** Options of image --direct, which are refused here with a word on it. */
const ofVoltages: readonly string[] = [
  ...['duration', ...channelOptionNames.filter((name) => name !== 'channels')],
  ...[...trackOptionNames, ...kurtosisOptionNames],
];

async function run(path: string, given: GivenOptions, command: Command): Promise<void> {
  const options: ImageOptions = {
    ...given,
    // Which channels, as it was written: for the part that is taken.
    channels: undefined,
    ...((given.cube ?? given.perChannel) && { cube: true }),
    ...(given.weight && { weights: given.weights ?? given.weight }),
    ...(given.clean !== undefined && given.gain !== undefined && { loopGain: given.loopGain ?? given.gain }),
  };
  // --gain is the channeliser's word, and with --clean CLEAN's.
  const forVoltages = ofVoltages.filter((name) => name !== 'gain' || given.clean === undefined);
  refuseGiven(command, forVoltages, 'is for voltages, with --direct alone');
  if (options.every !== undefined)
    refuseGiven(command, ['cards'], 'is for one image from visibilities round the zenith');
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
  const sourcesAt = parseSources(options.sources);
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
    if (telescope.stations.length === 1 && options.autos !== true)
      refuse('image', 'one station has no baselines', 'keep its own power with --autos, or image --direct');
    const visibilities = visibilitiesOf(file);
    const { frequenciesHz } = visibilities.header;
    const wide = await chooseWide(command, options, visibilities, telescope, settings);
    if (options.every !== undefined) {
      refuseGiven(
        command,
        [
          'clean',
          'cube',
          'perChannel',
          'stokes',
          'beam',
          ...(options.autos === true ? ['autos'] : []),
          'kernel',
        ],
        'is not for a series',
      );
      const choice = wide ?? { centre: localCentre('zenith', { x: 0, y: 0, z: 1 }), field: {} };
      const gains = await gainsOver(options, telescope, frequenciesHz, facts);
      await runWideSeries(visibilities, telescope, options, choice, options.every, gains, terminal);
      await part?.finish();
      return;
    }
    if (wide) {
      refuseGiven(command, ['cards'], 'is for images round the zenith');
      const gains = await gainsOver(options, telescope, frequenciesHz, facts);
      const choice = { ...wide, data, ...(beam && { beam }) };
      await runWide(visibilities, telescope, options, choice, gains, terminal);
      await part?.finish();
      return;
    }
    const made = await fromVisibilities(visibilities, telescope, options, { ...settings, facts }, terminal);
    const feeds = file.kind === 'visibilities' ? file.header.feeds : undefined;
    const sky = snapshotOnSky(beam ? corrected(made, beam, file, options) : made.sky, data, {
      ...{ telescope, ...(feeds && { feeds }), ...(beam && { beam }), ...crossHandsOf(made) },
      autos: options.autos === true ? 'include' : 'leave-out',
    });
    const products: PictureOptions = {
      telescope,
      ...(feeds === undefined ? {} : { feeds }),
      road: 'From visibilities, natural weights',
      unit: imageUnit(file, options),
      ...(beam && { brightness: { kind: 'beam-corrected', beam } }),
      channelWidthHz: made.channelWidthHz,
      channels: options.cube === true ? 'keep' : 'average',
      ...crossHandsOf(made),
      history: [
        ...history({ from: file, telescope }),
        ...(options.gains === undefined ? [] : [`gains ${options.gains}`]),
      ],
      sources: sourcesAt(made.sky.frame),
    };
    const { pixels } = sky.plan;
    const { peak, hand } = seenIn(sky);
    const loss = betweenPixels(sky);
    const tilt = tiltFacts(sky.plan);
    const stage = terminal.stage('write');
    await writeSky(outputs, sky, products, stage.step);
    await part?.finish();
    stage.done();
    terminal.result(
      {
        paths: written,
        pixels,
        peak,
        unit: products.unit,
        betweenPixels: loss,
        ...(sky.stokes && { stokes: sky.stokes.history }),
        ...made.json,
        ...(tilt && { tilt }),
        seconds: made.seconds,
      },
      [
        `${written.join(', ')}: ${pixels} × ${pixels} pixels, peak ${Number(peak.toPrecision(4))} ${products.unit}, ${formatSeconds(made.seconds)}`,
        ...made.notes,
        ...tiltLines(sky.plan),
        ...coarseLines(sky, loss),
        ...(hand === undefined
          ? stokesNotes(sky.stokes, crossHandsOf(made), telescope, feeds)
          : [loneHandNote(hand, feeds)]),
      ],
    );
  } finally {
    await opened.close();
  }
}

async function fromVisibilities(
  file: VisibilityFile,
  telescope: Telescope,
  options: ImageOptions,
  { facts, ...settings }: ImageSettings & { readonly facts: DataFacts },
  terminal: Terminal,
): Promise<Made> {
  const reading = terminal.stage('read');
  const choice = await chooseIntegration(file, options.integration, reading.update);
  reading.done();
  const { frequenciesHz, channelWidthHz } = file.header;
  const { start, durationS } = choice.integration;
  const gains = await gainsFor(options, telescope, frequenciesHz, addSeconds(start, durationS / 2), facts);
  const stage = terminal.stage('image');
  const road = {
    ...{ telescope, frequenciesHz, onStep: stage.step, ...gains },
    weight: 'natural',
    autos: options.autos === true ? 'include' : 'leave-out',
  } as const;
  const sky = await withCards(options, (backends) =>
    backends.length > 1
      ? imageOnCards(choice.integration, road, settings, backends)
      : imageIntegration(choice.integration, { ...road, backend: backends[0] }, settings),
  );
  return {
    ...{ sky, ...gains, integration: choice.integration },
    channelWidthHz,
    seconds: stage.done(),
    notes: [
      ...choiceLines(choice, options.integration),
      ...outsideLines(file.header, sky.frame, settings.field),
    ],
    json: { firstIntegration: choice.first, integrations: choice.used, integrationsInFile: choice.inFile },
  };
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
