/** Sidereal time: the right ascension of date on a meridian. */
import { formatInstant, instant, type Instant } from '../../core/instant.js';
import { DEGREES_PER_RADIAN, RADIANS_PER_DEGREE, SECONDS_PER_DAY } from '../../core/units.js';
import { RADIANS_PER_ARCSECOND } from './angles.js';
import { earthClock } from './clock.js';
import { earthOrientation } from './orientation.js';
import { siderealTimeRad } from './rotation.js';
import { slowSky } from './slow.js';

/** Apparent, at a longitude east of Greenwich; radians in [0, 2π). */
export function localSiderealTimeRad(moment: Instant, longitudeDeg: number): number {
  const clock = earthClock(moment, earthOrientation(moment).ut1MinusUtcS);
  const greenwich = siderealTimeRad(clock, slowSky(clock.ttDays).nutation);
  const turn = 2 * Math.PI;
  return (((greenwich + longitudeDeg * RADIANS_PER_DEGREE) % turn) + turn) % turn;
}

/** The Earth's rotation in a day of UT1, degrees. */
export const DEGREES_PER_DAY = 360.9856438593;

/** Earth orientation as given in files: at the UTC midnight before a moment. */
export interface EarthAtMidnight {
  /** YYYY-MM-DD */
  readonly date: string;
  /** Greenwich apparent sidereal time. */
  readonly siderealDeg: number;
  readonly ut1MinusUtcS: number;
  readonly poleXArcsec: number;
  readonly poleYArcsec: number;
}

export function earthAtMidnight(moment: Instant): EarthAtMidnight {
  const midnight = instant(Math.floor(moment.unixSeconds / SECONDS_PER_DAY) * SECONDS_PER_DAY);
  const { ut1MinusUtcS, poleXRad, poleYRad } = earthOrientation(midnight);
  return {
    date: formatInstant(midnight, 0).slice(0, 10),
    siderealDeg: localSiderealTimeRad(midnight, 0) * DEGREES_PER_RADIAN,
    ut1MinusUtcS,
    poleXArcsec: poleXRad / RADIANS_PER_ARCSECOND,
    poleYArcsec: poleYRad / RADIANS_PER_ARCSECOND,
  };
}
