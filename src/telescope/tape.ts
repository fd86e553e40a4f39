/**
 * Places as they are measured on a roof: "3.2 -1.5" metres to the east and north of the first antenna, "12.3@275" metres
 * along a bearing from true north through east; a third or second number is the height above it.
 */
import { refuse } from '../core/errors.js';
import { RADIANS_PER_DEGREE } from '../core/units.js';
import type { Vector3 } from '../core/vector.js';

/** Beyond this it was no tape. */
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
