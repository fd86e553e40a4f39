/**
 * Leaves flagged inputs out of images, direct or from visibilities, and the grid area that a flagged outrigger would
 * need.
 */
import { gainsCA } from '../core/axes.js';
import type { Station, Telescope } from '../telescope/telescope.js';
import { calibratedAt, type Calibrated, type CalibratedAt } from './sky-image.js';

interface ImagedInputs {
  /** Stations without any input are moved to another one's place: the grid need not reach them. */
  readonly telescope: Telescope;
  /** With 0 for flagged inputs among the solved ones. */
  readonly calibrated?: Calibrated | CalibratedAt;
}

export function imagedInputs({
  telescope,
  flaggedInputs,
  frequenciesHz,
  imaging,
}: {
  readonly telescope: Telescope;
  readonly flaggedInputs?: Uint8Array;
  readonly frequenciesHz: Float64Array;
  readonly imaging?: Pick<ImagedInputs, 'calibrated'>;
}): ImagedInputs {
  const calibrated = imaging?.calibrated;
  if (flaggedInputs?.includes(1) !== true) return { telescope, ...(calibrated && { calibrated }) };
  const inputs = flaggedInputs.length;
  const count = frequenciesHz.length * inputs;
  const without = (own: Calibrated | undefined): Calibrated => {
    const given = own?.gains ?? Float64Array.from({ length: 2 * count }, (_, n) => (n % 2 === 0 ? 1 : 0));
    const solved = Uint8Array.from({ length: count }, (_, at) =>
      flaggedInputs[at % inputs] === 1 ? 0 : (own?.solved[at] ?? 1),
    );
    return { gains: gainsCA(given, frequenciesHz.length, inputs), solved };
  };
  return {
    telescope: imagedTelescope(telescope, flaggedInputs),
    calibrated:
      typeof calibrated === 'function'
        ? (moment) => without(calibratedAt(calibrated, moment))
        : without(calibrated),
  };
}

/** Stations without any input are moved to another one's place: the grid need not reach them. */
export const imagedTelescope = (telescope: Telescope, flaggedInputs: Uint8Array | undefined): Telescope =>
  flaggedInputs?.includes(1) === true
    ? { ...telescope, stations: placed(telescope, flaggedInputs) }
    : telescope;

function placed({ stations, polarisations }: Telescope, flaggedInputs: Uint8Array): readonly Station[] {
  const isOut = stations.map((_, s) =>
    flaggedInputs.subarray(s * polarisations, (s + 1) * polarisations).every((flag) => flag === 1),
  );
  const kept = stations.find((_, s) => !isOut[s]);
  if (!kept) return stations;
  const { eastM, northM, upM } = kept;
  return stations.map((station, s) => (isOut[s] ? { ...station, eastM, northM, upM } : station));
}
