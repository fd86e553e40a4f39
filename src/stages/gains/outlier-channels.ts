/** Finds outlying gains: whole channels (the edges of a band, a transmitter), and single ones of an input. */
import type { Calibration } from '../../calibrate/index.js';
import { gainsCA } from '../../core/axes.js';
import { median } from '../../core/median.js';

export interface OutlierChannel {
  readonly channel: number;
  /** Its median amplitude over the median of all channels, or the power that the model explains over the median. */
  readonly level: number;
  readonly by: 'gain' | 'residual';
}

export interface OutlierGain {
  readonly channel: number;
  readonly input: number;
  /** Relative to what its channel and its input predict. */
  readonly level: number;
}

export interface OutlierGains {
  readonly channels: readonly OutlierChannel[];
  readonly gains: readonly OutlierGain[];
}

/** Fewer have no median. */
const LEAST_CHANNELS = 3;
/**
 * Where a model explains less than this of the median channel's power, noise decides how much it explains of the
 * others.
 */
const WELL_EXPLAINED = 0.3;

const isOff = (level: number, factor: number): boolean => level > factor || level < 1 / factor;
const known = (values: readonly number[]): number[] => values.filter((value) => !Number.isNaN(value));

/**
 * Channels whose gains are more than `factor` times above or below those of the median channel, or whose power the
 * model explains that much worse; in the others single gains that far from what input and channel predict.
 */
export function outlierGains(calibration: Calibration, channels: number, factor: number): OutlierGains {
  const inputs = calibration.solved.length / channels;
  if (channels < LEAST_CHANNELS) return { channels: [], gains: [] };
  const amplitudes = Array.from({ length: channels }, (_, c) =>
    Array.from({ length: inputs }, (_unused, a) => amplitude(calibration, c * inputs + a)),
  );
  const levels = amplitudes.map((row) => median(known(row)));
  const middle = median(known(levels));
  const explained = explainedPower(calibration, channels);
  const typical = median(known(explained));
  const odd = levels.flatMap((value, channel): OutlierChannel[] => {
    if (Number.isNaN(value)) return [];
    if (isOff(value / middle, factor)) return [{ channel, level: value / middle, by: 'gain' }];
    const part = explained[channel] / typical;
    return typical > WELL_EXPLAINED && part < 1 / factor ? [{ channel, level: part, by: 'residual' }] : [];
  });
  const left = new Set(odd.map(({ channel }) => channel));
  const scaled = amplitudes.map((row, c) =>
    row.map((value) => (left.has(c) ? Number.NaN : value / levels[c])),
  );
  const own = Array.from({ length: inputs }, (_, a) => median(known(scaled.map((row) => row[a]))));
  const gains = scaled.flatMap((row, channel) =>
    row.flatMap((value, input): OutlierGain[] =>
      isOff(value / own[input], factor) ? [{ channel, input, level: value / own[input] }] : [],
    ),
  );
  return { channels: odd, gains };
}

const amplitude = ({ gains, solved }: Calibration, at: number): number =>
  solved[at] === 1 ? Math.hypot(gains[2 * at], gains[2 * at + 1]) : Number.NaN;

/** 1 − residual² of each channel, the mean of its polarisations. */
function explainedPower({ solutions }: Calibration, channels: number): number[] {
  return Array.from({ length: channels }, (_, c) => {
    const own = solutions.filter(({ channel, residual }) => channel === c && !Number.isNaN(residual));
    return own.reduce((sum, { residual }) => sum + (1 - residual ** 2), 0) / own.length;
  });
}

/** The same calibration with those gains unknown. */
export function leaveOutOutliers<Found extends Calibration>(
  calibration: Found,
  channels: number,
  odd: OutlierGains,
): Found {
  if (odd.channels.length + odd.gains.length === 0) return calibration;
  const inputs = calibration.solved.length / channels;
  const gains = gainsCA(calibration.gains.slice(), channels, inputs);
  const solved = calibration.solved.slice();
  const drop = (first: number, count: number): void => {
    gains.fill(Number.NaN, 2 * first, 2 * (first + count));
    solved.fill(0, first, first + count);
  };
  for (const { channel } of odd.channels) drop(channel * inputs, inputs);
  for (const { channel, input } of odd.gains) drop(channel * inputs + input, 1);
  return { ...calibration, gains, solved };
}
