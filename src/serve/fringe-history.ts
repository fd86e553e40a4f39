/** Live fringes of a few stations: the latest integrations. */
import type { Integration } from '../core/blocks.js';
import { addSeconds } from '../core/instant.js';
import {
  fringeCollector,
  fringesOf,
  type FringeCollector,
  type Fringes,
  MOST_STATIONS,
} from '../inspect/index.js';
import { sourcesUp } from '../sky/above.js';
import { skyFrame } from '../sky/frame.js';
import { fixedCentre } from '../sky/phase-centre.js';
import type { Source } from '../sky/source.js';
import { isUnplaced } from '../telescope/unplaced.js';
import type { Telescope } from '../telescope/telescope.js';
import type { FringesView } from './messages.js';

/** Limits the computation for each display to some milliseconds. */
const LATEST = { channels: 32, rows: 120 } as const;

export interface FringesBegun {
  readonly telescope: Telescope;
  readonly frequenciesHz: Float64Array;
  readonly channelWidthHz: number;
  readonly sources: readonly Source[];
}

export class FringeHistory {
  private collector: FringeCollector | undefined;
  private newest: Integration['start'] | undefined;

  constructor(private readonly begun: FringesBegun) {
    const stations = begun.telescope.stations.length;
    this.isShown = stations >= 2 && stations <= MOST_STATIONS;
  }
  /** Whether there are two to eight stations. */
  readonly isShown: boolean;

  add(one: Integration): void {
    if (!this.isShown) return;
    this.collector ??= fringeCollector({ ...this.begun, polarisations: one.polarisations }, 'page', LATEST);
    this.collector.add(one);
    this.newest = addSeconds(one.start, one.durationS / 2);
  }

  view(): FringesView | undefined {
    const { collector, newest } = this;
    if (!collector || !newest) return undefined;
    return viewOf(fringesOf(collector.series(), this.brightest(newest), 'expect'));
  }

  /** Among the sources named on the sky. */
  private brightest(at: Integration['start']) {
    const { telescope, sources, frequenciesHz } = this.begun;
    if (isUnplaced(telescope)) return undefined;
    const first = sourcesUp(sources, skyFrame(telescope.site, at), 1, {
      telescope,
      frequencyHz: frequenciesHz[frequenciesHz.length >> 1],
    }).at(0);
    return first && fixedCentre(first.source.name, first.source.position(skyFrame(telescope.site, at)));
  }
}

const listOf = (values: ArrayLike<number>): (number | null)[] =>
  Array.from(values, (one) => (Number.isFinite(one) ? Number(one.toPrecision(6)) : null));

const viewOf = (fringes: Fringes): FringesView => ({
  startUnixS: Date.parse(fringes.startUtc) / 1000,
  timesS: listOf(fringes.timesS),
  frequencyHz: fringes.frequencyHz,
  source: fringes.source?.name,
  velocitiesKmPerS: fringes.velocitiesKmPerS && listOf(fringes.velocitiesKmPerS),
  frequenciesHz: Array.from(fringes.frequenciesHz),
  baselines: fringes.baselines.map(
    ({ name, product, lengthM, amplitudes, phasesDeg, expectedDeg, lags }) => ({
      name,
      product,
      lengthM,
      amplitudes: listOf(amplitudes),
      phasesDeg: listOf(phasesDeg),
      expectedDeg: expectedDeg && listOf(expectedDeg),
      lags: lags && { lagsS: listOf(lags.lagsS), amplitudes: listOf(lags.amplitudes), peakS: lags.peakS },
    }),
  ),
  closures: fringes.closures.map(({ name, product, phasesDeg, meanDeg, errorDeg }) => ({
    name,
    product,
    phasesDeg: listOf(phasesDeg),
    meanDeg,
    errorDeg,
  })),
  powers: fringes.powers.map(({ name, powers, spectrum }) => ({
    name,
    powers: listOf(powers),
    spectrum: listOf(spectrum),
  })),
});
