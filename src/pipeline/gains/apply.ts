/** Fits gains from a file to the data at hand, or says why they do not fit. */
import { gainsCA } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import type { Instant } from '../../core/instant.js';
import { formatHz } from '../../core/units.js';
import type { GainsFile } from '../../formats/index.js';
import type { Telescope } from '../../telescope/telescope.js';
import type { Calibrated, CalibratedFully } from '../sky-image.js';
import { gainsAtMoment } from './over-time.js';

/** Channels in which no input has a gain. */
export function channelsWithoutGains({ solved }: Calibrated, channels: number): number[] {
  const inputs = solved.length / channels;
  return Array.from({ length: channels }, (_, c) => c).filter((c) =>
    solved.subarray(c * inputs, (c + 1) * inputs).every((mark) => mark === 0),
  );
}

/** Whether X and Y have one phase reference in every channel that has gains: only then do cross hands mean anything. */
export function crossHandsKnown({ solved, crossHands }: Calibrated): boolean {
  if (!crossHands) return false;
  const inputs = solved.length / crossHands.length;
  return crossHands.every(
    (known, c) => known === 1 || !solved.subarray(c * inputs, (c + 1) * inputs).includes(1),
  );
}

/**
 * Gains of the nearest channel, for each of ours; refused when the nearest is farther than a channel of theirs. Where the
 * file has several times, those at `moment`.
 */
export function matchGains(
  file: GainsFile,
  path: string,
  telescope: Telescope,
  frequenciesHz: Float64Array,
  moment?: Instant,
): CalibratedFully {
  const at = gainsAtMoment(file, moment ?? file.time);
  const names = telescope.stations.map(({ name }) => name);
  if (names.length !== file.stations.length || names.some((name, s) => name !== file.stations[s])) {
    refuse(
      path,
      `is for ${file.stations.length} stations of ${file.telescope}, not these ${names.length} of ${telescope.name}`,
      'calibrate this data',
    );
  }
  if (file.polarisations !== telescope.polarisations) {
    refuse(
      path,
      `is for ${file.polarisations} polarisations, the data have ${telescope.polarisations}`,
      'calibrate this data',
    );
  }
  const theirs = file.frequenciesHz;
  // One channel does not say how wide it is; within a hundredth of its frequency it may still hold.
  const stepHz = theirs.length > 1 ? Math.abs(theirs[1] - theirs[0]) : 0.01 * theirs[0];
  const inputs = names.length * file.polarisations;
  const gains = new Float64Array(2 * frequenciesHz.length * inputs);
  const leakage = at.leakage && new Float64Array(gains.length);
  const solved = new Uint8Array(frequenciesHz.length * inputs);
  const crossHands = new Uint8Array(frequenciesHz.length);
  frequenciesHz.forEach((frequencyHz, c) => {
    const nearest = theirs.reduce(
      (best, other, k) => (Math.abs(other - frequencyHz) < Math.abs(theirs[best] - frequencyHz) ? k : best),
      0,
    );
    if (Math.abs(theirs[nearest] - frequencyHz) > stepHz) {
      refuse(
        path,
        `has no gains near ${formatHz(frequencyHz)}; they span ${formatHz(theirs[0])} to ${formatHz(theirs[theirs.length - 1])}`,
        'calibrate this band',
      );
    }
    gains.set(at.gains.subarray(2 * nearest * inputs, 2 * (nearest + 1) * inputs), 2 * c * inputs);
    if (at.leakage)
      leakage?.set(at.leakage.subarray(2 * nearest * inputs, 2 * (nearest + 1) * inputs), 2 * c * inputs);
    solved.set(at.solved.subarray(nearest * inputs, (nearest + 1) * inputs), c * inputs);
    crossHands[c] = at.crossHands[nearest];
  });
  return {
    ...{ gains: gainsCA(gains, frequenciesHz.length, inputs), solved, crossHands },
    ...(leakage && { leakage: gainsCA(leakage, frequenciesHz.length, inputs) }),
  };
}

/** For those who take one gain an input: what a station hears across would stay in the data, and nobody would know. */
export function refuseLeakage({ leakage }: Calibrated, path: string, who: string): void {
  if (leakage)
    refuse(
      path,
      `holds matrices of full polarisation, and ${who} takes a gain for each input`,
      'correlate, and image the visibilities; or calibrate without --polarisation full',
    );
}
