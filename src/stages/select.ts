/** Taking one integration, or the sum of all, out of a file of visibilities. */
import type { OnProgress } from '../core/progress.js';
import { visibilitiesCBPP, countsCB } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { allProductCounts, settleCounts } from '../core/product-counts.js';
import { secondsBetween, type Instant } from '../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import type { VisibilityFile } from '../formats/index.js';
import type { Telescope } from '../telescope/telescope.js';
import { stationPositions } from './geometry.js';

/** No sum is longer, however small the array: the sky turns by an eighth of a degree in this time. */
const LONGEST_SUM_S = 30;
/** How far the sky may turn under a sum, in widths of the longest baseline's fringes (λ/D). */
const MOST_FRINGES = 0.1;
/** A turn in a sidereal day of 86,164.1 s. */
const EARTH_TURN_RAD_PER_S = (2 * Math.PI) / 86_164.1;

/** Which part of a file: an integration by its number, or as many from the first as the sky allows. */
export type IntegrationChoice = number | 'sum';

export interface ChosenIntegration {
  readonly integration: Integration;
  /** The number of the first that is in it, how many are, and how many the file has. */
  readonly first: number;
  readonly used: number;
  readonly inFile: number;
}

/** Visibilities are summed with their fringes running, so what the sky turns meanwhile is smeared. */
export function longestSumS(telescope: Telescope, highestHz: number): number {
  const positions = stationPositions(telescope);
  let longestM = 0;
  positions.forEach((x, i) => {
    for (const y of positions.slice(0, i))
      longestM = Math.max(longestM, Math.hypot(x.x - y.x, x.y - y.y, x.z - y.z));
  });
  const fringeRad = SPEED_OF_LIGHT_M_PER_S / highestHz / longestM;
  return Math.min(LONGEST_SUM_S, (MOST_FRINGES * fringeRad) / EARTH_TURN_RAD_PER_S);
}

/** Whether anything of it has weight: a time may be flagged as a whole. */
const hasData = ({ counts }: Integration): boolean => counts.some((count) => count > 0);

/** One integration of a file, or the sum of as many as the moving sky allows from the first on that has data. */
export async function chooseIntegration(
  file: VisibilityFile,
  choice: IntegrationChoice,
  onProgress?: OnProgress,
): Promise<ChosenIntegration> {
  const { integrationCount: inFile, telescope } = file;
  if (choice !== 'sum' && choice >= inFile) {
    refuse(
      file.path,
      `has ${inFile} integration${inFile === 1 ? '' : 's'}, so there is no number ${choice}`,
      inFile === 1 ? 'give 0, or leave it out' : `give one from 0 to ${inFile - 1}`,
    );
  }
  const highestHz = file.header.frequenciesHz.reduce((x, y) => Math.max(x, y), 0);
  const mostS = choice === 'sum' ? longestSumS(telescope, highestHz) : 0;
  let [at, first] = [0, 0];
  let sum: Integration | undefined;
  for await (const integration of file.integrations()) {
    if (choice === at) return { integration, first: at, used: 1, inFile };
    if (choice === 'sum') {
      if (sum && hasData(sum) && secondsBetween(sum.start, integration.start) + integration.durationS > mostS)
        break;
      if (!sum || !hasData(sum)) [sum, first] = [integration, at];
      else sum = addIntegrations(sum, integration);
    }
    at++;
    onProgress?.({ done: at, unit: 'integrations', ...(choice === 'sum' ? {} : { of: choice + 1 }) });
  }
  return sum
    ? { integration: sum, first, used: at - first, inFile }
    : refuse(file.path, 'holds no integration', 'it is damaged or cut short: copy it again');
}

/**
 * Sums of stretches of `everyS` from the file's first integration on, each as long as the turning sky allows and about the
 * stretch's own beginning; from the first on that has data. Those that have none are told of.
 */
export async function* integrationsEvery(
  file: VisibilityFile,
  everyS: number,
  onEmpty?: () => void,
): AsyncGenerator<Integration> {
  const highestHz = file.header.frequenciesHz.reduce((x, y) => Math.max(x, y), 0);
  const mostS = Math.min(everyS, longestSumS(file.telescope, highestHz));
  let first: Instant | undefined;
  let sum: Integration | undefined;
  let stretch = 0;
  const isFull = (one: Integration): boolean => {
    if (hasData(one)) return true;
    onEmpty?.();
    return false;
  };
  for await (const integration of file.integrations()) {
    first ??= integration.start;
    // A spectrum's worth of rounding is no stretch of its own.
    const own = Math.floor(
      (secondsBetween(first, integration.start) + 0.01 * integration.durationS) / everyS,
    );
    if (sum && own !== stretch) {
      if (isFull(sum)) yield sum;
      sum = undefined;
    }
    stretch = own;
    if (!sum || !hasData(sum)) sum = integration;
    else if (secondsBetween(sum.start, integration.start) + integration.durationS <= mostS)
      sum = addIntegrations(sum, integration);
  }
  if (sum && isFull(sum)) yield sum;
}

/**
 * Sums are sums: visibilities and counts add, product by product where an input is flagged in one alone. Flagged in both it
 * stays flagged.
 */
export function addIntegrations(x: Integration, y: Integration): Integration {
  if (x.visibilities.length !== y.visibilities.length || x.counts.length !== y.counts.length) {
    refuse('integrations', 'of different shapes cannot be summed', 'image or calibrate them one by one');
  }
  const { channels, stations, polarisations } = x;
  const shape = { channels, stations, polarisations };
  const baselines = (stations * (stations + 1)) / 2;
  const isAlike =
    !x.productCounts && !y.productCounts && x.flaggedInputs.every((flag, a) => flag === y.flaggedInputs[a]);
  const [ofX, ofY] = isAlike ? [] : [allProductCounts(x), allProductCounts(y)];
  // What a product without a count holds is nobody's.
  const sums = x.visibilities.map((value, k) => {
    if (!ofX || !ofY) return value + y.visibilities[k];
    const at = Math.floor(k / 2);
    return (ofX[at] > 0 ? value : 0) + (ofY[at] > 0 ? y.visibilities[k] : 0);
  });
  return {
    start: x.start,
    ...shape,
    // What the files said of one or the other (`asStored`) does not hold for their sum.
    durationS: secondsBetween(x.start, y.start) + y.durationS,
    visibilities: visibilitiesCBPP(sums, channels, baselines, polarisations),
    ...(ofX && ofY
      ? settleCounts(
          shape,
          ofX.map((count, k) => count + ofY[k]),
        )
      : {
          counts: countsCB(
            x.counts.map((value, k) => value + y.counts[k]),
            channels,
            baselines,
          ),
          flaggedInputs: x.flaggedInputs,
        }),
  };
}

/** At most so many of a list, evenly from its first to its last: where each costs, and neighbours are alike. */
export function spread<One>(all: readonly One[], most: number): readonly One[] {
  if (all.length <= most) return all;
  return Array.from({ length: most }, (_, k) => all[Math.round((k * (all.length - 1)) / (most - 1))]);
}
