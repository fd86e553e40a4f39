/**
 * Compares a file's uvw with its antenna positions. Unphasing uses uvw, and phasing elsewhere uses positions: if the
 * two disagree, one of them or the time is wrong, and so is every image with another phase centre than the file's.
 */
import { refuse } from '../../core/errors.js';
import type { Instant } from '../../core/instant.js';
import { dot, scale, type Vector3 } from '../../core/vector.js';
import { skyFrame, type SkyPosition, type TangentAxes } from '../../sky/frame.js';
import type { Site, Station, Telescope } from '../../telescope/telescope.js';

export type Places = Pick<Telescope, 'site' | 'stations'>;

/** The time of the uvw, and the phase centre; `ground`: fringes run, and uvw are along east, north and up. */
interface Stopped {
  readonly middle: Instant;
  readonly stoppedAt: SkyPosition | 'ground';
}

const GROUND: TangentAxes = { l: { x: 1, y: 0, z: 0 }, m: { x: 0, y: 1, z: 0 }, n: { x: 0, y: 0, z: 1 } };

/** A pair of two stations, and its uvw in the file. */
export interface UvwRow {
  readonly s1: number;
  readonly s2: number;
  readonly uvwM: readonly [number, number, number];
}

interface UvwFit {
  /** 1 if uvw is r₁ − r₂, −1 if r₂ − r₁. */
  readonly sign: 1 | -1;
  /** Pairs that were tested, and those whose positions disagree. */
  readonly pairs: number;
  readonly apart: number;
  /** Length of uvw and of its residual from the positions, rms over pairs. */
  readonly lengthM: number;
  readonly apartM: number;
  /** Every w is 0, but not by the positions. */
  readonly isFlat: boolean;
}

/**
 * Apparent positions instead of J2000, times at an integration's edge, refraction and rounding all stay below a
 * hundredth. Arrays of some metres may be off by negligible amounts.
 */
const MOST_APART = 0.1;
const LEAST_APART_M = 5;

/** Close to a pole, east and north of J2000 and of date are rotated: only lengths and w are comparable there. */
const NEAR_POLE_DEG = 85;

const axesOf = (site: Site, { middle, stoppedAt }: Stopped): TangentAxes =>
  stoppedAt === 'ground' ? GROUND : skyFrame(site, middle).tangentAxes(stoppedAt);

/** Whether all antennas are at one place, as where positions were never set, although uvw differ from 0. */
export const isUnplaced = ({ stations }: Places, rows: readonly UvwRow[]): boolean =>
  stations.every(
    ({ eastM, northM, upM }) =>
      eastM === stations[0].eastM && northM === stations[0].northM && upM === stations[0].upM,
  ) && rows.some(({ uvwM }) => Math.hypot(...uvwM) > LEAST_TELLING_M);

/** The stations where the uvw of their pairs at one time place them, with the site at their mean. */
export function placedByUvw(
  path: string,
  { site, stations }: Places,
  of: Stopped & { readonly rows: readonly UvwRow[] },
): readonly Station[] {
  const { l, m, n } = axesOf(site, of);
  const at = new Map<number, Vector3>([[of.rows[0].s1, { x: 0, y: 0, z: 0 }]]);
  for (let found = 0; found < at.size;) {
    found = at.size;
    for (const { s1, s2, uvwM } of of.rows) {
      const [one, two] = [at.get(s1), at.get(s2)];
      if ((one === undefined) === (two === undefined)) continue;
      const [u, v, w] = one === undefined ? uvwM : uvwM.map((part) => -part);
      const from = one ?? two ?? { x: 0, y: 0, z: 0 };
      at.set(one === undefined ? s1 : s2, {
        x: from.x + u * l.x + v * m.x + w * n.x,
        y: from.y + u * l.y + v * m.y + w * n.y,
        z: from.z + u * l.z + v * m.z + w * n.z,
      });
    }
  }
  const mean = scale(
    [...at.values()].reduce((sum, { x, y, z }) => ({ x: sum.x + x, y: sum.y + y, z: sum.z + z })),
    1 / at.size,
  );
  return stations.map((station, s) => {
    const place =
      at.get(s) ??
      refuse(
        path,
        `no pair leads from station ${station.name} to the others at the first time, so its uvw do not place it`,
        'export it without that antenna, or correct the antenna positions',
      );
    return { ...station, eastM: place.x - mean.x, northM: place.y - mean.y, upM: place.z - mean.z };
  });
}

interface PairFit {
  readonly lengthM: number;
  /** w by the positions. */
  readonly deepM: number;
  /** What is left of uvw as r₁ − r₂, and as r₂ − r₁. */
  readonly forwardM: number;
  readonly backwardM: number;
}

/** None if no pair can be tested: autocorrelations, or uvw that were never set. */
function fitPairs(
  { site, stations }: Places,
  { middle, stoppedAt }: Stopped,
  rows: readonly UvwRow[],
): { readonly pairs: readonly PairFit[]; readonly isFlat: boolean } {
  const withUvw = rows.filter(
    ({ s1, s2, uvwM }) => s1 !== s2 && uvwM.every(Number.isFinite) && uvwM.some((part) => part !== 0),
  );
  const { l, m, n } = axesOf(site, { middle, stoppedAt });
  // Some programs write only u and v.
  const isFlat = withUvw.every(({ uvwM }) => uvwM[2] === 0);
  const isNearPole = stoppedAt !== 'ground' && Math.abs(stoppedAt.decDeg) > NEAR_POLE_DEG;
  const pairs = withUvw.map(({ s1, s2, uvwM: [u, v, w] }): PairFit => {
    const [one, two] = [stations[s1], stations[s2]];
    const apart = { x: one.eastM - two.eastM, y: one.northM - two.northM, z: one.upM - two.upM };
    const [pu, pv, pw] = [dot(l, apart), dot(m, apart), dot(n, apart)];
    const left = (sign: 1 | -1): number =>
      Math.hypot(
        isNearPole ? Math.hypot(u, v) - Math.hypot(pu, pv) : Math.hypot(u - sign * pu, v - sign * pv),
        isFlat ? 0 : w - sign * pw,
      );
    return { lengthM: Math.hypot(u, v, w), deepM: pw, forwardM: left(1), backwardM: left(-1) };
  });
  return { pairs, isFlat };
}

/**
 * Whether the uvw of all pairs agree with `turned` places to a metre, and with the stated ones not to a kilometre:
 * then only one of the two can be right.
 */
export function fitsTurned(
  stated: Places,
  turned: Places,
  of: Stopped & { readonly rows: readonly UvwRow[] },
): boolean {
  const before = fitPairs(stated, of, of.rows).pairs;
  const after = fitPairs(turned, of, of.rows).pairs;
  return (
    before.length > 0 &&
    before.every(({ forwardM, backwardM }) => Math.min(forwardM, backwardM) > 1000) &&
    (['forwardM', 'backwardM'] as const).some((way) => after.every((pair) => pair[way] <= 1))
  );
}

function fitUvw(places: Places, of: Stopped, rows: readonly UvwRow[]): UvwFit | undefined {
  const { pairs, isFlat } = fitPairs(places, of, rows);
  if (pairs.length === 0) return undefined;
  const rms = (value: (pair: PairFit) => number): number =>
    Math.sqrt(pairs.reduce((sum, pair) => sum + value(pair) ** 2, 0) / pairs.length);
  const [forwardM, backwardM] = [rms((pair) => pair.forwardM), rms((pair) => pair.backwardM)];
  // The sign decides conjugation: uvw that fit neither direction must not flip it by chance.
  const sign = 2 * backwardM < forwardM ? -1 : 1;
  const leftOf = (pair: PairFit): number => (sign === 1 ? pair.forwardM : pair.backwardM);
  return {
    sign,
    pairs: pairs.length,
    apart: pairs.filter((pair) => leftOf(pair) > Math.max(LEAST_APART_M, MOST_APART * pair.lengthM)).length,
    lengthM: rms((pair) => pair.lengthM),
    apartM: sign === 1 ? forwardM : backwardM,
    isFlat: isFlat && rms(({ deepM }) => deepM) > LEAST_TELLING_M,
  };
}

/** uvw that were never set give neither the conjugation nor a pair's position in the uv plane. */
function refuseUnset(path: string, { stations }: Places, rows: readonly UvwRow[]): void {
  const apart = rows.filter(({ s1, s2 }) => {
    const [one, two] = [stations[s1], stations[s2]];
    const lengthM = Math.hypot(one.eastM - two.eastM, one.northM - two.northM, one.upM - two.upM);
    return lengthM > LEAST_TELLING_M && lengthM < MOST_TELLING_M;
  });
  const isUnset = ({ uvwM }: UvwRow): boolean =>
    uvwM.every((part) => part === 0) || uvwM.some((part) => !Number.isFinite(part));
  if (apart.length >= LEAST_TELLING_PAIRS && apart.every(isUnset))
    refuse(
      path,
      `its uvw are all ${apart[0].uvwM.some(Number.isNaN) ? 'NaN' : '0'} although its antennas are apart`,
      'compute them from the positions (pyuvdata: set_uvws_from_antenna_positions)',
    );
}

/** uvw of antennas closer than this may be rounded to 0. */
const LEAST_TELLING_M = 0.1;
/** Positions farther apart are refused elsewhere. */
const MOST_TELLING_M = 1e9;
/** A single pair makes no image, and programs that write one omit its uvw. */
const LEAST_TELLING_PAIRS = 2;

const metres = (value: number): string => `${Number(value.toPrecision(3))} m`;

interface UvwCheck {
  readonly sign: 1 | -1;
  readonly assumed: readonly string[];
  /** u and v agree with the positions, and w were never set. */
  readonly isFlat?: true;
}

/**
 * The direction of uvw at one time; refused if positions and uvw disagree for most pairs. `usual` is the format's
 * direction, undefined if sets differ.
 */
export function checkUvw(
  path: string,
  places: Places,
  of: Stopped & {
    readonly rows: readonly UvwRow[];
    readonly definedSign?: 1;
    readonly uvw?: 'file' | undefined;
    /** The caller's treatment of w that were never set; the default, `kept`, gives a warning. */
    readonly flat?: 'kept' | 'computed';
  },
): UvwCheck {
  refuseUnset(path, places, of.rows);
  const fit = fitUvw(places, of, of.rows);
  if (!fit) return { sign: 1, assumed: [] };
  const { sign, pairs, apart } = fit;
  const isFlat = fit.isFlat && of.stoppedAt !== 'ground';
  if (2 * apart > pairs && of.stoppedAt === 'ground')
    return {
      sign: 1,
      assumed: [
        `its uvw contradict its antennas' positions by ${metres(fit.apartM)} (rms), whichever way they run: the positions are used`,
      ],
    };
  if (2 * apart > pairs && of.uvw === 'file')
    return {
      sign,
      assumed: [
        `its uvw contradict its antennas' positions by ${metres(fit.apartM)} (rms): its uvw are used, as asked; images at its own phase centre are right, other centres, calibration and the sign of V are not`,
      ],
    };
  if (2 * apart > pairs)
    refuse(
      path,
      `its uvw contradict its antennas' places, times or phase centre: they are ${metres(fit.lengthM)} long and differ from what these give by ${metres(fit.apartM)} (rms), whichever way they run`,
      'correct the table of antennas (casacore does not turn the places of UVFITS with ARRAYX, ARRAYY, ARRAYZ), or name the telescope whose stations are at those positions with telescope: NAME; source.uvw: file uses its uvw, for images at its own phase centre',
    );
  return {
    sign,
    assumed: [
      ...(apart === 0
        ? []
        : [
            `uvw of ${apart} of ${pairs} pairs contradict the positions of their antennas: an antenna's position may be wrong`,
          ]),
      ...(sign === of.definedSign || of.definedSign === undefined
        ? []
        : [
            "its uvw have the opposite sign of its format's definition, by its antennas' positions: images around other centres than its own may be wrong",
          ]),
      ...(isFlat
        ? [
            of.flat === 'computed'
              ? 'its w are all 0: computed from the positions'
              : 'its w are all 0: images at its own phase centre are right, other centres and calibration are not',
          ]
        : []),
    ],
    ...(isFlat && { isFlat }),
  };
}

/** The user's positions, if the number of stations matches the file's. */
export const placesInUse = (own: Places, given: Telescope | undefined): Places =>
  given?.stations.length === own.stations.length ? given : own;
