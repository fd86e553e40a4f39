/** Gains over the band as fewer numbers (over-band.ts), with the residuals they leave in the data. */
import { leaveOutUnconverged, type CrossHanded, type Solution } from '../../calibrate/index.js';
import { median } from '../../core/median.js';
import type { CalibratedIntegration } from '../calibrate.js';
import { fitDelays, oneGain, type FittedDelay, type OverBand } from './over-band.js';

interface ShapedGains {
  /** With the residuals of these gains, not of those they were fitted to. */
  readonly calibration: CrossHanded;
  readonly delays: readonly FittedDelay[];
  readonly misfit: Misfit;
}

export interface Misfit {
  /** Median residuals of the solves: with a gain for each channel, and with this shape. */
  readonly free: number;
  readonly shaped: number;
  /** The sky's power that the shape leaves beyond noise and beyond what the model lacks; 0 where unknown. */
  readonly lost: number;
}

/** Above it, 5 % in amplitude, a misfit of the shape is reported. */
export const SOME_LOST = 0.05 ** 2;
/** In units of the noise's own scatter: smaller misfits are not reported. */
const LEAST_OVER_NOISE = 5;

export function shapedGains(
  over: Exclude<OverBand, 'channel'>,
  calibration: CrossHanded,
  residualsOf: NonNullable<CalibratedIntegration['residualsOf']>,
  frequenciesHz: Float64Array,
): ShapedGains {
  const fitted =
    over === 'band'
      ? { ...oneGain(calibration, frequenciesHz.length), delays: [] }
      : fitDelays(calibration, frequenciesHz);
  const { gains, solved, delays } = fitted;
  const residuals = residualsOf({ gains, solved });
  const solutions = calibration.solutions.map((one, k): Solution => {
    // Channels without a solution have no residual.
    return Number.isNaN(one.residual) ? one : { ...one, residual: residuals[k] };
  });
  return {
    calibration: leaveOutUnconverged({ ...calibration, gains, solved, solutions }),
    delays,
    misfit: misfitOf(calibration, solutions, frequenciesHz.length),
  };
}

/** The median over channels and polarisations that converged. */
function misfitOf({ solved, solutions }: CrossHanded, shaped: readonly Solution[], channels: number): Misfit {
  const inputs = solved.length / channels;
  const polarisations = solutions.length / channels;
  const tested = solutions.flatMap(({ residual, converged, channel, polarisation }, k) => {
    const own = solved.subarray(channel * inputs, (channel + 1) * inputs);
    const stations = own.filter((mark, a) => mark === 1 && a % polarisations === polarisation).length;
    if (!converged || stations < 3 || Number.isNaN(shaped[k].residual)) return [];
    // A gain for each channel absorbs part of the noise, two numbers an input of two a pair; a shape absorbs hardly
    // any.
    const noise = residual ** 2 / Math.max(0.1, 1 - 2 / (stations - 1));
    const excess = shaped[k].residual ** 2 - noise;
    const pairs = (stations * (stations - 1)) / 2;
    const isSeen = excess > (LEAST_OVER_NOISE * noise) / Math.sqrt(pairs);
    return [
      { free: residual, shaped: shaped[k].residual, lost: isSeen ? excess / Math.max(0.01, 1 - noise) : 0 },
    ];
  });
  const middle = (of: (one: Misfit) => number): number => median(tested.map(of));
  return {
    free: middle((one) => one.free),
    shaped: middle((one) => one.shaped),
    lost: middle((one) => one.lost),
  };
}
