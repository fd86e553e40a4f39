/** corella image from visibilities: every array, every centre, gridded in u, v and w. */
import type { Command } from 'commander';
import type { Backend } from '../backend/backend.js';
import { join, parse as splitPath } from 'node:path';
import type { Integration } from '../core/blocks.js';
import { CorellaError, refuse } from '../core/errors.js';
import { DEGREES_PER_RADIAN, formatSeconds } from '../core/units.js';
import { unitFor } from '../draw/index.js';
import type { VisibilityFile, VisibilityHeader } from '../formats/index.js';
import { MOST_PIXELS, planeNormal, type HandTally, type WideMethod } from '../image/index.js';
import {
  frameAtMiddle,
  stationPositions,
  neededPixels,
  planSkyGeometry,
  type ImageSettings,
  chooseIntegration,
  type StokesFrame,
  type Share,
  betweenPixels,
} from '../stages/index.js';
import {
  seesWholeSky,
  usualField,
  loneHandOf,
  correctedWide,
  imageWide,
  type WideSkyImage,
  picturePlane,
  standingChannel,
  writeWide,
  type WidePaths,
  type WideFieldOptions,
  type WideSettings,
  holdingCellDeg,
} from '../visibilities/index.js';
import type { SkyFrame } from '../sky/frame.js';
import type { ElementBeam } from '../sky/beams/element-beam.js';
import { kindsOf } from '../sky/beams/powers.js';
import { fixedCentre, localCentre, type PhaseCentre } from '../sky/phase-centre.js';
import type { Telescope } from '../telescope/telescope.js';
import { crossHandsOf, imageUnit, intensityAlone, type GainsOver } from './image-gains.js';
import { withBackend } from './open.js';
import type { BackendOptions } from './options/command.js';
import type { IntegrationOptions } from './options/integration-options.js';
import { checkOutputs, type OutputOptions } from './options/outputs.js';
import { parseSources } from './options/sky-options.js';
import { ARRAY_CENTRE, cleanOf, weightingOf, weightWords, type WideOptions } from './options/wide-options.js';
import { history } from './report/history.js';
import { coarseLines, loneHandNote } from './report/image-notes.js';
import type { Terminal } from './report/terminal.js';
import { lacksProducts, usualStokes, wideStokes, type WideStokes } from './image-stokes.js';

export interface WideCommandOptions extends BackendOptions, OutputOptions, IntegrationOptions, WideOptions {
  readonly out?: string;
  readonly gains?: string;
  readonly pixels?: number;
  readonly field?: number;
  /** False with --no-autos. */
  readonly autos?: boolean;
  readonly beam?: true;
  /** False with --no-picture. */
  readonly picture: boolean;
  readonly cube?: true;
  /** With --every. */
  readonly sheet?: true;
  readonly sources: string;
}

/** Nearer than this a phase centre is the zenith. */
const AT_ZENITH_DEG = 0.3;

export interface WideChoice {
  readonly centre: PhaseCentre;
  readonly field: WideFieldOptions;
  /** Divided out of the image, where that is asked for. */
  readonly beam?: ElementBeam;
  /** In which frame the data's Stokes parameters are. */
  readonly data?: StokesFrame;
  /** What was chosen, where the user left it open. */
  readonly note?: string;
}

/** Where the image is, and how large. */
export async function chooseWide(
  command: Command,
  options: WideCommandOptions,
  file: VisibilityFile,
  telescope: Telescope,
  settings: ImageSettings,
): Promise<WideChoice> {
  refuseDirectOnly(command, options, telescope);
  const { pixels, field: widthDeg, cell: cellDeg } = options;
  const field = {
    ...(pixels === undefined ? {} : { pixels }),
    ...(widthDeg === undefined ? {} : { widthDeg }),
    ...(cellDeg === undefined ? {} : { cellDeg }),
  };
  if (options.centre) return { centre: centreFor(options.centre, telescope), field };
  const { header } = file;
  const own = fixedCentre(header.object, header.phaseCentre);
  const first = options.integration === 'sum' ? 0 : options.integration;
  const { integration } = await chooseIntegration(file, first);
  const frame = frameAtMiddle(telescope, integration);
  const isZenith = /^zenith$/i.test(header.object) || fromZenithDeg(frame, header) <= AT_ZENITH_DEG;
  if (widthDeg !== undefined && !isZenith) return { centre: own, field };
  const { frequenciesHz } = header;
  const needed = neededPixels(telescope, frame, frequenciesHz, settings);
  const isWhole = needed <= MOST_PIXELS && (isZenith || seesWholeSky(telescope));
  if (cellDeg !== undefined || (!isWhole && (pixels !== undefined || widthDeg !== undefined)))
    return { centre: isZenith ? localCentre('zenith', UP) : own, field };
  if (!isWhole) {
    const usual = usualField(telescope, header, integration.durationS);
    return { centre: own, field: { widthDeg: usual.widthDeg }, note: usual.note };
  }
  const plan = planSkyGeometry(telescope, frame, frequenciesHz, settings);
  return {
    centre: localCentre('zenith', UP),
    field: { pixels: plan.pixels, pixelCosine: plan.pixelSize },
    ...(isZenith ? {} : { note: wholeSkyNote(header.object) }),
  };
}

const UP = { x: 0, y: 0, z: 1 } as const;

const wholeSkyNote = (object: string): string =>
  `the whole sky round the zenith, since the elements see all of it; --centre "${object}" --field DEGREES images the file's own phase centre`;

/** What belongs to direct images alone is refused, with the way on. */
function refuseDirectOnly(command: Command, { autos }: WideCommandOptions, telescope: Telescope): void {
  if (telescope.stations.length === 1)
    refuse('image', 'one station has no baselines', 'image its recording with --direct');
  if (command.getOptionValueSource('kernel') === 'cli')
    refuse(
      '--kernel',
      'is for direct images: those from visibilities are gridded in u, v and w, with kernels of their own',
      'leave it out, and say how exact they shall be with --accuracy; or image the recording with --direct',
    );
  if (autos === true)
    refuse(
      '--autos',
      'is for direct images: those from visibilities are of pairs of stations',
      'leave it out, or image the recording with --direct',
    );
}

/** `array` is the normal of the plane through the stations. */
const centreFor = (centre: PhaseCentre, telescope: Telescope): PhaseCentre =>
  centre === ARRAY_CENTRE ? localCentre('array', planeNormal(stationPositions(telescope))) : centre;

function fromZenithDeg(frame: SkyFrame, { phaseCentre }: Pick<VisibilityHeader, 'phaseCentre'>): number {
  const { x, y, z } = frame.directionEnu(phaseCentre);
  return Math.atan2(Math.hypot(x, y), z) * DEGREES_PER_RADIAN;
}

export async function runWide(
  file: VisibilityFile,
  telescope: Telescope,
  options: WideCommandOptions,
  choice: WideChoice,
  gains: GainsOver,
  terminal: Terminal,
): Promise<void> {
  const clean = cleanOf(options);
  const paths = outputsOf(options, clean !== undefined);
  const written = Object.values(paths) as string[];
  await checkOutputs({ ...options, paths: written, from: file.path });
  const { header } = file;
  const cross = crossHandsOf(gains.first ? { calibrated: gains.first } : {});
  if (options.stokes === 'IQUV' && cross.crossHands === 'open')
    refuse(
      '--stokes',
      'the model of the gains leaves a rotation of Q, U and V open',
      'calibrate with three sources of different polarisation, or say --cross-hand known where that does not matter',
    );
  if (options.stokes === 'IQUV' && cross.crossHands === 'unknown')
    refuse(
      '--stokes',
      `the gains do not know the phase between ${header.feeds === 'circular' ? 'R and L' : 'X and Y'}, without which IQUV are mixed`,
      'find it with calibrate --cross-hand, or say --cross-hand known where they share one, or leave --stokes out',
    );
  const durationS = options.integration === 'sum' ? sumOf(file.durationsS) : undefined;
  const usual = clean ? 'I' : usualStokes(choice, { telescope, header, durationS });
  const byDefault = cross.crossHands === undefined ? usual : 'I';
  const alone =
    options.stokes === undefined && usual !== byDefault && cross.crossHands !== undefined
      ? [intensityAlone(cross.crossHands, header.feeds)]
      : [];
  const settings: Omit<WideSettings, 'stokes'> = {
    ...{ centre: choice.centre, field: choice.field },
    weighting: weightingOf(options),
    channels: options.cube === true ? 'apart' : 'together',
    ...(options.accuracy === undefined ? {} : { accuracy: options.accuracy }),
    ...(clean && { clean }),
  };
  const onSky = (which: 'I' | 'IQUV'): WideStokes =>
    wideStokes(which, gains, choice.data ?? { kind: 'unknown', why: 'nothing states it' }, {
      ...{ telescope, header, centre: choice.centre, field: choice.field, durationS },
      ...(choice.beam && { beam: choice.beam }),
    });
  const stage = terminal.stage('image');
  const make = (backend: Backend, which: 'I' | 'IQUV', stokes: WideStokes): Promise<WideSkyImage> =>
    imageWide(
      () => integrationsOf(file, options.integration),
      {
        ...{ backend, telescope, ...stokes.gains, polarisations: header.polarisations },
        ...(header.products && { codes: header.products }),
        ...(choice.beam && { kinds: kindsOf(choice.beam, telescope.stations.length) }),
        ...{ frequenciesHz: header.frequenciesHz, channelWidthHz: header.channelWidthHz },
        fringes: fringesOf(header),
        onStep: (step) => {
          stage.at(0, step);
        },
        onProgress: stage.update,
      },
      { ...settings, stokes: which, ...(options.stokes === undefined && { lostHand: 'accept' }) },
    );
  const { made, stokes } = await withBackend(options, async (backend) => {
    const which = options.stokes ?? byDefault;
    const own = onSky(which);
    const isAsked = options.stokes !== undefined || which === 'I';
    const first = await make(backend, which, own).catch((error: unknown) => {
      if (isAsked || !(error instanceof CorellaError)) throw error;
      return undefined;
    });
    if (first && (isAsked || !lacksProducts(first))) return { made: first, stokes: own };
    // I alone takes one hand where the other is lost.
    const alone = onSky('I');
    return { made: await make(backend, 'I', alone), stokes: alone };
  });
  const seconds = stage.done();
  const unit = imageUnit(file, options);
  const dividing = choice.beam && terminal.stage('beam');
  const divided = choice.beam ? correctedWide(made, choice.beam, telescope, header.phaseCentre) : made;
  const sky = stokes.finish(divided);
  dividing?.done();
  const writing = terminal.stage('write');
  const products = {
    telescope,
    ...(header.feeds === undefined ? {} : { feeds: header.feeds }),
    ...(choice.beam && { brightness: { kind: 'beam-corrected' as const, beam: choice.beam } }),
    ...cross,
    road: `${clean ? 'CLEANed, ' : ''}${weightWords(options)}`,
    unit,
    history: [
      ...history({ from: file, telescope }),
      ...(options.gains === undefined ? [] : [`gains ${options.gains}`]),
      `${weightWords(options)}, ${methodWords(sky.method, sky.plan.accuracy)}`,
      ...alone,
    ],
    sources: parseSources(options.sources)(sky.frame),
  };
  await writeWide(paths, sky, products, writing.step);
  writing.done();
  report(terminal, { sky, written, unit, seconds, choice, telescope, feeds: header.feeds, alone });
}

const sumOf = (values: Float64Array | undefined): number | undefined =>
  values?.reduce((sum, one) => sum + one, 0);

/** Copies of drift scans keep the name where a format cannot say that fringes ran. */
export const fringesOf = ({
  fringes,
  object,
}: Pick<VisibilityHeader, 'fringes' | 'object'>): 'running' | 'stopped' =>
  fringes === 'running' || /^zenith$/i.test(object) ? 'running' : 'stopped';

function outputsOf(options: WideCommandOptions, isCleaned: boolean): WidePaths {
  const out = options.out ?? 'image.fits';
  const { dir, name } = splitPath(out);
  const beside = (ending: string): string => join(dir, `${name}${ending}`);
  return {
    fits: out,
    ...(options.picture && { png: beside('.png') }),
    ...((options.beam === true || isCleaned) && { beam: beside('-beam.fits') }),
    ...(isCleaned && {
      dirty: beside('-dirty.fits'),
      model: beside('-model.fits'),
      residual: beside('-residual.fits'),
    }),
  };
}

export async function* integrationsOf(
  file: VisibilityFile,
  choice: IntegrationOptions['integration'],
): AsyncIterable<Integration> {
  if (choice === 'sum') yield* file.integrations();
  else yield (await chooseIntegration(file, choice)).integration;
}

interface Report {
  readonly sky: WideSkyImage;
  readonly written: readonly string[];
  readonly unit: string;
  readonly seconds: number;
  readonly choice: WideChoice;
  readonly telescope: Telescope;
  readonly feeds: VisibilityHeader['feeds'];
  /** Why there is no more than I. */
  readonly alone: readonly string[];
}

function report(
  terminal: Terminal,
  { sky, written, unit, seconds, choice, telescope, feeds, alone }: Report,
): void {
  const plane = picturePlane(sky);
  const peak = plane.reduce((most, value) => (value > most ? value : most), -Infinity);
  const { pixels, pixelCosine } = sky.pixels;
  const cellDeg = pixelCosine * DEGREES_PER_RADIAN;
  const beam = sky.fittedBeams[standingChannel(sky)];
  const { bandwidth, time } = sky.smearing;
  const clean = sky.cleaned?.facts;
  const coarse = {
    plan: {
      ...{ pixels, pixelSize: pixelCosine, axes: sky.axes, frequenciesHz: sky.frequenciesHz },
      stationsM: stationPositions(telescope),
    },
  };
  const loss = betweenPixels(coarse);
  terminal.result(
    {
      ...{ paths: written, pixels, cellDeg, centre: { name: sky.centreName, ...sky.centre } },
      ...{ peak, unit, beam: beam ?? null, integrations: sky.integrations, visibilities: sky.visibilities },
      ...{ durationS: sky.durationS, accuracy: sky.plan.accuracy, method: sky.method },
      ...(sky.method === 'gridded' && { planes: sky.plan.w.planes }),
      ...(sky.empty.length > 0 && { empty: sky.empty }),
      ...(sky.beyond.visibilities > 0 && { beyond: sky.beyond }),
      ...(sky.stokes && { stokes: sky.stokes.history }),
      ...{ smearing: sky.smearing, betweenPixels: loss, ...(clean && { clean }), seconds },
    },
    [
      `${written.join(', ')}: ${pixels} × ${pixels} pixels of ${angleText(cellDeg)} round ${sky.centreName}, ` +
        `peak ${Number(peak.toPrecision(4))} ${unit}, ${formatSeconds(seconds)}`,
      `${sky.integrations} integration${sky.integrations === 1 ? '' : 's'}, ${formatSeconds(sky.durationS)}; ` +
        (beam
          ? `beam ${angleText(beam.majorDeg)} × ${angleText(beam.minorDeg)}, PA ${beam.positionAngleDeg.toFixed(0)}°`
          : 'the pixels are too coarse for a fit of the beam: ask for a smaller --cell'),
      ...(choice.note === undefined ? [] : [choice.note]),
      methodWords(sky.method, sky.plan.accuracy),
      ...alone,
      ...(clean ?? []).map(
        ({ iterations, majorCycles, fluxJy, noiseJy, stop }) =>
          `CLEAN: ${iterations} components in ${majorCycles} major cycles, ${Number(fluxJy.toPrecision(4))} ` +
          `${unit.replace('/beam', '')} in the model, noise ${Number(noiseJy.toPrecision(3))}; stopped by ${stop}`,
      ),
      ...coarseLines(coarse, loss),
      ...beyondLines(sky.beyond),
      ...sharesLines(sky),
      ...emptyLines(sky),
      ...(sky.stokes?.history ?? []),
      ...handLines(sky.hands, feeds),
      ...smearLine('the width of a channel', bandwidth),
      ...smearLine('the length of an integration', time),
    ],
  );
}

/** What is too long for the pixels has no cell in the uv plane. */
export const beyondLines = (beyond: WideSkyImage['beyond']): string[] =>
  beyond.visibilities > 0
    ? [
        `${((100 * beyond.visibilities) / beyond.of).toFixed(1)} % of the visibilities are left out, being of baselines too long for ` +
          `these pixels: with a --cell of ${angleText(holdingCellDeg(beyond))} or less, or natural weights, none is`,
      ]
    : [];

/** How finely the mean of the beam was taken. */
function sharesLines({ shares }: WideSkyImage): string[] {
  if (!shares) return [];
  const most = (of: (share: Share) => unknown): number =>
    Math.max(...shares.map((own) => new Set(own.map(of)).size));
  const [moments, frequencies] = [most(({ moment }) => moment), most(({ frequencyHz }) => frequencyHz)];
  return [
    `over the mean of the beam at ${moments} moment${moments === 1 ? '' : 's'} and ` +
      `${frequencies} ${frequencies === 1 ? 'frequency' : 'frequencies'}, by what they weigh in the image`,
  ];
}

/** Of a cube: what could not be made is blank. */
function emptyLines({ empty, products, frequenciesHz }: WideSkyImage): string[] {
  const channels = new Set(empty.map(({ channel }) => channel)).size;
  if (channels === 0) return [];
  const of = `${channels} of ${frequenciesHz.length} channels`;
  return [
    products.length === 1
      ? `${of} ${channels === 1 ? 'has' : 'have'} no data: blank (NaN) there`
      : `${of} lack ${[...new Set(empty.map(({ product }) => product))].join(', ')}: Stokes planes that take it are ` +
        'blank there (NaN); without --stokes I takes one hand where the other is lost',
  ];
}

/** How every pixel came to be, for people and for the history. */
export const methodWords = (method: WideMethod, accuracy: number): string =>
  method === 'gridded'
    ? `gridded in u, v and w to ${accuracy} of the peak`
    : 'every pixel summed over every visibility, exact';

/** What is made of X or Y alone has Q in it, and that hand's own beam and scale. */
export function handLines(hands: HandTally, feeds: VisibilityHeader['feeds']): string[] {
  const { both, one } = hands;
  const lone = loneHandOf(hands);
  if (lone) return [loneHandNote(lone === 'XX' ? 0 : 1, feeds)];
  return one > 0
    ? [
        `${((100 * one) / (both + one)).toFixed(1)} % of the visibilities of I are of one hand alone, the other being flagged or missing: ` +
          'right for what is not polarised and both hands hear alike; where their beams or gains differ it is that hand’s',
      ]
    : [];
}

/** Told above one per cent. */
export const smearLine = (by: string, part: number): string[] =>
  part > 0.01
    ? [`${by} takes ${(100 * part).toFixed(part > 0.1 ? 0 : 1)} % of a source at the edge of the field`]
    : [];

export function angleText(degrees: number): string {
  const { unit, perDegree } = unitFor(degrees);
  return `${Number((degrees * perDegree).toPrecision(3))}${unit}`;
}
