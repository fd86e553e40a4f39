/** Compares the results of first light with the simulated truth. */
import { compareGains, type GainComparison } from '../calibrate/index.js';
import type { ChannelisePlan } from '../channelise/index.js';
import { gainsCA, type GainsCA, type ImageCPML } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { averageChannels, measureSource, placeOf, stokesI, type ImageGeometry } from '../image/index.js';
import { sourcesUp, type SourceUp } from '../sky/above.js';
import { trueGains } from '../sky/input-gains.js';
import type { SimulationPlan } from '../sky/simulation-plan.js';
import type { Telescope } from '../telescope/telescope.js';
import type { CalibratedIntegration, SkyImage } from '../stages/index.js';

/**
 * The expected gains: the simulated gains times every scale between the antenna and the spectra. White noise of power S
 * leaves the F-engine with power S·gain²·Σh² (channelise/plan.ts, defaultGain).
 */
export function expectedGains(
  simulation: SimulationPlan,
  channels: ChannelisePlan,
  frequenciesHz: Float64Array,
): GainsCA {
  const gain =
    typeof channels.gains === 'number'
      ? channels.gains
      : refuse('demo', 'the channels have gains of their own');
  const power = channels.prototype.reduce((sum, tap) => sum + tap * tap, 0);
  const scale = simulation.countsPerRootJy * gain * Math.sqrt(power);
  const truth = trueGains(simulation, frequenciesHz);
  return gainsCA(
    truth.map((value) => value * scale),
    frequenciesHz.length,
    simulation.inputs,
  );
}

export const gainErrors = ({ calibration, plan }: CalibratedIntegration, truth: GainsCA): GainComparison =>
  compareGains(calibration, truth, plan);

export interface FoundSource {
  readonly name: string;
  readonly raDeg: number;
  readonly decDeg: number;
  readonly altitudeDeg: number;
  readonly azimuthDeg: number;
  /** Simulated flux through the element's beam. */
  readonly apparentFluxJy: number;
  /** Peak in the image from visibilities and in the direct image. */
  readonly peakJy: number;
  readonly errorPixels: number;
  readonly directErrorPixels: number;
}

/** A source fainter than this fraction of the brightest is hidden by its sidelobes in a dirty image. */
const BRIGHT_FRACTION = 0.2;
const SEARCH_PIXELS = 3;

/**
 * Half-power width of an array's synthesised beam. Stations that scatter by σ make baselines that scatter by √2·σ, and
 * a Gaussian of those a beam of 2√(2 ln 2)/(2π)·λ/(√2·σ) = 0.265 λ/σ: 1.06 λ/D for a round field.
 */
export function beamPixels(telescope: Telescope, plan: ImageGeometry): number {
  const scatterM = Math.sqrt(
    (variance(telescope.stations.map(({ eastM }) => eastM)) +
      variance(telescope.stations.map(({ northM }) => northM))) /
      2,
  );
  const { frequenciesHz, pixelSize } = plan;
  const wavelengthM = (2 * SPEED_OF_LIGHT_M_PER_S) / (frequenciesHz[0] + frequenciesHz[plan.channels - 1]);
  return (Math.sqrt(2 * Math.LN2) / (Math.PI * Math.SQRT2)) * (wavelengthM / scatterM / pixelSize);
}

function variance(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
}

/** Finds the bright sources at their expected positions in both images, within half a beam. */
export function findBrightSources(
  simulation: SimulationPlan,
  image: SkyImage,
  direct: SkyImage,
): { readonly found: readonly FoundSource[]; readonly faint: readonly SourceUp[] } {
  const up = sourcesUp(simulation.sources, image.frame, 0, {
    telescope: simulation.telescope,
    frequencyHz: simulation.centreFrequencyHz,
  });
  const searchPixels = Math.max(SEARCH_PIXELS, Math.ceil(beamPixels(simulation.telescope, image.plan) / 2));
  const brightest = up.at(0)?.apparentFluxJy ?? 0;
  const planes = [image, direct].map((sky) =>
    stokesI(averageChannels(sky.image, sky.plan, sky.weights), sky.plan, 0),
  );
  const found = up
    .filter(({ apparentFluxJy }) => apparentFluxJy >= BRIGHT_FRACTION * brightest)
    .flatMap(({ source, position, altitudeDeg, azimuthDeg, apparentFluxJy, directionEnu }): FoundSource[] => {
      const place = placeOf(image.plan, directionEnu);
      if (!place || !isShown(image.plan, place)) return [];
      const [seen, seenDirectly] = planes.map((plane) =>
        measureSource(plane, image.plan, place, searchPixels),
      );
      return [
        {
          name: source.name,
          ...position,
          altitudeDeg,
          azimuthDeg,
          apparentFluxJy,
          peakJy: seen.peak,
          errorPixels: seen.errorPixels,
          directErrorPixels: seenDirectly.errorPixels,
        },
      ];
    });
  return { found, faint: up.filter(({ apparentFluxJy }) => apparentFluxJy < BRIGHT_FRACTION * brightest) };
}

/** Whether the pixel at a position is above the horizon and inside the field. */
function isShown({ pixels, pixelSize, shown }: ImageGeometry, { l, m }: { l: number; m: number }): boolean {
  const column = Math.round(l / pixelSize + pixels / 2);
  const row = Math.round(m / pixelSize + pixels / 2);
  return Math.min(row, column) >= 0 && Math.max(row, column) < pixels && shown[row * pixels + column] === 1;
}

/** The largest difference of two images, relative to the highest brightness. */
export function largestDifference(x: ImageCPML, y: ImageCPML): number {
  let difference = 0;
  let largest = 0;
  x.forEach((value, k) => {
    if (Number.isNaN(value) !== Number.isNaN(y[k])) difference = Infinity;
    if (Number.isNaN(value)) return;
    difference = Math.max(difference, Math.abs(value - y[k]));
    largest = Math.max(largest, Math.abs(value));
  });
  return difference / largest;
}
