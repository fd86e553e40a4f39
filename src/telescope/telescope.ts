/** A telescope as the rest of the house sees it: where its stations stand and what they record. */

export interface Station {
  readonly name: string;
  /** Local axes at the site, metres. */
  readonly eastM: number;
  readonly northM: number;
  readonly upM: number;
  /** What the file it came from calls it in its data, where that is no counting from the first. */
  readonly number?: number;
  readonly diameterM?: number;
  /** The name of its beam, as --element has it, where the telescope says it station by station. */
  readonly element?: string;
}

export interface Site {
  /** Geodetic, WGS84. */
  readonly latitudeDeg: number;
  /** East positive. */
  readonly longitudeDeg: number;
  readonly heightM: number;
}

/** How feeds are held: dishes that follow a source by altitude and azimuth or about the pole, or dipoles fixed to the ground. */
export const mounts = ['altaz', 'equatorial', 'fixed'] as const;
export type Mount = (typeof mounts)[number];

/** What a recording of this telescope looks like unless the user says otherwise. */
export interface RecordingDefaults {
  readonly centreFrequencyHz: number;
  /** Complex samples per second, equal to the recorded bandwidth. */
  readonly sampleRateHz: number;
  readonly channels: number;
  /** Bits of each real and imaginary part after channelising. */
  readonly bits: 4 | 8;
}

/**
 * A delay that always applies to an input: by number, "NAME" or "NAME:X". `delayS` is what to put in, `cableM` the
 * electrical length of a cable to take out.
 */
export type FixedDelay =
  | { readonly input: number | string; readonly delayS: number }
  | { readonly input: number | string; readonly cableM: number };

export interface Telescope {
  /** The registry's key, or the user's own word. */
  readonly name: string;
  readonly title: string;
  readonly site: Site;
  readonly stations: readonly Station[];
  readonly polarisations: 1 | 2;
  readonly band: { readonly lowHz: number; readonly highHz: number };
  readonly recording: RecordingDefaults;
  /** Exponent of the element's voltage beam, cos(zenith angle)^exponent: 0 sees the whole sky alike. */
  readonly beamExponent: number;
  /** How its feeds are held; unknown where it is not stated. */
  readonly mount?: Mount;
  /** Position angle of X from the north of its mount (the ground's north for `fixed`) through east, Y being 90° less; 90, X east, by default. */
  readonly feedAngleDeg?: number;
  /** Cables and the like, which correlating takes out. */
  readonly delays?: readonly FixedDelay[];
}

/** "stand17:Y": input a = s·P + p as people name it; the station alone where it has one polarisation. */
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
