/**
 * The fraction of a source's amplitude that the longest baseline keeps while the sky rotates over it untracked: in a
 * channel, across which the phase changes with the delay, and in an integration, during which the fringe rotates.
 */
import { EARTH_SPIN_RAD_PER_S, RADIANS_PER_DEGREE, SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { cross, dot, type Vector3 } from '../core/vector.js';
import type { Telescope } from '../telescope/telescope.js';

export interface Coherence {
  readonly longestM: number;
  /** The longest baseline's delay of a source on the horizon, times the width of a channel. */
  readonly delayWidths: number;
  /** The fraction of such a source's amplitude kept in a channel. */
  readonly keptInChannel: number;
  /** The fastest fringe rate of any baseline and direction. */
  readonly fringeHz: number;
  /** The fraction of it kept in an integration. */
  keptIn(integrationS: number): number;
}

/** sin(πx)/(πx), without its sign. */
export const sinc = (x: number): number => (x === 0 ? 1 : Math.abs(Math.sin(Math.PI * x) / (Math.PI * x)));

/** Beyond this delay in units of 1/channel width, tracking is needed. */
export const MOST_DELAY_WIDTHS = 0.01;
/** The fraction of the amplitude that an integration should keep. */
export const KEEP = 0.99;
/** sinc(x) = 0.99. */
const TURNS_THAT_KEEP = 0.0781;

/** The loss of an array for a low source without tracking, by its longest baseline. */
export function coherenceOf(
  { stations, site }: Pick<Telescope, 'stations' | 'site'>,
  frequenciesHz: Float64Array,
  channelWidthHz: number,
): Coherence {
  const latitude = site.latitudeDeg * RADIANS_PER_DEGREE;
  const pole: Vector3 = { x: 0, y: Math.cos(latitude), z: Math.sin(latitude) };
  let longestM = 0;
  let fastestM = 0;
  stations.forEach((one, i) => {
    for (const other of stations.slice(0, i)) {
      const baseline = {
        x: one.eastM - other.eastM,
        y: one.northM - other.northM,
        z: one.upM - other.upM,
      };
      longestM = Math.max(longestM, Math.sqrt(dot(baseline, baseline)));
      const across = cross(pole, baseline);
      fastestM = Math.max(fastestM, Math.sqrt(dot(across, across)));
    }
  });
  const delayWidths = (longestM / SPEED_OF_LIGHT_M_PER_S) * channelWidthHz;
  const highestHz = frequenciesHz.reduce((most, frequencyHz) => Math.max(most, frequencyHz), 0);
  const fringeHz = (highestHz * EARTH_SPIN_RAD_PER_S * fastestM) / SPEED_OF_LIGHT_M_PER_S;
  return {
    longestM,
    delayWidths,
    keptInChannel: sinc(Math.min(delayWidths, 1)),
    fringeHz,
    keptIn: (integrationS) => sinc(Math.min(fringeHz * integrationS, 1)),
  };
}

/** The longest integration that keeps 99 %, rounded down to 1, 2, 5, 10 … s. */
export function longestIntegrationS({ fringeHz }: Coherence): number {
  const longestS = TURNS_THAT_KEEP / fringeHz;
  const decade = 10 ** Math.floor(Math.log10(longestS));
  return (longestS >= 5 * decade ? 5 : longestS >= 2 * decade ? 2 : 1) * decade;
}
