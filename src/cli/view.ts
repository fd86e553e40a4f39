/** corella view: files that are there already, on the page of a night. */
import type { Command } from 'commander';
import { basename } from 'node:path';
import type { Backend } from '../backend/backend.js';
import { stoppable } from '../core/ending.js';
import { CorellaError, refuse } from '../core/errors.js';
import { median } from '../core/median.js';
import { RADIANS_PER_DEGREE, DEGREES_PER_RADIAN } from '../core/units.js';
import {
  holdsFitsImage,
  holdsGains,
  openFile,
  readFitsImage,
  readGainFile,
  type VisibilityFile,
} from '../formats/index.js';
import { matchGains, through, prepareImage } from '../stages/index.js';
import { Steering } from '../live/index.js';
import {
  colourRange,
  openPage,
  pageAddress,
  tokenOf,
  type Frame,
  type Page,
  type SkySource,
} from '../serve/index.js';
import { instant } from '../core/instant.js';
import { skyFrame, type SkyPosition } from '../sky/frame.js';
import { findSources } from '../sky/sources.js';
import { pageLines, tokenIsFor } from './live/page-lines.js';
import { openCaptureInput, showCapture, type CaptureOptions } from './live/view-capture.js';
import { channelFields, channelOptionNames } from './options/channel-options.js';
import { refuseGiven } from './options/command.js';
import { filesOfFolder } from './options/folder.js';
import { useEop } from './options/eop-option.js';
import { fieldOf } from './options/quantity.js';
import { withBackend } from './open.js';
import { outsideLines } from './report/image-notes.js';
import { leftOutWords, parseEpoch } from '../live/index.js';
import { openTerminal } from './report/terminal.js';
import { version } from '../core/program/version.js';
import type { Line } from '../messages/index.js';
import { addHelp } from './startup/help.js';
import { z } from 'zod';
import { again, field, timeS } from '../fields/index.js';
import { pageFields, source } from '../observation/index.js';
import { addFields, type Options } from './options/own.js';
import * as shared from './options/shared.js';

const group = 'Of a capture, where its packets do not say';
const ofCaptures = {
  telescope: again(shared.telescope, { group }),
  stations: again(shared.stations, { group }),
  format: again(source.shape.format, { group }),
  epoch: again(source.shape.epoch, { group }),
  rate: again(shared.rate, { group }),
  frequency: again(shared.frequency, { group }),
  image: field(timeS, {
    ...{ flag: '--image <time>', group, changes: 'never', unit: 's', range: { above: 0 }, default: 1 },
    help: 'an image this often, like 40ms or 10s; a series is a FITS cube in time and an animation (PNG)',
  }),
};
const viewOptions = z.strictObject({
  page: again(shared.pageAddress, { otherwise: '127.0.0.1:8080, or a free port' }),
  tokenFile: pageFields.shape['token-file'],
  field: shared.fieldWidth,
  ...{ ...ofCaptures, ...channelFields, ...shared.computing, ...shared.skyFiles },
});
type ViewOptions = Options<typeof viewOptions>;

export function registerView(program: Command): void {
  const command = program
    .command('view')
    .argument(
      '<file...>',
      'FITS images, visibilities (UVH5, UVFITS …), gains, a capture of packets (pcap); or a folder of them',
    );
  useEop(addFields(command, viewOptions)).action(run);
  addHelp(command, {
    common: ['--page', '--field', '--telescope', '--image', '--token-file', '--backend'],
    examples: [
      ['view first-light', 'what corella demo wrote: its sky, antennas, gains and images'],
      [
        'view first-light/visibilities.uvh5 first-light/gains.json',
        'a calibrated sky, its antennas and its gains',
      ],
      ['view hour.uvfits --field 30', 'of an array too wide for the whole sky'],
      ['view night-*.fits', 'images one after the other, by the slider'],
      ['view capture.pcap --telescope lwasv', 'packets of a capture, as a night'],
    ],
  });
}

/** Of a folder its images, one file of visibilities, and the gains that are for it. */
async function shownOf(path: string): Promise<readonly string[]> {
  const files = await filesOfFolder(path);
  if (!files) return [path];
  const readable = await Promise.all(
    files.map(async (file) => ({ file, kind: await kindOf(file).catch(() => undefined) })),
  );
  const of = (wanted: string): string[] =>
    readable.flatMap(({ file, kind }) => (kind === wanted ? [file] : []));
  const visibilities = of('visibilities').filter((file) => /\.(?:uvh5|uvfits|ms|fitsidi)$/i.test(file));
  // The same data in two formats, the same gains in two formats: one of each is shown.
  const data = visibilities.find((file) => /\.uvh5$/i.test(file)) ?? visibilities.at(0);
  const gains = of('gains').filter((file) => /\.json$/i.test(file));
  const images = of('fits').filter((file) => /\.fits?$/i.test(file));
  const shown = [
    ...(data === undefined ? [] : [data]),
    ...(data !== undefined && gains.length === 1 ? gains : []),
    ...images,
  ];
  return shown.length > 0
    ? shown
    : refuse(
        path,
        'holds no images and no visibilities',
        'name files to show: corella inspect lists a folder',
      );
}

async function run(named: readonly string[], options: ViewOptions, command: Command): Promise<void> {
  const terminal = openTerminal(options);
  const paths = (await Promise.all(named.map(shownOf))).flat();
  if (!paths.some(isCapturePath))
    refuseGiven(
      command,
      [...Object.keys(ofCaptures), ...channelOptionNames],
      'is for captures, and none is shown',
    );
  if (options.epoch !== undefined) parseEpoch(options.epoch, '--epoch');
  await withBackend(options, (backend) =>
    showFiles(paths, {
      ...(typeof options.page === 'string' && { page: options.page }),
      ...(options.tokenFile !== undefined && { tokenFile: options.tokenFile }),
      ...(options.field !== undefined && { fieldDeg: options.field }),
      machine: backend,
      packets: options,
      say: (line) => {
        terminal.say(line);
      },
    }),
  );
}

interface ShowSettings {
  readonly page?: string;
  readonly tokenFile?: string;
  readonly machine: Backend;
  /** The whole sky unless given. */
  readonly fieldDeg?: number;
  readonly say: (line: Line) => void;
  /** How a capture is read. */
  readonly packets?: CaptureOptions;
}

/** Until a signal comes. */
export async function showFiles(paths: readonly string[], settings: ShowSettings): Promise<void> {
  const { machine: backend, say } = settings;
  const kinds = await Promise.all(paths.map(async (path) => ({ path, kind: await kindOf(path) })));
  const of = (wanted: string): string[] => kinds.flatMap(({ path, kind }) => (kind === wanted ? [path] : []));
  if (of('capture').length > 1)
    refuse('view', 'several captures', 'give one: its packets are a night of their own');
  if (of('gains').length > 1)
    refuse('view', 'several files of gains', 'give the one that the data are calibrated with');
  if (of('gains').length === 1 && of('visibilities').length === 0 && of('capture').length === 0)
    refuse(
      of('gains')[0],
      'gains alone cannot be shown, and images are what they are',
      'give the visibilities that the gains are for; corella inspect looks at gains',
    );
  const path = of('capture').at(0);
  const { packets } = settings;
  const input = path === undefined || !packets ? undefined : await openCaptureInput(path, packets, say);
  const stop = stoppable('view');
  const ended = new Promise<void>((resolve) => {
    stop.signal.addEventListener('abort', () => {
      resolve();
    });
    endIt = resolve;
  });
  const page = await openPage({
    ...pageAddress(settings.page),
    ...(settings.tokenFile !== undefined && { token: await tokenOf(settings.tokenFile) }),
    facts: {
      description: paths.join(', '),
      backend: `${backend.kind}: ${backend.description}`,
      version: version(),
      isLive: false,
      showing: paths.map((path) => basename(path)).join(', '),
      folder: '.',
      ...(input?.packets && {
        packets: () => input.packets?.() ?? refuse('view', 'no packets are received'),
      }),
    },
    stop: () => {
      endIt();
    },
    say,
  });
  try {
    for (const path of of('fits')) await showFits(page, path);
    for (const path of of('visibilities')) await showVisibilities(page, path, of('gains').at(0), settings);
    if (input && settings.packets && path !== undefined) {
      say(`${path} is worked through at ${page.url}`);
      const gains = of('gains').at(0);
      stop.signal.addEventListener('abort', () => {
        input.stop();
      });
      const asked = { ...settings.packets, ...(gains && { gains }) };
      await showCapture(page, input, path, asked, backend);
      const { endsEarly, leftOut } = input.packets?.() ?? {};
      if (leftOut) say(`${path}: left out are ${leftOutWords(leftOut).join(', ')}`);
      if (endsEarly) say(`${path} ends early, at byte ${endsEarly.atByte}: ${endsEarly.why}`);
    }
    if (page.state.frame === undefined && page.state.antennas === undefined)
      refuse(
        'view',
        'nothing of these can be shown alone',
        'give the visibilities that the gains are for, or an image',
      );
    const { tokenFile } = settings;
    if (page.isLocal) say(`the sky is at ${page.url}; Ctrl-C ends it`);
    else
      for (const line of pageLines(page, {
        ...{ tokenFile, tokenOption: 'corella view --token-file', tokenIs: tokenIsFor({}) },
      }))
        say(line);
    await ended;
  } finally {
    await page.close();
    await input?.close();
    stop.release();
  }
}
let endIt: () => void = () => undefined;

const isCapturePath = (path: string): boolean => /\.pcap(?:ng)?$/i.test(path);

async function kindOf(path: string): Promise<'fits' | 'gains' | 'visibilities' | 'capture'> {
  if (isCapturePath(path)) return 'capture';
  if (await holdsFitsImage(path)) return 'fits';
  return (await holdsGains(path)) ? 'gains' : 'visibilities';
}

/** 2000-01-01T12:00:00Z. */
const J2000_UNIX_S = 946_728_000;

/** Catalogued sources in an image around a centre, in SIN projection. */
const sourcesIn = (centre: SkyPosition): SkySource[] =>
  findSources('all')
    .filter(({ name }) => name !== 'Sun')
    .flatMap((source) => {
      // Stars stand still: any frame does.
      const { raDeg, decDeg } = source.position(
        skyFrame({ latitudeDeg: 0, longitudeDeg: 0, heightM: 0 }, instant(J2000_UNIX_S)),
      );
      const [dec, dec0] = [decDeg * RADIANS_PER_DEGREE, centre.decDeg * RADIANS_PER_DEGREE];
      const hour = (raDeg - centre.raDeg) * RADIANS_PER_DEGREE;
      const l = Math.cos(dec) * Math.sin(hour);
      const m = Math.sin(dec) * Math.cos(dec0) - Math.cos(dec) * Math.sin(dec0) * Math.cos(hour);
      const n = Math.sin(dec) * Math.sin(dec0) + Math.cos(dec) * Math.cos(dec0) * Math.cos(hour);
      if (n <= 0.03) return [];
      return [
        {
          ...{ name: source.name, l, m },
          altitudeDeg: Math.asin(Math.min(1, n)) * DEGREES_PER_RADIAN,
          azimuthDeg: (Math.atan2(l, m) * DEGREES_PER_RADIAN + 360) % 360,
        },
      ];
    });

/** Stokes I, the mean over channels. */
async function showFits(page: Page, path: string): Promise<void> {
  const { pixels, channels, pixelSize, centre, unit, details, values } = await readFitsImage(path);
  const size = pixels * pixels;
  const plane = new Float32Array(size);
  for (let at = 0; at < size; at++) {
    let [sum, filled] = [0, 0];
    for (let c = 0; c < channels; c++) {
      const value = values[c * size + at];
      if (Number.isNaN(value)) continue;
      sum += value;
      filled++;
    }
    plane[at] = filled > 0 ? sum / filled : NaN;
  }
  const { 'DATE-OBS': date } = details;
  const time = typeof date === 'string' ? date : '';
  const unixS = Number.isNaN(Date.parse(`${time}Z`))
    ? page.state.film.all.length
    : Date.parse(`${time}Z`) / 1000;
  const halfWidth = Math.min(1, (pixelSize * pixels) / 2);
  const frame: Frame = {
    unixS,
    plane,
    head: {
      topic: 'sky',
      shape: [pixels, pixels],
      time: `${time}Z`,
      durationS: Number(details.EXPTIME ?? NaN),
      number: page.state.totals.images + 1,
      ageS: 0,
      everyS: Infinity,
      ...{ pixelSize, halfWidth, unit, road: basename(path) },
      ...colourRange(plane),
      sources: sourcesIn(centre),
    },
  };
  page.state.show(frame);
}

/** So many images at most: a long file is looked at, not worked through. */
const MOST_IMAGES = 48;

async function showVisibilities(
  page: Page,
  path: string,
  gainsPath: string | undefined,
  settings: ShowSettings,
): Promise<void> {
  const file = await openFile(path);
  try {
    if (file.kind !== 'visibilities')
      return refuse(
        path,
        `holds ${file.kind}`,
        'corella correlate makes visibilities of it, corella inspect looks at it',
      );
    await showIntegrations(page, file, gainsPath, settings);
  } finally {
    await file.close();
  }
}

async function showIntegrations(
  page: Page,
  file: VisibilityFile,
  gainsPath: string | undefined,
  { machine: backend, fieldDeg, say }: ShowSettings,
): Promise<void> {
  const { telescope, header } = file;
  const { frequenciesHz, channelWidthHz } = header;
  const calibrated =
    gainsPath === undefined
      ? undefined
      : matchGains(await readGainFile(gainsPath), gainsPath, telescope, frequenciesHz);
  const image = { field: fieldOf(fieldDeg), kernelSize: 5 } as const;
  const common = { backend, telescope, frequenciesHz };
  const imaging = { ...common, image, weight: 'natural', autos: 'leave-out' } as const;
  const stage = prepareImage({ ...imaging, ...(calibrated && { calibrated }) });
  const every = Math.ceil(file.integrationCount / MOST_IMAGES);
  let steering: Steering | undefined;
  let [number, images] = [0, 0];
  const refused: string[] = [];
  const tell = (what: string): void => {
    const line = `${basename(file.path)}: ${what}`;
    say(line);
    page.note('corella', line);
  };
  try {
    for await (const one of file.integrations()) {
      if (number++ % every !== 0) continue;
      if (!steering) {
        const { durationS: integrationS, flaggedInputs, counts } = one;
        steering = new Steering({ flaggedInputs, integrationS, ...(calibrated && { calibrated }) });
        const road = { everyS: integrationS, road: 'visibilities', weight: 'natural', image } as const;
        page.state.begin({
          live: { ...common, integrationS, align: 'first-sample', flaggedInputs, imaging: road, steering },
          channelWidthHz,
          spectrumRateHz: Math.max(1, median(counts)) / integrationS,
          sources: findSources('all'),
        });
        page.showGains(steering);
      }
      page.state.integration(one);
      const sky = await through(stage, one).catch((error: unknown) => {
        if (!(error instanceof CorellaError)) throw error;
        refused.push(error.message);
      });
      if (!sky) continue;
      if (images++ === 0) for (const { text } of outsideLines(header, sky.frame, image.field)) tell(text);
      page.state.image(sky);
      page.state.keepSpectra(sky);
    }
  } finally {
    await stage.close();
  }
  if (refused.length > 0)
    tell(`no image of ${refused.length} of the integrations; of the first: ${refused[0]}`);
}
