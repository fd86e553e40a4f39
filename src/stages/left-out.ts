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
  const shape = { channels: frequenciesHz.length, inputs: flaggedInputs.length };
  const without = (own: Calibrated | undefined): Calibrated =>
    leftOutOf(own, shape, (_, a) => flaggedInputs[a] === 1);
  return {
    telescope: imagedTelescope(telescope, flaggedInputs),
    calibrated:
      typeof calibrated === 'function'
        ? (moment) => without(calibratedAt(calibrated, moment))
        : without(calibrated),
  };
}

/** Gains with 0 for what is left out among the solved ones; 1 where there are none. */
export function leftOutOf(
  own: Calibrated | undefined,
  { channels, inputs }: { readonly channels: number; readonly inputs: number },
  isLeftOut: (channel: number, input: number) => boolean,
): Calibrated {
  const ones = (): Float64Array =>
    Float64Array.from({ length: 2 * channels * inputs }, (_, n) => (n % 2 === 0 ? 1 : 0));
  const solved = Uint8Array.from({ length: channels * inputs }, (_, at) =>
    isLeftOut(Math.floor(at / inputs), at % inputs) ? 0 : (own?.solved[at] ?? 1),
  );
  return { gains: own?.gains ?? gainsCA(ones(), channels, inputs), solved };
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
