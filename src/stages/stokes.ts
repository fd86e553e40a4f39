/**
 * Stokes parameters of the sky: the effect of the feeds is undone, in the visibilities of narrow fields by the matrix
 * at the centre, integration by integration, and in snapshots of wide ones pixel by pixel (docs/conventions.md,
 * polarisation).
 */
import { gainsCA, imageCPML, type ImageCPML } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import { adjoint, timesMatrix } from '../core/jones.js';
import { percent, RADIANS_PER_DEGREE } from '../core/units.js';
import type { VisibilityHeader } from '../formats/index.js';
import {
  axesTowards,
  feedJones,
  feedOf,
  inverseJones,
  normalisedRows,
  poleOf,
  rmsOf,
  scaled,
  stationAxes,
  telescopeJones,
  throughFeed,
  type FeedJones,
  type Stokes,
} from '../sky/feeds.js';
import { altitudeDeg, skyFrame, type SkyFrame, type TangentAxes } from '../sky/frame.js';
import type { PhaseCentre } from '../sky/phase-centre.js';
import type { Mount, Telescope } from '../telescope/telescope.js';
import { areBare, divideResponse } from './brightness.js';
import { alongAxes } from './geometry.js';
import {
  calibratedAt,
  type Calibrated,
  type CalibratedAt,
  type SkyImage,
  type StokesFrame,
  type StokesPlanes,
} from './sky-image.js';

/** Values of --feeds: a mount whose rotation is not corrected, or `corrected`, where it is already. */
type FeedsWord = Mount | 'corrected';

/** Fields below this are narrow: one matrix, that at the centre, is undone for all of it. */
export const NARROW_DEG = 10;
/** Longer than this the sky rotates over fixed feeds: 0.5°, which is 1.7 % of Q in U. */
export const SNAPSHOT_S = 120;
/** Lower than this dipoles appear nearly parallel, and Q and U are mostly the error of their model. */
const LEAST_ALTITUDE_DEG = 20;

const LEAST_SINE = Math.sin(LEAST_ALTITUDE_DEG * RADIANS_PER_DEGREE);

/** The telescope with the requested feeds, and the frame of its data. */
export function stokesFrameOf<Of extends Telescope>(
  telescope: Of,
  { feedFrame, feeds, xOrientation }: Partial<Pick<VisibilityHeader, 'feedFrame' | 'feeds' | 'xOrientation'>>,
  asked: FeedsWord | undefined,
): { readonly telescope: Of; readonly frame: StokesFrame } {
  if (asked === 'corrected') return { telescope, frame: { kind: 'sky' } };
  if (asked !== undefined) {
    if (feedFrame === 'sky')
      refuse(
        'feeds',
        `${asked}, and the file states that the rotation of its feeds is applied already`,
        'leave it out, or give corrected',
      );
    return { telescope: { ...telescope, mount: asked }, frame: { kind: 'feeds' } };
  }
  if (feedFrame === 'sky') return { telescope, frame: { kind: 'sky' } };
  if (telescope.polarisations === 1) return { telescope, frame: { kind: 'feeds' } };
  const give = 'give `feeds` altaz, equatorial, fixed, or corrected where it is applied already';
  if (feedFrame === undefined)
    return {
      telescope,
      frame: {
        kind: 'unknown',
        why: `the file does not state whether the rotation of its feeds is applied: ${give}`,
      },
    };
  if (xOrientation === 'unknown' && feeds !== 'circular' && telescope.feedAngleDeg === undefined)
    return { telescope, frame: { kind: 'unknown', why: `the file does not state where X points: ${give}` } };
  return telescope.mount === undefined
    ? { telescope, frame: { kind: 'unknown', why: `the mount of its feeds is unknown: ${give}` } }
    : { telescope, frame: { kind: 'feeds' } };
}

export const leftOut = (why: string): StokesPlanes => ({
  linear: 'left-out',
  history: [`Stokes Q and U are left out: ${why}`],
});

const mountWords = {
  altaz: 'alt-az feeds',
  equatorial: 'equatorial feeds',
  fixed: 'dipoles fixed to the ground',
} as const;

interface SnapshotOptions {
  readonly telescope: Telescope;
  readonly feeds?: 'linear' | 'circular';
  readonly pixels: number;
  readonly pixelCosine: number;
  readonly axes: TangentAxes;
  /** At the middle of the image. */
  readonly frame: SkyFrame;
  /** Whether each product was divided by the beams of X and Y. */
  readonly brightness: 'apparent' | 'beam-corrected';
  /** Without cross hands Q and U cannot be separated, and I is right for unpolarised sources. */
  readonly crossHands: 'known' | 'lacking';
}

/**
 * Undoes the feeds in every pixel; planes stay XX, YY, Re XY, Im XY (or RR …), now of a telescope that tracks the sky.
 */
function undoFeeds(
  image: ImageCPML,
  options: SnapshotOptions,
): { readonly image: ImageCPML; readonly noLinear: Uint8Array } {
  const { telescope, pixels, pixelCosine, axes, brightness, feeds = 'linear' } = options;
  const size = pixels * pixels;
  const channels = image.length / (4 * size);
  const values = Float64Array.from(image);
  const noLinear = new Uint8Array(size);
  const pole = poleOf(options.frame);
  const bare = brightness === 'apparent' && areBare(telescope);
  for (let at = 0; at < size; at++) {
    const l = ((at % pixels) - pixels / 2) * pixelCosine;
    const m = (Math.floor(at / pixels) - pixels / 2) * pixelCosine;
    if (l * l + m * m >= 1) continue;
    const direction = alongAxes(axes, l, m, Math.sqrt(1 - l * l - m * m));
    if (direction.z <= 0) continue;
    const jones = shapeOf(telescope, telescopeJones(telescope, axesTowards(pole, direction)), brightness);
    const isLow = telescope.mount === 'fixed' && direction.z < LEAST_SINE;
    if (isLow) noLinear[at] = 1;
    const isPartial = isLow || options.crossHands === 'lacking';
    for (let c = 0; c < channels; c++) {
      const places = [0, 1, 2, 3].map((p) => (4 * c + p) * size + at);
      const found = stokesOf(
        feeds,
        places.map((place) => image[place]),
      );
      const sky = isPartial ? partlyUndone(jones, found) : undone(jones, found);
      if (Number.isNaN(found.i)) {
        // A single hand has the mean response of both.
        if (bare) for (const place of places) values[place] /= rmsOf(jones) ** 2;
        continue;
      }
      if (!sky) continue;
      productsOf(feeds, sky).forEach((value, p) => (values[places[p]] = value));
    }
  }
  return { image: imageCPML(values, channels, 4, pixels), noLinear };
}

/** Relative to the beam that stays in the brightness: the mean of X and Y, or each one's own where it was divided out. */
function shapeOf(
  telescope: Telescope,
  jones: FeedJones,
  brightness: 'apparent' | 'beam-corrected',
): FeedJones {
  if (telescope.mount !== 'fixed') return jones;
  if (brightness === 'beam-corrected') return normalisedRows(jones);
  return areBare(telescope) ? jones : scaled(jones, 1 / rmsOf(jones));
}

function undone(jones: FeedJones, found: Stokes): Stokes | undefined {
  const inverse = inverseJones(jones);
  return inverse && throughFeed(inverse, found);
}

/** Where Q and U are not available: I is right for unpolarised sources, V always. */
function partlyUndone(jones: FeedJones, { i, q, u, v }: Stokes): Stokes {
  const [a, b, c, d] = jones;
  return { i: i / rmsOf(jones) ** 2, q, u, v: v / (a * d - b * c) };
}

const stokesOf = (feeds: 'linear' | 'circular', [a, b, re, im]: readonly number[]): Stokes =>
  feeds === 'linear'
    ? { i: (a + b) / 2, q: (b - a) / 2, u: re, v: -im }
    : { i: (a + b) / 2, q: re, u: im, v: (a - b) / 2 };

const productsOf = (feeds: 'linear' | 'circular', { i, q, u, v }: Stokes): readonly number[] =>
  feeds === 'linear' ? [i - q, i + q, u, -v] : [i + v, i - v, q, u];

interface SnapshotImage {
  readonly image: ImageCPML;
  readonly durationS: number;
}

/** A snapshot with its Stokes parameters on the sky, or without Q and U and the reason. */
export function snapshotStokes(
  { image, durationS }: SnapshotImage,
  data: StokesFrame,
  options: SnapshotOptions & { readonly autos?: 'include' | 'leave-out' },
): { readonly image: ImageCPML; readonly stokes: StokesPlanes } {
  const { telescope, pixels } = options;
  if (data.kind === 'sky') return { image, stokes: { history: [ASSERTED] } };
  if (data.kind === 'unknown') return { image, stokes: leftOut(data.why) };
  const { mount } = telescope;
  if (!mount) return { image, stokes: leftOut('the mount of its feeds is unknown') };
  const why = lackOf(image, durationS, pixels, options);
  const crossHands = why === undefined ? 'known' : 'lacking';
  const { image: sky, noLinear } = undoFeeds(image, { ...options, crossHands });
  if (why !== undefined) return { image: sky, stokes: leftOut(why) };
  const low =
    mount === 'fixed' ? `; Q and U have no value below ${LEAST_ALTITUDE_DEG} degrees of altitude` : '';
  return {
    image: sky,
    stokes: {
      ...(mount === 'fixed' && { noLinear }),
      history: [
        `Stokes parameters are of the sky (IAU): the response of ${mountWords[mount]} is corrected in every pixel, at the middle of the data${low}`,
      ],
    },
  };
}

/** An image around the zenith, or of an array's plane, with its Stokes parameters on the sky; a single hand in place. */
export function snapshotOnSky<Sky extends SkyImage>(
  sky: Sky,
  data: StokesFrame,
  of: {
    readonly telescope: Telescope;
    readonly feeds?: 'linear' | 'circular';
    /** Divided out of the image beforehand. */
    readonly beam?: unknown;
    readonly crossHands?: 'unknown' | 'open';
    readonly autos: 'include' | 'leave-out';
  },
): Sky {
  const { plan, frame } = sky;
  if (plan.polarisations === 1) {
    if (!of.beam && data.kind === 'feeds') divideResponse(sky, of.telescope);
    return sky;
  }
  return {
    ...sky,
    ...snapshotStokes(sky, data, {
      telescope: of.telescope,
      autos: of.autos,
      feeds: of.feeds,
      pixels: plan.pixels,
      pixelCosine: plan.pixelSize,
      axes: plan.axes,
      frame,
      brightness: of.beam ? 'beam-corrected' : 'apparent',
      crossHands: of.crossHands === undefined ? 'known' : 'lacking',
    }),
  };
}

const ASSERTED =
  'Stokes Q and U are of the sky: the rotation of the feeds is stated to be applied in the data';

function lackOf(
  image: ImageCPML,
  durationS: number,
  pixels: number,
  {
    crossHands,
    feeds = 'linear',
    autos,
    telescope,
  }: SnapshotOptions & { readonly autos?: 'include' | 'leave-out' },
): string | undefined {
  if (crossHands === 'lacking')
    return `the phase between ${feeds === 'linear' ? 'X and Y' : 'R and L'} is unknown (products.gains.cross-hand)`;
  if (autos === 'include')
    return 'autocorrelations are in the image, and the power of receivers is not of the sky (--no-autos)';
  if (durationS > SNAPSHOT_S && telescope.mount !== 'equatorial') return TOO_LONG;
  const size = pixels * pixels;
  for (let first = 0; first < image.length; first += 4 * size) {
    const isEmpty = (p: number): boolean =>
      image.subarray(first + p * size, first + (p + 1) * size).every(Number.isNaN);
    if (isEmpty(0) || isEmpty(1)) continue;
    if (isEmpty(2) || isEmpty(3)) return 'cross hands are missing in some channels';
  }
  return undefined;
}

const TOO_LONG = `the data are longer than ${SNAPSHOT_S / 60} minutes, over which the sky rotates: image shorter parts`;

/** Refused where Q and U of a wide field were requested explicitly. */
export function refuseLong(durationS: number, { mount }: Telescope): void {
  if (durationS > SNAPSHOT_S && mount !== 'equatorial')
    refuse(
      'products.images.stokes',
      `a field of ${NARROW_DEG} degrees or more over ${(durationS / 60).toFixed(0)} minutes: the sky rotates over the feeds, and Q and U with it`,
      `make a series: image ${SNAPSHOT_S / 60} minutes at a time (source.from, source.to), or a field below ${NARROW_DEG} degrees`,
    );
}

/** R and L from X and Y: RR = I + V, RL = Q + iU where XX = I − Q, XY = U − iV. */
const CIRCULAR = [1, 0, 0, -1, -1, 0, 0, -1].map((part) => part * Math.SQRT1_2);

/** What is undone in visibilities towards a centre: gains, and the feeds of every station. */
export function withFeeds(
  calibrated: Calibrated | CalibratedAt | undefined,
  telescope: Telescope,
  centre: PhaseCentre,
  { channels, feeds = 'linear' }: { readonly channels: number; readonly feeds?: 'linear' | 'circular' },
): CalibratedAt {
  const feed = feedOf(telescope);
  if (!feed) throw new Error('feeds without a mount');
  const norths = stationAxes(telescope);
  const inputs = 2 * telescope.stations.length;
  return (moment) => {
    const frame = skyFrame(telescope.site, moment);
    const axes = frame.tangentAxes(centre.position(frame));
    if (feed.mount === 'fixed' && axes.n.z < LEAST_SINE)
      refuse(
        'products.images.stokes',
        `the centre is ${altitudeDeg(axes.n).toFixed(0)} degrees high at part of the data: below ${LEAST_ALTITUDE_DEG} degrees fixed dipoles have no Q and U`,
        'choose times at which it is higher (source.from, source.to), or leave out products.images.stokes',
      );
    const before = calibrated && calibratedAt(calibrated, moment);
    const gains = new Float64Array(2 * channels * inputs);
    const leakage = new Float64Array(2 * channels * inputs);
    norths.forEach((north, s) => {
      const real = shapeOf(telescope, feedJones(feed, axes, north), 'apparent').flatMap((value) => [
        value,
        0,
      ]);
      const own = feeds === 'linear' ? real : timesMatrix(timesMatrix(CIRCULAR, real), adjoint(CIRCULAR));
      for (let c = 0; c < channels; c++) {
        const at = 2 * (c * inputs + 2 * s);
        const [g, d] = [before?.gains.subarray(at, at + 4), before?.leakage?.subarray(at, at + 4)];
        const of = g
          ? timesMatrix([g[0], g[1], d?.[0] ?? 0, d?.[1] ?? 0, d?.[2] ?? 0, d?.[3] ?? 0, g[2], g[3]], own)
          : own;
        gains.set([of[0], of[1], of[6], of[7]], at);
        leakage.set([of[2], of[3], of[4], of[5]], at);
      }
    });
    return {
      gains: gainsCA(gains, channels, inputs),
      leakage: gainsCA(leakage, channels, inputs),
      solved: before?.solved ?? new Uint8Array(channels * inputs).fill(1),
      crossHands: before?.crossHands ?? new Uint8Array(channels).fill(1),
    };
  };
}

interface EdgeError {
  /** Of an unpolarised source, over its I. */
  readonly ofI: number;
  /** Of a linearly polarised one, over its polarised flux. */
  readonly ofLinear: number;
}

/** The error of Q and U at the edge of a narrow field, where feeds differ from those at its centre. */
export function edgeError(
  telescope: Telescope,
  centre: PhaseCentre,
  halfWidth: number,
  moments: readonly SkyFrame[],
): EdgeError {
  let [ofI, ofLinear] = [0, 0];
  for (const frame of moments) {
    const axes = frame.tangentAxes(centre.position(frame));
    const pole = poleOf(frame);
    const inverse = inverseJones(telescopeJones(telescope, axes));
    if (!inverse) continue;
    for (let k = 0; k < 8; k++) {
      const [l, m] = [Math.cos((k * Math.PI) / 4) * halfWidth, Math.sin((k * Math.PI) / 4) * halfWidth];
      const there = axesTowards(pole, alongAxes(axes, l, m, Math.sqrt(1 - l * l - m * m)));
      const off = (stokes: Stokes): number => {
        const { i, q, u } = throughFeed(inverse, throughFeed(telescopeJones(telescope, there), stokes));
        return Math.hypot(q / i - stokes.q, u / i - stokes.u);
      };
      ofI = Math.max(ofI, off({ i: 1, q: 0, u: 0, v: 0 }));
      ofLinear = Math.max(ofLinear, off({ i: 1, q: 1, u: 0, v: 0 }), off({ i: 1, q: 0, u: 1, v: 0 }));
    }
  }
  return { ofI, ofLinear };
}

/** For a narrow field whose visibilities were rotated. */
export const narrowStokes = (mount: Mount, { ofI, ofLinear }: EdgeError): StokesPlanes => ({
  history: [
    `Stokes parameters are of the sky (IAU): ${mountWords[mount]} corrected in the visibilities by their matrix at the centre, integration by integration`,
    `at the edge of the field Q and U are off by up to ${percent(ofLinear)} of the linear polarisation` +
      (ofI > 1e-6 ? ` and ${percent(ofI)} of I` : ''),
  ],
});
