/** How far found gains are from the truth, after removal of the common phase, which interferometers do not measure. */
import { gainsCA, type GainsCA } from '../core/axes.js';
import { DEGREES_PER_RADIAN } from '../core/units.js';
import type { CalibrationPlan } from './plan.js';
import type { Calibration } from './solve.js';

export interface GainComparison {
  /** sqrt(Σ|found − truth|² / Σ|truth|²) over all solved inputs and channels. */
  readonly rmsRelativeError: number;
  /** Over all solved inputs but the reference, whose phase is zero by definition. */
  readonly rmsPhaseErrorDeg: number;
  /** How many gains were compared. */
  readonly compared: number;
}

/** Rotates the truth of each channel and polarisation so that the reference antenna is real there too. */
export function compareGains(found: Calibration, truth: GainsCA, plan: CalibrationPlan): GainComparison {
  const { channels, stations, polarisations } = plan;
  gainsCA(truth, channels, stations * polarisations);
  let error = 0;
  let size = 0;
  let phaseSquares = 0;
  let phases = 0;
  let compared = 0;
  for (let c = 0; c < channels; c++) {
    for (let p = 0; p < polarisations; p++) {
      const inputAt = (s: number): number => (c * stations + s) * polarisations + p;
      const reference = inputAt(found.referenceStation);
      const phaseRad = -Math.atan2(truth[2 * reference + 1], truth[2 * reference]);
      for (let s = 0; s < stations; s++) {
        const a = inputAt(s);
        if (found.solved[a] === 0) continue;
        const trueRe = truth[2 * a] * Math.cos(phaseRad) - truth[2 * a + 1] * Math.sin(phaseRad);
        const trueIm = truth[2 * a] * Math.sin(phaseRad) + truth[2 * a + 1] * Math.cos(phaseRad);
        const re = found.gains[2 * a];
        const im = found.gains[2 * a + 1];
        error += (re - trueRe) ** 2 + (im - trueIm) ** 2;
        size += trueRe ** 2 + trueIm ** 2;
        compared++;
        if (s === found.referenceStation) continue;
        // the angle of found · conj(truth), within ±180° whatever the two phases are
        phaseSquares += Math.atan2(im * trueRe - re * trueIm, re * trueRe + im * trueIm) ** 2;
        phases++;
      }
    }
  }
  return {
    rmsRelativeError: Math.sqrt(error / size),
    rmsPhaseErrorDeg: Math.sqrt(phaseSquares / phases) * DEGREES_PER_RADIAN,
    compared,
  };
}
