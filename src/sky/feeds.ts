/**
 * The response of a pair of feeds to the field of a wave: the one Jones matrix of the simulator, the calibration models
 * and the images (docs/conventions.md, polarisation). The input is the sky's field along J2000 east and north at the
 * source; the output is X and Y.
 */
import { RADIANS_PER_DEGREE } from '../core/units.js';
import { cross, dot, normalise, type Vector3 } from '../core/vector.js';
import { ecefToEnu, ecefToSite, enuToEcef, siteToEcef } from '../telescope/earth.js';
import type { Mount, Site, Station, Telescope } from '../telescope/telescope.js';
import type { SkyFrame, TangentAxes } from './frame.js';

/** Rows X and Y, columns the field along east and along north; real, since feeds are linear and passive. */
export type FeedJones = readonly [xEast: number, xNorth: number, yEast: number, yNorth: number];

export const IDENTITY: FeedJones = [1, 0, 0, 1];

/** Position angle of X, from north through east, by default: X east, Y north. */
export const X_EAST_DEG = 90;

/** Orientation of the feeds: `xAngleDeg` is the angle of X from the north of its mount through east; Y is 90° less. */
interface Feed {
  readonly mount: Mount;
  readonly xAngleDeg?: number;
}

/** The feeds of a telescope; undefined if its mount is unknown: X and Y then count as east and north of J2000. */
export const feedOf = ({
  mount,
  feedAngleDeg,
}: Pick<Telescope, 'mount' | 'feedAngleDeg'>): Feed | undefined =>
  mount && { mount, xAngleDeg: feedAngleDeg };

/** Direction of a mount's north: the zenith for alt-az, the pole of date for equatorial. */
export const mountAxis = (
  mount: 'altaz' | 'equatorial',
  { latitudeDeg }: Pick<Site, 'latitudeDeg'>,
): Vector3 =>
  mount === 'altaz'
    ? { x: 0, y: 0, z: 1 }
    : { x: 0, y: Math.cos(latitudeDeg * RADIANS_PER_DEGREE), z: Math.sin(latitudeDeg * RADIANS_PER_DEGREE) };

/** Position angle of a mount's north at a source, from J2000 north through east: the parallactic angle of an alt-az mount. */
export const mountAngleRad = (axisEnu: Vector3, { l, m }: TangentAxes): number =>
  Math.atan2(dot(axisEnu, l), dot(axisEnu, m));

/**
 * Towards the source of `axes`. A mount that follows it rotates the field; dipoles fixed to the ground receive its
 * projection onto them: 1 at the zenith, sin(altitude) along a dipole towards the horizon.
 */
export function feedJones(
  { mount, xAngleDeg = X_EAST_DEG }: Feed,
  axes: TangentAxes,
  axisEnu: Vector3,
): FeedJones {
  const angle = xAngleDeg * RADIANS_PER_DEGREE;
  if (mount === 'fixed') {
    const x: Vector3 = { x: Math.sin(angle), y: Math.cos(angle), z: 0 };
    const y: Vector3 = { x: -Math.cos(angle), y: Math.sin(angle), z: 0 };
    return [dot(x, axes.l), dot(x, axes.m), dot(y, axes.l), dot(y, axes.m)];
  }
  const at = mountAngleRad(axisEnu, axes) + angle;
  return [Math.sin(at), Math.cos(at), -Math.cos(at), Math.sin(at)];
}

/** For an array whose stations share one horizon; the identity if its mount is unknown. */
export function telescopeJones(telescope: Telescope, axes: TangentAxes): FeedJones {
  const feed = feedOf(telescope);
  if (!feed) return IDENTITY;
  return feedJones(
    feed,
    axes,
    mountAxis(feed.mount === 'equatorial' ? 'equatorial' : 'altaz', telescope.site),
  );
}

/** [s]: the north of each station's own mount, which differs from the array's by station distance over Earth radius. */
export function stationAxes({
  site,
  stations,
  mount,
}: Pick<Telescope, 'site' | 'stations' | 'mount'>): Vector3[] {
  const origin = siteToEcef(site);
  return stations.map(({ eastM, northM, upM }: Station) => {
    if (mount !== 'altaz') return mountAxis('equatorial', site);
    const offset = enuToEcef({ x: eastM, y: northM, z: upM }, site);
    const own = ecefToSite({ x: origin.x + offset.x, y: origin.y + offset.y, z: origin.z + offset.z });
    return ecefToEnu(enuToEcef({ x: 0, y: 0, z: 1 }, own), site);
  });
}

/** How far the norths of mounts differ over an array, degrees; one matrix serves all if they hardly differ. */
export function spreadDeg(telescope: Pick<Telescope, 'site' | 'stations' | 'mount'>): number {
  if (telescope.mount !== 'altaz') return 0;
  return stationAxes(telescope).reduce(
    (most, { x, y, z }) => Math.max(most, Math.atan2(Math.hypot(x, y), z) / RADIANS_PER_DEGREE),
    0,
  );
}

/** The square root of the mean power of X and Y of an unpolarised source: 1 for mounts that follow it. */
export const rmsOf = ([a, b, c, d]: FeedJones): number => Math.sqrt((a * a + b * b + c * c + d * d) / 2);

export const scaled = ([a, b, c, d]: FeedJones, by: number): FeedJones => [a * by, b * by, c * by, d * by];

/** Each row normalised to 1, for use with voltages of X and Y that include the lengths. */
export function normalisedRows([a, b, c, d]: FeedJones): FeedJones {
  const [x, y] = [Math.hypot(a, b), Math.hypot(c, d)];
  return [x > 0 ? a / x : 0, x > 0 ? b / x : 0, y > 0 ? c / y : 0, y > 0 ? d / y : 0];
}

export interface Stokes {
  readonly i: number;
  readonly q: number;
  readonly u: number;
  readonly v: number;
}

/** What X and Y record, as Stokes parameters of the feeds: XX = i − q, YY = i + q, XY = u − iv. J·B·Jᵀ. */
export function throughFeed([a, b, c, d]: FeedJones, { i, q, u, v }: Stokes): Stokes {
  const [east, north] = [i - q, i + q];
  const xx = a * a * east + b * b * north + 2 * a * b * u;
  const yy = c * c * east + d * d * north + 2 * c * d * u;
  return {
    i: (xx + yy) / 2,
    q: (yy - xx) / 2,
    u: a * c * east + b * d * north + (a * d + b * c) * u,
    v: (a * d - b * c) * v,
  };
}

/** The inverse; undefined if the projected feeds are parallel, at the horizon. */
export function inverseJones([a, b, c, d]: FeedJones): FeedJones | undefined {
  const determinant = a * d - b * c;
  return Math.abs(determinant) > 1e-6
    ? [d / determinant, -b / determinant, -c / determinant, a / determinant]
    : undefined;
}

/**
 * East and north of J2000 in any direction, from the apparent pole: accurate to aberration, 10⁻⁴ rad over the cosine of
 * the declination. For all pixels of an image, where `frame.tangentAxes` would be too slow.
 */
export function axesTowards(poleEnu: Vector3, n: Vector3): TangentAxes {
  const east = cross(poleEnu, n);
  const size = Math.sqrt(dot(east, east));
  // At the pole itself east is arbitrary.
  const l = size > 1e-9 ? normalise(east) : normalise(cross({ x: 1, y: 0, z: 0 }, n));
  return { l, m: cross(n, l), n };
}

/** Apparent direction of the J2000 pole. */
export const poleOf = (frame: Pick<SkyFrame, 'directionEnu'>): Vector3 =>
  frame.directionEnu({ raDeg: 0, decDeg: 90 });
