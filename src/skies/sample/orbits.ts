/** Two-line elements of satellites in given directions at a moment, on circular orbits as high as those of GPS. */
import type { Instant } from '../../core/instant.js';
import { formatInstant, parseInstant, secondsBetween } from '../../core/instant.js';
import { DEGREES_PER_RADIAN, RADIANS_PER_DEGREE, SECONDS_PER_DAY } from '../../core/units.js';
import { dot } from '../../core/vector.js';
import { localSiderealTimeRad } from '../../sky/earth/sidereal.js';
import { checksum } from '../../sky/orbits/elements.js';
import { checkedDirection } from '../../sky/source.js';
import { enuToEcef, siteToEcef } from '../../telescope/earth.js';
import type { Site } from '../../telescope/telescope.js';

const RADIUS_M = 26_560e3;
/** Of the Earth, m³/s². */
const GRAVITY = 3.986_004_418e14;
const INCLINATION_DEG = 55;

export interface Placed {
  readonly name: string;
  readonly number: number;
  readonly altitudeDeg: number;
  readonly azimuthDeg: number;
}

export const elementsOf = (site: Site, moment: Instant, satellites: readonly Placed[]): string =>
  satellites.map((one) => `${one.name}\n${linesOf(site, moment, one).join('\n')}\n`).join('');

function linesOf(site: Site, moment: Instant, { number, altitudeDeg, azimuthDeg }: Placed): [string, string] {
  const here = siteToEcef(site);
  const towards = enuToEcef(checkedDirection('sample', altitudeDeg, azimuthDeg), site);
  const along = dot(here, towards);
  const range = -along + Math.sqrt(along * along + RADIUS_M ** 2 - dot(here, here));
  const [x, y, z] = (['x', 'y', 'z'] as const).map((axis) => here[axis] + range * towards[axis]);
  const declination = Math.asin(z / RADIUS_M);
  const ascension = Math.atan2(y, x) + localSiderealTimeRad(moment, 0);
  const inclination = Math.max(INCLINATION_DEG * RADIANS_PER_DEGREE, Math.abs(declination) + 0.01);
  // Along the orbit from its ascending node.
  const way = Math.asin(Math.sin(declination) / Math.sin(inclination));
  const node = ascension - Math.atan2(Math.cos(inclination) * Math.sin(way), Math.cos(way));
  const turnsADay = (Math.sqrt(GRAVITY / RADIUS_M ** 3) * SECONDS_PER_DAY) / (2 * Math.PI);
  const year = formatInstant(moment, 0).slice(0, 4);
  const day = 1 + secondsBetween(parseInstant(`${year}-01-01T00:00:00Z`), moment) / SECONDS_PER_DAY;
  const angle = (radians: number): string =>
    (((radians * DEGREES_PER_RADIAN) % 360) + (radians < 0 ? 360 : 0)).toFixed(4).padStart(8);
  return [
    summed(
      `1 ${number}U ${year.slice(2)}001A   ${year.slice(2)}${day.toFixed(8).padStart(12, '0')}  .00000000  00000+0  00000+0 0  999`,
    ),
    summed(
      `2 ${number} ${angle(inclination)} ${angle(node)} 0000001 ${angle(0)} ${angle(way)} ${turnsADay.toFixed(8).padStart(11)}    1`,
    ),
  ];
}

/** Appends the checksum. */
const summed = (line: string): string => `${line}${checksum(line)}`;
