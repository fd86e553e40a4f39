/** Selects one integration, or the sum of all, from a file of visibilities. */
import type { OnProgress } from '../core/progress.js';
import { visibilitiesCBPP, countsCB, countsCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { refuse } from '../core/errors.js';
import { allProductCounts, settleCounts } from '../core/product-counts.js';
import { addSeconds, secondsBetween, type Instant } from '../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import type { VisibilityFile } from '../formats/index.js';
import type { Telescope } from '../telescope/telescope.js';
import { longestBaselineM, stationPositions } from './geometry.js';

/** No sum is longer, however small the array: the sky rotates by an eighth of a degree in this time. */
const LONGEST_SUM_S = 30;
/** How far the sky may rotate during a sum, in widths of the longest baseline's fringes (λ/D). */
const MOST_FRINGES = 0.1;
/** One rotation in a sidereal day of 86,164.1 s. */
const EARTH_TURN_RAD_PER_S = (2 * Math.PI) / 86_164.1;

/** Which part of a file: an integration by its number, or as many from the first as the sky's rotation allows. */
export type IntegrationChoice = number | 'sum';

export interface ChosenIntegration {
  readonly integration: Integration;
  /** The number of the first one in it, how many are in it, and how many the file has. */
  readonly first: number;
  readonly used: number;
  readonly inFile: number;
}

/** Visibilities are summed with their fringes running, so the sky's rotation meanwhile smears the sum. */
export function longestSumS(telescope: Telescope, highestHz: number): number {
  const longestM = longestBaselineM(stationPositions(telescope));
  const fringeRad = SPEED_OF_LIGHT_M_PER_S / highestHz / longestM;
  return Math.min(LONGEST_SUM_S, (MOST_FRINGES * fringeRad) / EARTH_TURN_RAD_PER_S);
}

/** Whether anything in it has weight: a whole integration may be flagged. */
const hasData = ({ counts }: Integration): boolean => counts.some((count) => count > 0);

/** What one solution is made of. */
export interface SolutionSum {
  readonly integration: Integration;
  /** The number of the first integration in it, and how many were summed. */
  readonly first: number;
  readonly used: number;
  /** The end of its solution interval, and the data that completed it. */
  readonly until: Instant;
}

/**
 * Adds consecutive integrations to the sums that gains are solved from. An interval of `everyS` counts from the first
 * integration on; its sum begins with the first integration that has data and is as long as the sky's rotation allows.
 * Without `everyS` there is one sum.
 */
export class SolutionSums {
  /** Intervals without data. */
  empty = 0;
  /** How many integrations were added. */
  seen = 0;
  private readonly mostS: number;
  private begin: Instant | undefined;
  private interval = 0;
  private current: Omit<SolutionSum, 'until'> | undefined;
  private isComplete = false;

  constructor(
    { telescope, frequenciesHz }: { readonly telescope: Telescope; readonly frequenciesHz: Float64Array },
    private readonly everyS = Infinity,
  ) {
    const highestHz = frequenciesHz.reduce((x, y) => Math.max(x, y), 0);
    this.mostS = Math.min(everyS, longestSumS(telescope, highestHz));
  }

  /** Whether further integrations change nothing: the one sum is complete. */
  get isOver(): boolean {
    return this.everyS === Infinity && this.isComplete;
  }

  /** Returns the sums that this one completes. The integration is copied where it is kept. */
  add(integration: Integration): readonly SolutionSum[] {
    const { start, durationS } = integration;
    const number = this.seen++;
    if (this.isOver) return [];
    this.begin ??= start;
    // A rounding error of about a spectrum does not begin an interval.
    const slackS = 0.01 * durationS;
    const beginsS = secondsBetween(this.begin, start);
    const own = Math.floor((beginsS + slackS) / this.everyS);
    const endsS = beginsS + durationS;
    // After a gap in the data no integration completed the interval before it.
    const late = own === this.interval ? [] : this.complete(endsS);
    if (own !== this.interval) [this.interval, this.isComplete] = [own, false];
    if (this.isComplete) return late;
    const { current } = this;
    if (!current || !hasData(current.integration))
      this.current = { integration: copyOf(integration), first: number, used: 1 };
    else if (secondsBetween(current.integration.start, start) + durationS <= this.mostS)
      this.current = {
        ...current,
        integration: addIntegrations(current.integration, integration),
        used: current.used + 1,
      };
    else return [...late, ...this.complete(endsS)];
    return endsS + slackS >= (own + 1) * this.everyS ? [...late, ...this.complete(endsS)] : late;
  }

  /** At the end of the data: returns the unfinished sum. */
  end(): readonly SolutionSum[] {
    return this.complete(0);
  }

  private complete(endsS: number): readonly SolutionSum[] {
    const { current, begin } = this;
    if (this.isComplete || !current || !begin) return [];
    this.current = undefined;
    this.isComplete = true;
    if (this.everyS < Infinity && !hasData(current.integration)) {
      this.empty++;
      return [];
    }
    const intervalS = this.everyS < Infinity ? (this.interval + 1) * this.everyS : 0;
    return [{ ...current, until: addSeconds(begin, Math.max(intervalS, endsS)) }];
  }
}

const copyOf = (one: Integration): Integration => {
  const { channels, polarisations } = one;
  const baselines = one.counts.length / channels;
  return {
    ...one,
    visibilities: visibilitiesCBPP(one.visibilities.slice(), channels, baselines, polarisations),
    counts: countsCB(one.counts.slice(), channels, baselines),
    ...(one.productCounts && {
      productCounts: countsCBPP(one.productCounts.slice(), channels, baselines, polarisations),
    }),
    flaggedInputs: one.flaggedInputs.slice(),
  };
};

/** One integration of a file, or the sum of as many as the sky's rotation allows from the first one with data on. */
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
  const sums = new SolutionSums({ telescope, frequenciesHz: file.header.frequenciesHz });
  let at = 0;
  let sum: SolutionSum | undefined;
  for await (const integration of file.integrations()) {
    if (choice === at) return { integration, first: at, used: 1, inFile };
    if (choice === 'sum') sum = sums.add(integration).at(0);
    at++;
    onProgress?.({ done: at, unit: 'integrations', ...(choice === 'sum' ? {} : { of: choice + 1 }) });
    if (sum) break;
  }
  const { integration, first, used } =
    sum ??
    sums.end().at(0) ??
    refuse(file.path, 'holds no integration', 'it is damaged or cut short: copy it again');
  return { integration, first, used, inFile };
}

/**
 * Visibilities and counts add, product by product where an input is flagged in one only. Flagged in both it stays
 * flagged.
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
  // Values of products without a count are undefined.
  const sums = x.visibilities.map((value, k) => {
    if (!ofX || !ofY) return value + y.visibilities[k];
    const at = Math.floor(k / 2);
    return (ofX[at] > 0 ? value : 0) + (ofY[at] > 0 ? y.visibilities[k] : 0);
  });
  return {
    start: x.start,
    ...shape,
    // The metadata of the two files (`passThrough`) do not apply to their sum.
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

/** At most so many of a list, evenly from its first to its last: for costly items with similar neighbours. */
export function spread<One>(all: readonly One[], most: number): readonly One[] {
  if (all.length <= most) return all;
  return Array.from({ length: most }, (_, k) => all[Math.round((k * (all.length - 1)) / (most - 1))]);
}
