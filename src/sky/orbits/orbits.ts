/**
 * Satellites by name, from the orbital element files in use, which serve the whole process like the Earth's
 * orientation. SGP4 gives positions on the true equator and mean equinox of date (TEME); sidereal time of 1982 and
 * polar motion convert them to ITRF.
 *
 * Elements lose accuracy with age, much sooner below 2,000 km, where the atmosphere brakes. The ages used are kept for
 * a report; above a limit a position is refused.
 */
import type { SatRec } from 'satellite.js';
import type * as Satellites from 'satellite.js';
import { refuse } from '../../core/errors.js';
import { formatInstant, type Instant } from '../../core/instant.js';
import { SECONDS_PER_DAY, SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { normalise, type Vector3 } from '../../core/vector.js';
import { ecefToEnu, siteToEcef } from '../../telescope/earth.js';
import type { Site } from '../../telescope/telescope.js';
import { apply, sameAxes, turned } from '../earth/angles.js';
import { earthClock } from '../earth/clock.js';
import { earthOrientation } from '../earth/orientation.js';
import { altitudeDeg, azimuthDeg, type SkyFrame } from '../frame.js';
import { readText } from '../read-text.js';
import { plainName, unpolarised, type Source } from '../source.js';
import { parseElements, type ElementSet } from './elements.js';
import { reportLeftOut, reportUse, takeOrbitReport } from './report.js';

type Theory = Pick<typeof Satellites, 'gstime' | 'json2satrec' | 'sgp4' | 'twoline2satrec'>;

/** `warned` and `refused`: days from the epoch. */
interface Limits {
  readonly warned: number;
  readonly refused: number;
}
const LOW_KM = 2000;
const LOW: Limits = { warned: 3, refused: 14 };
const HIGH: Limits = { warned: 30, refused: 180 };
const EARTH_RADIUS_KM = 6378.135;

interface Orbit {
  readonly set: ElementSet;
  readonly satrec: SatRec;
  readonly limits: Limits;
}

/** If there are elements of several epochs, the nearest to the moment is used. */
interface Satellite {
  readonly name: string;
  readonly number: string;
  readonly path: string;
  readonly orbits: Orbit[];
}

interface Orbits {
  readonly theory: Theory;
  readonly satellites: readonly Satellite[];
  readonly old: 'refused' | 'accepted';
}

let inUse: Orbits | undefined;

/** Sets the files for the whole process; earlier files are dropped. */
export async function useOrbits(
  paths: readonly string[],
  { old }: { readonly old: Orbits['old'] } = { old: 'refused' },
): Promise<void> {
  inUse = undefined;
  // What was used of earlier files is not of the next report.
  takeOrbitReport();
  if (paths.length === 0) return;
  const theory = await import('satellite.js');
  const satellites = new Map<string, Satellite>();
  for (const path of paths)
    for (const set of parseElements(readText(path, 'cannot be read'), path)) {
      const orbit = orbitOf(set, theory, path);
      const known = satellites.get(set.number);
      if (known) known.orbits.push(orbit);
      else satellites.set(set.number, { name: set.name, number: set.number, path, orbits: [orbit] });
    }
  inUse = { theory, satellites: [...satellites.values()], old };
}

function orbitOf(set: ElementSet, { twoline2satrec, json2satrec }: Theory, path: string): Orbit {
  const { elements } = set;
  const satrec =
    elements.kind === 'lines'
      ? twoline2satrec(elements.one, elements.two)
      : json2satrec(elements.record as unknown as Parameters<Theory['json2satrec']>[0]);
  const { inclo, nodeo, ecco, argpo, mo, no, bstar, altp } = satrec;
  const isWhole = [inclo, nodeo, ecco, argpo, mo, no, bstar, altp].every(Number.isFinite);
  if (!isWhole || !(no > 0) || !(ecco >= 0 && ecco < 1) || (satrec.error as number) !== 0)
    refuse(path, `the elements of ${set.name} are those of no orbit`, 'the file is damaged');
  return { set, satrec, limits: altp * EARTH_RADIUS_KM < LOW_KM ? LOW : HIGH };
}

const daysFrom = (epoch: Instant, moment: Instant): number =>
  (moment.unixSeconds - epoch.unixSeconds + (moment.fraction - epoch.fraction)) / SECONDS_PER_DAY;

function nearest(
  { orbits }: Satellite,
  moment: Instant,
): { readonly orbit: Orbit; readonly ageDays: number } {
  const ages = orbits.map(({ set }) => Math.abs(daysFrom(set.epoch, moment)));
  const ageDays = Math.min(...ages);
  return { orbit: orbits[ages.indexOf(ageDays)], ageDays };
}

/**
 * Metres on ITRF's axes of the moment `seen`, of the position `lightS` earlier; undefined if the theory says that the
 * satellite has decayed.
 */
function place({ set, satrec }: Orbit, seen: Instant, lightS: number, theory: Theory): Vector3 | undefined {
  const minutes = daysFrom(set.epoch, seen) * 1440 - lightS / 60;
  const found = theory.sgp4(satrec, minutes)?.position;
  if (!found || (satrec.error as number) !== 0 || ![found.x, found.y, found.z].every(Number.isFinite))
    return undefined;
  const orientation = earthOrientation(seen);
  const { ut1Days, ut1Fraction } = earthClock(seen, orientation.ut1MinusUtcS);
  const greenwich = turned(sameAxes, 'z', theory.gstime(2_451_545 + ut1Days + ut1Fraction));
  const ground = turned(turned(greenwich, 'y', -orientation.poleXRad), 'x', -orientation.poleYRad);
  return apply(ground, { x: 1e3 * found.x, y: 1e3 * found.y, z: 1e3 * found.z });
}

/** Apparent direction from a site: the position when the signal left the satellite. */
function directionFrom(site: Site, orbit: Orbit, moment: Instant, theory: Theory): Vector3 | undefined {
  const here = siteToEcef(site);
  const towards = (lightS: number): Vector3 | undefined => {
    const there = place(orbit, moment, lightS, theory);
    return there && { x: there.x - here.x, y: there.y - here.y, z: there.z - here.z };
  };
  const now = towards(0);
  const then = now && towards(Math.hypot(now.x, now.y, now.z) / SPEED_OF_LIGHT_M_PER_S);
  return then && normalise(ecefToEnu(then, site));
}

interface Seen {
  readonly direction: Vector3;
  readonly ageDays: number;
}

function seen(satellite: Satellite, { site, moment }: SkyFrame, { theory, old }: Orbits): Seen | string {
  const { orbit, ageDays } = nearest(satellite, moment);
  if (ageDays > orbit.limits.refused && old === 'refused')
    return `its elements are of ${formatInstant(orbit.set.epoch, 0)}, ${ageDays.toFixed(0)} days from the data`;
  const direction = directionFrom(site, orbit, moment, theory);
  return direction ? { direction, ageDays } : 'it has come down by then, after its elements';
}

const sourceOfSatellite = (satellite: Satellite, orbits: Orbits): Source => ({
  name: satellite.name,
  isMoving: true,
  position: (frame) => {
    const found = seen(satellite, frame, orbits);
    if (typeof found === 'string')
      return refuse(
        satellite.path,
        `${satellite.name}: ${found}`,
        'give elements of that time, or allow old ones with old-orbits: true',
      );
    reportUse(satellite, found.ageDays);
    return frame.positionOf(found.direction);
  },
  fluxJy: () => 0,
  stokes: unpolarised,
});

/** By name, by catalogue number, or GPS satellites by code: "PRN 13" if the name contains it. */
export function satellitesNamed(asked: string): readonly Source[] {
  if (!inUse) return [];
  const orbits = inUse;
  const prn = /^(?:gps\s*)?(?:prn|g)\s*0*(\d{1,2})$/i.exec(asked.trim())?.[1];
  return orbits.satellites
    .filter(
      ({ name, number }) =>
        plainName(name) === plainName(asked) ||
        number === asked.trim() ||
        (prn !== undefined && prnOf(name) === Number(prn)),
    )
    .map((one) => sourceOfSatellite(one, orbits));
}

export function prnOf(name: string): number | undefined {
  const found = /\bPRN\s*0*(\d{1,2})\b/i.exec(name)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** A satellite above the horizon. */
export interface SatelliteUp {
  readonly name: string;
  readonly altitudeDeg: number;
  readonly azimuthDeg: number;
  /** Days between the epoch of its elements and the moment. */
  readonly elementsAgeDays: number;
}

/** The highest first; undefined if no orbits are in use. */
export function satellitesUp(frame: SkyFrame): readonly SatelliteUp[] | undefined {
  if (!inUse) return undefined;
  const orbits = inUse;
  const up = orbits.satellites.flatMap((satellite): SatelliteUp[] => {
    const found = seen(satellite, frame, orbits);
    if (typeof found === 'string') {
      reportLeftOut(satellite);
      return [];
    }
    const { direction, ageDays } = found;
    if (direction.z < 0) return [];
    reportUse(satellite, ageDays);
    return [
      {
        name: satellite.name,
        altitudeDeg: altitudeDeg(direction),
        azimuthDeg: azimuthDeg(direction),
        elementsAgeDays: ageDays,
      },
    ];
  });
  return up.sort((one, other) => other.altitudeDeg - one.altitudeDeg);
}

/** All satellites of the files in use; those whose elements are too old are left out and reported. */
export function allSatellites(): readonly Source[] {
  if (!inUse) return [];
  const orbits = inUse;
  const { satellites } = orbits;
  return satellites.map((satellite): Source => ({
    ...sourceOfSatellite(satellite, orbits),
    isKnownAt: (frame) => {
      const found = seen(satellite, frame, orbits);
      if (typeof found !== 'string') return true;
      const { leftOut, used } = reportLeftOut(satellite);
      if (leftOut === satellites.length && used === 0)
        refuse(
          satellite.path,
          `none of its satellites can be placed: ${satellite.name}: ${found}`,
          'give elements of that time, or allow old ones with old-orbits: true',
        );
      return false;
    },
  }));
}
