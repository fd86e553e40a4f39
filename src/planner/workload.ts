/** What a telescope asks of a machine, in numbers a planner can count with. */
import { realNumber, refuse, wholeNumber } from '../core/errors.js';
import { median } from '../core/median.js';
import type { Vector3 } from '../core/vector.js';
import { RADIANS_PER_DEGREE, SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { LEAST_PIXELS, MARGIN, MOST_PIXELS, type ImageField, type KernelSize } from '../image/index.js';
import type { Station, Telescope } from '../telescope/telescope.js';

/** What is wanted of the machine, whatever the telescope. */
interface Wanted {
  /** Whether voltages arrive and are channelised here, or spectra that another machine made. */
  readonly input: 'voltages' | 'spectra';
  readonly taps: number;
  /** Seconds of sky in one image. */
  readonly cadenceS: number;
  /** Seconds of sky between two solutions of the gains. */
  readonly calibrateEveryS: number;
  readonly pixels: number;
  readonly field: ImageField;
  readonly kernelSize: KernelSize;
}

export interface WorkloadOptions extends Wanted {
  readonly telescope: Telescope;
  /** The telescope's own recording unless given. */
  readonly channels?: number;
  readonly channelWidthHz?: number;
  readonly centreFrequencyHz?: number;
  readonly bits?: 4 | 8;
  /** None unless given. */
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
  /** Tied-array beams beside the images, of as many polarisations as stations have. */
  readonly beams: number;
  /** Grid cells across the aperture, kernels included. */
  readonly apertureCells: number;
  /** Positions of the stations that are imaged: x east, y north, z up. */
  readonly imagedM: readonly Vector3[];
  /** Outriggers that the image leaves out, since one of them widens the grid for all; they are still correlated. */
  readonly leftOut: readonly string[];
}

const WHERE = 'plan';
/** An image may do without this part of the stations if that makes the array compact: outriggers. */
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
    // Even, as images are, and no more than image takes.
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

/** Each antenna is rounded to its nearest cell: two cells of slack, as the image's own plan keeps. */
const fits = (cells: number, pixels: number): boolean => cells + 2 <= pixels;

const acrossM = (stations: readonly Station[]): number => {
  const spread = (values: readonly number[]): number => Math.max(...values) - Math.min(...values);
  return Math.max(spread(stations.map((s) => s.eastM)), spread(stations.map((s) => s.northM)));
};

/** An outrigger is worth leaving out if the rest is this much narrower than all. */
const WORTH_NARROWING = 0.7;

/** All stations, unless a few outriggers make the array much wider than the rest of it is. */
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
