/** A telescope as used by all modules: its station positions and its recording format. */

export interface Station {
  readonly name: string;
  /** Local axes at the site, metres. */
  readonly eastM: number;
  readonly northM: number;
  readonly upM: number;
  /** Its number in the data of the file it came from, if that does not count from the first. */
  readonly number?: number;
  readonly diameterM?: number;
  /** The name of its beam, as for --element, if the telescope gives beams by station. */
  readonly element?: string;
}

export interface Site {
  /** Geodetic, WGS84. */
  readonly latitudeDeg: number;
  /** East positive. */
  readonly longitudeDeg: number;
  readonly heightM: number;
}

/** Mounts: dishes that follow a source by altitude and azimuth or about the pole, or dipoles fixed to the ground. */
export const mounts = ['altaz', 'equatorial', 'fixed'] as const;
export type Mount = (typeof mounts)[number];

/** Defaults for recordings of this telescope. */
export interface RecordingDefaults {
  readonly centreFrequencyHz: number;
  /** Complex samples per second, equal to the recorded bandwidth. */
  readonly sampleRateHz: number;
  readonly channels: number;
  /** Bits of each real and imaginary part after channelising. */
  readonly bits: 4 | 8;
}

/**
 * A fixed delay of an input: by number, "NAME" or "NAME:X". `delayS` is the delay to apply, `cableM` the electrical
 * length of a cable to correct for.
 */
export type FixedDelay =
  | { readonly input: number | string; readonly delayS: number }
  | { readonly input: number | string; readonly cableM: number };

export interface Telescope {
  /** The registry's key, or the user's own name. */
  readonly name: string;
  readonly title: string;
  readonly site: Site;
  readonly stations: readonly Station[];
  readonly polarisations: 1 | 2;
  readonly band: { readonly lowHz: number; readonly highHz: number };
  readonly recording: RecordingDefaults;
  /** Exponent of the element's voltage beam, cos(zenith angle)^exponent: 0 has the same response over the whole sky. */
  readonly beamExponent: number;
  /** Mount of its feeds; undefined if unknown. */
  readonly mount?: Mount;
  /**
   * Position angle of X from the north of its mount (the ground's north for `fixed`) through east, Y being 90° less;
   * 90, X east, by default.
   */
  readonly feedAngleDeg?: number;
  /** Delays of cables and the like, which correlation corrects. */
  readonly delays?: readonly FixedDelay[];
}

/** "stand17:Y": the name of input a = s·P + p; the station alone if it has one polarisation. */
export function inputName(
  { stations }: Pick<Telescope, 'stations'>,
  input: number,
  polarisations: 1 | 2,
  feeds: 'linear' | 'circular' = 'linear',
): string {
  const { name } = stations[Math.floor(input / polarisations)];
  const letters = { linear: 'XY', circular: 'RL' }[feeds];
  return polarisations === 1 ? name : `${name}:${letters[input % 2]}`;
}
