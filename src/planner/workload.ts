/** A telescope's requirements as numbers for the planner. */
import { realNumber, refuse, wholeNumber } from '../core/errors.js';
import { median } from '../core/median.js';
import type { Vector3 } from '../core/vector.js';
import { RADIANS_PER_DEGREE, SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { LEAST_PIXELS, MARGIN, MOST_PIXELS, type ImageField, type KernelSize } from '../image/index.js';
import type { Station, Telescope } from '../telescope/telescope.js';

/** Requirements independent of the telescope. */
interface Wanted {
  /** Whether the input is voltages to channelise, or spectra from another machine. */
  readonly input: 'voltages' | 'spectra';
  readonly taps: number;
  /** Seconds of data per image. */
  readonly cadenceS: number;
  /** Seconds of data between two gain solutions. */
  readonly calibrateEveryS: number;
  readonly pixels: number;
  readonly field: ImageField;
  readonly kernelSize: KernelSize;
}

export interface WorkloadOptions extends Wanted {
  readonly telescope: Telescope;
  /** By default the telescope's own recording. */
  readonly channels?: number;
  readonly channelWidthHz?: number;
  readonly centreFrequencyHz?: number;
  readonly bits?: 4 | 8;
  /** By default none. */
  readonly beams?: number;
}

export interface Workload extends Wanted {
  readonly title: string;
  readonly stations: number;
  readonly polarisations: 1 | 2;
  readonly channels: number;
  readonly channelWidthHz: number;
  readonly highestHz: number;
  readonly bits: 4 | 8;
  /** Tied-array beams in addition to the images, with as many polarisations as the stations have. */
  readonly beams: number;
  /** Grid cells across the aperture, kernels included. */
  readonly apertureCells: number;
  /** Positions of the stations that are imaged: x east, y north, z up. */
  readonly imagedM: readonly Vector3[];
  /** Outriggers that are not imaged, since one of them would widen the grid for all; they are still correlated. */
  readonly leftOut: readonly string[];
}

const WHERE = 'plan';
/** Largest fraction of stations left out of an image to make the array compact: outriggers. */
const MOST_LEFT_OUT = 0.02;

export function workloadOf(options: WorkloadOptions): Workload {
  const { telescope, input, taps, cadenceS, calibrateEveryS, field, kernelSize } = options;
  const beams = wholeNumber(WHERE, 'beams', options.beams ?? 0, 0, 4096);
  const { recording } = telescope;
  const channels = wholeNumber(WHERE, 'channels', options.channels ?? recording.channels, 1, 2 ** 20);
  const ownWidthHz = recording.sampleRateHz / recording.channels;
  const channelWidthHz = realNumber(
    WHERE,
    'channel width in Hz',
    options.channelWidthHz ?? ownWidthHz,
    1,
    1e10,
  );
  realNumber(WHERE, 'cadence in seconds', cadenceS, 1 / channelWidthHz, 1e6);
  realNumber(WHERE, 'seconds between calibrations', calibrateEveryS, cadenceS, 1e9);
  const centreHz = options.centreFrequencyHz ?? recording.centreFrequencyHz;
  const highestHz = centreHz + (channels * channelWidthHz) / 2;
  const { length } = telescope.stations;
  if (length < 3)
    refuse(
      WHERE,
      `${length} station${length === 1 ? ' is' : 's are'} too few`,
      'gains take at least three stations',
    );
  const pixels = wholeNumber(WHERE, 'pixels', options.pixels, LEAST_PIXELS, MOST_PIXELS);
  if (pixels % 2 === 1) refuse(WHERE, `${pixels} pixels`, `give an even number such as ${pixels + 1}`);
  const halfWidth = field.kind === 'all-sky' ? 1 : Math.sin((field.widthDeg / 2) * RADIANS_PER_DEGREE);
  const cellsPerM = (2 * MARGIN * halfWidth * highestHz) / SPEED_OF_LIGHT_M_PER_S;
  const { stations, leftOut } = compactPart(telescope.stations);
  const apertureCells = Math.ceil(acrossM(stations) * cellsPerM) + kernelSize;
  if (!fits(apertureCells, pixels)) {
    // Even, as for images, and no more than image accepts.
    const neededPixels = 2 * Math.ceil((apertureCells + 2) / 2);
    const narrower = (halfWidth * (pixels - kernelSize - 2)) / (acrossM(stations) * cellsPerM);
    const widestDeg = Number(((0.995 * 2 * Math.asin(narrower)) / RADIANS_PER_DEGREE).toPrecision(3));
    refuse(
      WHERE,
      `${telescope.title} is ${acrossM(stations).toFixed(0)} m across and needs ${apertureCells + 2} grid cells for this ` +
        `field at ${(highestHz / 1e6).toFixed(1)} MHz, where ${pixels} pixels give ${pixels}`,
      `take ${neededPixels <= MOST_PIXELS ? `products.images.pixels: ${neededPixels} or ` : ''}products.images.field: ${widestDeg}`,
    );
  }
  return {
    title: telescope.title,
    stations: telescope.stations.length,
    polarisations: telescope.polarisations,
    channels,
    channelWidthHz,
    highestHz,
    bits: options.bits ?? recording.bits,
    input,
    taps,
    cadenceS,
    calibrateEveryS,
    pixels,
    field,
    kernelSize,
    beams,
    apertureCells,
    imagedM: stations.map(({ eastM, northM, upM }) => ({ x: eastM, y: northM, z: upM })),
    leftOut,
  };
}

/** Each antenna is rounded to its nearest cell: two spare cells, as in the image's own plan. */
const fits = (cells: number, pixels: number): boolean => cells + 2 <= pixels;

const acrossM = (stations: readonly Station[]): number => {
  const spread = (values: readonly number[]): number => Math.max(...values) - Math.min(...values);
  return Math.max(spread(stations.map((s) => s.eastM)), spread(stations.map((s) => s.northM)));
};

/** Outriggers are left out if the rest is this much narrower than all. */
const WORTH_NARROWING = 0.7;

/** All stations, unless a few outriggers make the array much wider than the rest. */
function compactPart(all: readonly Station[]): { stations: readonly Station[]; leftOut: readonly string[] } {
  const [east, north] = [median(all.map((s) => s.eastM)), median(all.map((s) => s.northM))];
  const outwards = [...all].sort(
    (a, b) => Math.hypot(a.eastM - east, a.northM - north) - Math.hypot(b.eastM - east, b.northM - north),
  );
  const least = all.length - Math.floor(all.length * MOST_LEFT_OUT);
  for (let kept = all.length - 1; kept >= least; kept--) {
    const stations = outwards.slice(0, kept);
    if (acrossM(stations) <= WORTH_NARROWING * acrossM(all))
      return { stations, leftOut: outwards.slice(kept).map(({ name }) => name) };
  }
  return { stations: all, leftOut: [] };
}
