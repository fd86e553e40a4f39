/** Finds inputs unlike the others: dead dipoles, unplugged cables, ringing amplifiers. */
import { baselineIndex, baselineCount } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { realNumber } from '../../core/errors.js';
import { productCount } from '../../core/product-counts.js';
import { median } from '../../core/median.js';
import type { Calibration } from '../../calibrate/index.js';

export interface OutlierInput {
  readonly input: number;
  /** Its level over the median of its polarisation: power for autocorrelations, amplitude for gains. */
  readonly level: number;
  readonly by: 'autocorrelation' | 'gain';
}

const medianLevel = (values: readonly number[]): number =>
  median(values.filter((value) => Number.isFinite(value) && value > 0));

/** Inputs whose level is more than `factor` times above or below the median of their polarisation. */
function outliers(
  levels: readonly number[],
  polarisations: number,
  factor: number,
  by: OutlierInput['by'],
  skip: Uint8Array,
): OutlierInput[] {
  realNumber('odd inputs', 'factor', factor, 1, Infinity);
  const middles = Array.from({ length: polarisations }, (_, p) =>
    medianLevel(levels.filter((_unused, a) => a % polarisations === p && skip[a] === 0)),
  );
  return levels.flatMap((value, input) => {
    if (skip[input] === 1) return [];
    const level = value / middles[input % polarisations];
    return level > factor || !(level >= 1 / factor) ? [{ input, level, by }] : [];
  });
}

/** By the power each input receives, its median over channels. Flagged and unrecorded inputs are skipped. */
export function outliersByPower(integration: Integration, factor: number): OutlierInput[] {
  const { channels, stations, polarisations, visibilities, flaggedInputs } = integration;
  const baselines = baselineCount(stations);
  const skip = flaggedInputs.slice();
  const levels = Array.from({ length: stations * polarisations }, (_, a) => {
    const s = Math.floor(a / polarisations);
    const p = a % polarisations;
    const recorded = Array.from(
      { length: channels },
      (_unused, c) => c * baselines + baselineIndex(s, s),
    ).filter((b) => productCount(integration, b, p, p) > 0);
    // Files without autocorrelations contain no powers.
    if (recorded.length === 0) skip[a] = 1;
    return medianLevel(
      recorded.map(
        (b) =>
          visibilities[2 * (b * polarisations ** 2 + p * polarisations + p)] /
          productCount(integration, b, p, p),
      ),
    );
  });
  return outliers(levels, polarisations, factor, 'autocorrelation', skip);
}

/**
 * By the gain found for each input, its median over channels. A gain far below the others' means that the input
 * receives noise instead of the sky, and division by it would amplify that noise in the image.
 */
export function outliersByGain(
  { gains, solved }: Calibration,
  channels: number,
  polarisations: number,
  factor: number,
): OutlierInput[] {
  const inputs = solved.length / channels;
  const skip = new Uint8Array(inputs);
  const levels = Array.from({ length: inputs }, (_, a) => {
    const amplitudes = Array.from({ length: channels }, (_unused, c) =>
      Math.hypot(gains[2 * (c * inputs + a)], gains[2 * (c * inputs + a) + 1]),
    );
    if (amplitudes.every((value) => Number.isNaN(value))) skip[a] = 1;
    return medianLevel(amplitudes);
  });
  return outliers(levels, polarisations, factor, 'gain', skip);
}
