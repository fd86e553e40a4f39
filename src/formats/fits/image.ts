/**
 * Images as FITS with a celestial coordinate system: SIN projection at the phase centre, east to the left
 * (docs/conventions.md, images). Axes: RA, Dec, frequency, Stokes.
 */
import { imageCPML, type ImageCPML } from '../../core/axes.js';
import { addSeconds, formatInstant, refuseLeapSecond, type Instant } from '../../core/instant.js';
import { DEGREES_PER_RADIAN } from '../../core/units.js';
import type { SkyPosition } from '../../sky/frame.js';
import {
  headerBytes,
  integerCard,
  logicalCard,
  paddedBytes,
  realCard,
  refuseUneven,
  remarkCards,
  textCards,
} from './fits.js';
import { firstCode } from '../io/gather.js';
import { writeOutput, type OutputFile } from '../io/output.js';
import { tableBytes } from './table.js';

export interface FitsImage {
  readonly image: ImageCPML;
  readonly pixels: number;
  /** Direction cosine from one pixel to the next. */
  readonly pixelSize: number;
  readonly polarisations: 1 | 2;
  /** Which polarisation a single one is, if not the first. */
  readonly hand?: 0 | 1;
  /** What polarisations 0 and 1 are: X and Y by default, or R and L. */
  readonly feeds?: 'linear' | 'circular';
  /** One per channel of the image; the band centre if channels were averaged. */
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
  /** A single plane that is already Stokes I, of two polarisations. */
  readonly stokes?: 'I';
  readonly crossHands?: CrossHandLack;
  /** Stokes Q and U are omitted: their frame is unknown or unavailable. */
  readonly linear?: 'left-out';
  /** noLinear : [m][l], 1 where Q and U have no value. */
  readonly noLinear?: Uint8Array;
  /** The fitted beam; for a cube, one channel's beam that represents all. */
  readonly beam?: FitsBeam;
  /** beams : [c], of a cube with a beam per channel. */
  readonly beams?: readonly (FitsBeam | undefined)[];
  readonly centre: SkyPosition;
  readonly start: Instant;
  readonly durationS: number;
  /** Of its integrations together, where there are gaps between them. */
  readonly exposureS?: number;
  readonly telescope: string;
  readonly object: string;
  /** Jy/beam, or counts if uncalibrated. */
  readonly unit: string;
  /** Whether the brightness is divided by the element beam; absent where that is meaningless. */
  readonly brightness?: 'apparent' | 'beam-corrected';
  readonly history: readonly string[];
}

/**
 * The phase between X and Y is unknown, so Stokes parameters from the cross hands would be mixed, and are omitted.
 * `open`: Q, U and V are all subject to an unknown rotation, and only I is written.
 */
export type CrossHandLack = 'unknown' | 'open';

/** The weights of our four products in each Stokes plane (docs/conventions.md, polarisation). */
const stokesWeights = {
  // Of XX, YY, Re XY, Im XY.
  linear: [
    [0.5, 0.5, 0, 0],
    [-0.5, 0.5, 0, 0],
    [0, 0, 1, 0],
    [0, 0, 0, -1],
  ],
  // Of RR, LL, Re RL, Im RL.
  circular: [
    [0.5, 0.5, 0, 0],
    [0, 0, 1, 0],
    [0, 0, 0, 1],
    [0.5, -0.5, 0, 0],
  ],
} as const;

/** The Stokes planes of parallel hands only: I and Q from X and Y, I and V from R and L. */
const parallelStokes = { linear: [0, 1], circular: [0, 3] } as const;

/** Which of I, Q, U, V are written; only 0 if there is one plane. */
function stokesOf({ polarisations, crossHands, linear, feeds = 'linear' }: FitsImage): readonly number[] {
  if (polarisations === 1 || crossHands === 'open') return [0];
  const planes = crossHands === 'unknown' ? parallelStokes[feeds] : [0, 1, 2, 3];
  return linear ? planes.filter((stokes) => stokes === 0 || stokes === 3) : planes;
}

/** States which planes are missing, and how to get them. */
function crossHandHistory({
  polarisations,
  crossHands,
  linear,
  feeds = 'linear',
}: FitsImage): readonly string[] {
  if (polarisations === 1 || crossHands === undefined) return [];
  if (crossHands === 'open')
    return ['Stokes Q, U and V are left out: the model of the gains leaves a rotation of them open'];
  return [
    feeds === 'linear'
      ? `Stokes ${linear ? '' : 'U and '}V ${linear ? 'is' : 'are'} left out: the phase between X and Y is unknown (products.gains.cross-hand)`
      : 'Stokes Q and U are left out: the phase between R and L is unknown (products.gains.cross-hand)',
  ];
}

/** FITS Stokes codes: I, Q, U, V are 1 to 4; a single XX is −5, YY −6, RR −1, LL −2. */
const firstStokes = ({ polarisations, stokes, hand = 0, feeds = 'linear' }: FitsImage): number =>
  polarisations === 2 || stokes === 'I' ? 1 : firstCode[feeds] - hand;

/** Writes to an open file; the caller finishes it. */
export async function encodeFitsImage(
  output: Pick<OutputFile, 'path' | 'write'>,
  file: FitsImage,
): Promise<void> {
  const { pixels, polarisations, frequenciesHz } = file;
  const channels = frequenciesHz.length;
  const products = polarisations === 1 ? 1 : 4;
  imageCPML(file.image, channels, products, pixels);
  refuseLeapSecond(output.path, file.start, addSeconds(file.start, file.durationS / 2));
  refuseUneven(output.path, frequenciesHz, 'average the channels, or image those that are');
  const planes = stokesOf(file);
  await output.write(headerBytes(headerCards(file, channels, planes)));
  // One plane at a time, so that a large cube is not in memory twice.
  const plane = new DataView(new ArrayBuffer(4 * pixels * pixels));
  for (const stokes of planes) {
    for (let c = 0; c < channels; c++) {
      fillPlane(plane, file, c, stokes, products);
      await output.write(new Uint8Array(plane.buffer));
    }
  }
  const size = 4 * pixels * pixels * channels * planes.length;
  await output.write(new Uint8Array(paddedBytes(size) - size));
  if (file.beams) await output.write(beamsTable(file.beams, planes.length));
}

/** Writes an image with its coordinates, complete or not at all. */
export const writeFitsImage = (path: string, file: FitsImage): Promise<void> =>
  writeOutput(path, (output) => encodeFitsImage(output, file));

/** Big-endian float32, row 0 in the south, columns from east to west. */
function fillPlane(
  plane: DataView,
  { image, pixels, noLinear, feeds = 'linear' }: FitsImage,
  channel: number,
  stokes: number,
  products: 1 | 4,
): void {
  const weights = products === 1 ? [1] : stokesWeights[feeds][stokes];
  const size = pixels * pixels;
  for (let row = 0; row < pixels; row++) {
    for (let column = 0; column < pixels; column++) {
      const from = row * pixels + (pixels - 1 - column);
      let value = 0;
      for (const [product, weight] of weights.entries()) {
        if (weight !== 0) value += weight * image[(channel * products + product) * size + from];
      }
      if ((stokes === 1 || stokes === 2) && noLinear?.[from] === 1) value = Number.NaN;
      plane.setFloat32(4 * (row * pixels + column), value);
    }
  }
}

function headerCards(file: FitsImage, channels: number, planes: readonly number[]): string[] {
  const { pixels, frequenciesHz } = file;
  const time = (moment: Instant): string => formatInstant(moment, 3).replace('Z', '');
  return [
    logicalCard('SIMPLE', true),
    integerCard('BITPIX', -32),
    integerCard('NAXIS', 4),
    integerCard('NAXIS1', pixels),
    integerCard('NAXIS2', pixels),
    integerCard('NAXIS3', channels),
    integerCard('NAXIS4', planes.length),
    ...skyAxes(file),
    ...axis(
      3,
      'FREQ',
      frequenciesHz[0],
      channels > 1 ? (frequenciesHz[channels - 1] - frequenciesHz[0]) / (channels - 1) : file.channelWidthHz,
      1,
      'Hz',
    ),
    ...axis(4, 'STOKES', firstStokes(file), planes.length > 1 ? planes[1] - planes[0] : 1, 1, ''),
    ...textCards('RADESYS', 'ICRS'),
    realCard('EQUINOX', 2000),
    // At the zenith the centre is the projection's own pole.
    realCard('LONPOLE', 180),
    ...textCards('SPECSYS', 'TOPOCENT'),
    realCard('RESTFRQ', frequenciesHz[Math.floor(channels / 2)], 'Hz'),
    ...textCards('BUNIT', file.unit),
    ...textCards('BTYPE', 'Intensity'),
    ...(file.brightness
      ? [logicalCard('PBCOR', file.brightness === 'beam-corrected', 'element beam divided out of brightness')]
      : []),
    ...beamCards(file),
    ...(file.beams
      ? [logicalCard('EXTEND', true), logicalCard('CASAMBM', true, 'a beam for each channel, table BEAMS')]
      : []),
    ...textCards('TELESCOP', file.telescope),
    ...textCards('INSTRUME', file.telescope),
    ...textCards('OBJECT', file.object),
    ...textCards('TIMESYS', 'UTC'),
    ...textCards('DATE-OBS', time(file.start), 'start'),
    ...textCards('DATE-AVG', time(addSeconds(file.start, file.durationS / 2)), 'middle'),
    realCard('EXPTIME', file.exposureS ?? file.durationS, 's, sum of the integrations'),
    realCard('TELAPSE', file.durationS, 's, from the first to the last'),
    ...textCards('ORIGIN', 'corella'),
    ...[...file.history, ...crossHandHistory(file)].flatMap((line) => remarkCards('HISTORY', line)),
  ];
}

/** The two axes of the sky. Columns run from east to west: the centre, our column n/2, is the n/2 from 1. */
export function skyAxes({ pixels, pixelSize, centre }: Pick<FitsImage, 'pixels' | 'pixelSize' | 'centre'>) {
  const stepDeg = pixelSize * DEGREES_PER_RADIAN;
  return [
    ...axis(1, 'RA---SIN', centre.raDeg, -stepDeg, pixels / 2, 'deg'),
    ...axis(2, 'DEC--SIN', centre.decDeg, stepDeg, pixels / 2 + 1, 'deg'),
  ];
}

export const axis = (
  n: number,
  type: string,
  value: number,
  step: number,
  pixel: number,
  unit: string,
): string[] => [
  ...textCards(`CTYPE${n}`, type),
  realCard(`CRVAL${n}`, value),
  realCard(`CDELT${n}`, step),
  realCard(`CRPIX${n}`, pixel),
  ...(unit === '' ? [] : textCards(`CUNIT${n}`, unit)),
];

export const beamCards = ({ beam }: Pick<FitsImage, 'beam'>): string[] =>
  beam
    ? [
        realCard('BMAJ', beam.majorDeg, 'deg'),
        realCard('BMIN', beam.minorDeg, 'deg'),
        realCard('BPA', beam.positionAngleDeg, 'deg'),
      ]
    : [];

interface FitsBeam {
  /** Full widths at half maximum. */
  readonly majorDeg: number;
  readonly minorDeg: number;
  readonly positionAngleDeg: number;
}

const ARCSECONDS = 3600;

const UNKNOWN: FitsBeam = { majorDeg: 0, minorDeg: 0, positionAngleDeg: 0 };

/** beams : [c]; the same for every Stokes plane. */
function beamsTable(beams: readonly (FitsBeam | undefined)[], stokes: number): Uint8Array {
  const rows = Array.from({ length: stokes }, (_, pol) =>
    beams.map((beam = UNKNOWN, channel) => ({ ...beam, channel, pol })),
  ).flat();
  return tableBytes(
    'BEAMS',
    [
      {
        name: 'BMAJ',
        form: '1E',
        unit: 'arcsec',
        rows: rows.map(({ majorDeg }) => [ARCSECONDS * majorDeg]),
      },
      {
        name: 'BMIN',
        form: '1E',
        unit: 'arcsec',
        rows: rows.map(({ minorDeg }) => [ARCSECONDS * minorDeg]),
      },
      {
        name: 'BPA',
        form: '1E',
        unit: 'deg',
        rows: rows.map(({ positionAngleDeg }) => [positionAngleDeg]),
      },
      { name: 'CHAN', form: '1J', rows: rows.map(({ channel }) => [channel]) },
      { name: 'POL', form: '1J', rows: rows.map(({ pol }) => [pol]) },
    ],
    [integerCard('NCHAN', beams.length), integerCard('NPOL', stokes)],
  );
}
