/**
 * Positions as measured on a roof: "3.2 -1.5" metres to the east and north of the first antenna, "12.3@275" metres
 * along a bearing from true north through east; a third or second number is the height above it.
 */
import { refuse } from '../core/errors.js';
import { RADIANS_PER_DEGREE } from '../core/units.js';
import { dot, type Vector3 } from '../core/vector.js';

/** Longer than any tape. */
const MOST_M = 10_000;
const FORMS =
  'write "EAST NORTH [UP]" or "DISTANCE@BEARING [UP]" in metres and degrees, like 3.2 -1.5 or 12.3@275 0.4';

export function placeByTape(text: string, where: string): Vector3 {
  const words = text.trim().split(/[\s,]+/);
  const numbers = words.map((word) => Number(word.replace('−', '-')));
  const polar = /^(\d+(?:\.\d+)?)m?@(\d+(?:\.\d+)?)°?$/.exec(words[0]);
  const [distanceM, bearingDeg] = polar ? [Number(polar[1]), Number(polar[2])] : [0, 0];
  const place = polar
    ? {
        x: distanceM * Math.sin(bearingDeg * RADIANS_PER_DEGREE),
        y: distanceM * Math.cos(bearingDeg * RADIANS_PER_DEGREE),
        z: words.length > 1 ? numbers[1] : 0,
      }
    : { x: numbers[0], y: numbers[1], z: words.length > 2 ? numbers[2] : 0 };
  if (
    words.length > (polar ? 2 : 3) ||
    bearingDeg > 360 ||
    ![place.x, place.y, place.z].every((one) => Math.abs(one) <= MOST_M)
  )
    refuse(where, `'${text}' is no place`, FORMS);
  return place;
}

export interface TapedAntenna extends Vector3 {
  readonly name: string;
}

/**
 * A telescope from positions measured from its first antenna: its description, its positions, and numbers to check
 * them.
 */
export function describedByTape(
  antennas: readonly TapedAntenna[],
  {
    centreFrequencyHz,
    sampleRateHz,
    ...described
  }: {
    readonly name: string;
    readonly title: string;
    readonly site: { readonly latitudeDeg: number; readonly longitudeDeg: number; readonly heightM: number };
    /** The name of the positions file. */
    readonly positions: string;
    readonly polarisations: number;
    readonly centreFrequencyHz: number;
    readonly sampleRateHz: number;
  },
): {
  readonly text: string;
  readonly places: string;
  readonly baselines: readonly { readonly between: readonly [string, string]; readonly lengthM: number }[];
} {
  const halfHz = sampleRateHz / 2;
  const description = {
    ...described,
    band: { lowHz: Math.max(1, centreFrequencyHz - halfHz), highHz: centreFrequencyHz + halfHz },
    recording: { centreFrequencyHz, sampleRateHz, channels: 128, bits: 8 },
    beamExponent: 0,
    notes: [`places measured from ${antennas[0].name} with a tape`],
  };
  const rows = antennas.map(({ name, x, y, z }) => [name, ...[x, y, z].map((one) => one.toFixed(3))].join());
  return {
    text: `${JSON.stringify(description, undefined, 2)}\n`,
    places: `name,east_m,north_m,up_m\n${rows.join('\n')}\n`,
    baselines: antennas.flatMap((one, i) =>
      antennas.slice(0, i).map((two) => {
        const off = { x: one.x - two.x, y: one.y - two.y, z: one.z - two.z };
        return { between: [one.name, two.name] as const, lengthM: Math.sqrt(dot(off, off)) };
      }),
    ),
  };
}
