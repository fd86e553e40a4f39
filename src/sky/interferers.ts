/** Interference. Both polarisations and every station receive it equally, whatever the beam. */
import { realNumber, refuse, unreachable } from '../core/errors.js';
import { dot, type Vector3 } from '../core/vector.js';
import { bandwidthHz, type Band } from './frequency-grid.js';

interface Interference {
  /**
   * Received power, as the flux of a source that would bring the same power spread over the whole band (a pulsed one:
   * while it is on).
   */
  readonly bandFluxJy: number;
  /** Unit vector towards it; without one it reaches every station at the same time. */
  readonly directionEnu?: Vector3;
}

/** A steady carrier at a sky frequency. */
export interface ToneInterferer extends Interference {
  readonly kind: 'tone';
  readonly frequencyHz: number;
}

/** Noise over the whole band, on for the first `duty` of each period, counted from the recording's start. */
export interface PulsedInterferer extends Interference {
  readonly kind: 'pulsed';
  readonly periodS: number;
  readonly duty: number;
}

export type Interferer = ToneInterferer | PulsedInterferer;

export function checkInterferer(interferer: Interferer, band: Band): void {
  const where = `simulate: ${interferer.kind} interferer`;
  realNumber(where, 'power in Jy over the band', interferer.bandFluxJy, 0, 1e15);
  const { directionEnu } = interferer;
  if (directionEnu && !(Math.abs(dot(directionEnu, directionEnu) - 1) < 1e-9)) {
    refuse(where, 'its direction is not a unit vector', 'make one with directionFromAltAz');
  }
  switch (interferer.kind) {
    case 'tone': {
      const half = bandwidthHz(band) / 2;
      const centre = band.centreFrequencyHz;
      realNumber(where, 'frequency in Hz', interferer.frequencyHz, centre - half, centre + half);
      break;
    }
    case 'pulsed':
      realNumber(where, 'period in seconds', interferer.periodS, 2 / band.sampleRateHz, 1e6);
      realNumber(where, 'duty', interferer.duty, 0, 1);
      break;
    default:
      unreachable(interferer);
  }
}

/** Averaged over a long time. */
export const meanFluxJy = (interferer: Interferer): number =>
  interferer.bandFluxJy * (interferer.kind === 'pulsed' ? interferer.duty : 1);

export function isOn({ periodS, duty }: PulsedInterferer, sample: number, sampleRateHz: number): boolean {
  const periods = sample / (sampleRateHz * periodS);
  return periods - Math.floor(periods) < duty;
}
