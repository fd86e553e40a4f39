/** Lines of coordinates across an image, as polylines in direction cosines. */
import { DEGREES_PER_RADIAN, RADIANS_PER_DEGREE } from '../core/units.js';
import type { Vector3 } from '../core/vector.js';
import { altitudeDeg, azimuthDeg, directionFromAltAz, type SkyFrame } from '../sky/frame.js';
import { type ImagePlan, placeOf } from '../image/index.js';

export interface Place {
  readonly l: number;
  readonly m: number;
}
export interface GridLabel extends Place {
  readonly text: string;
}
export interface SkyGrid {
  readonly lines: readonly (readonly Place[])[];
  readonly labels: readonly GridLabel[];
}

/** Most degrees between two points of a line, and that many steps across a narrow field: smooth at any size. */
const STEP_DEG = 1.5;
const STEPS_ACROSS = 40;
/** Lines end a little above the horizon, where they would crowd. */
const LOWEST_UP = 0.02;

const visiblePlace = (plan: ImagePlan, direction: Vector3): Place | undefined =>
  direction.z > LOWEST_UP ? placeOf(plan, direction) : undefined;

const widthOf = ({ field }: Pick<ImagePlan, 'field'>): number =>
  field.kind === 'all-sky' ? 180 : field.widthDeg;

type Degrees = readonly [fromDeg: number, toDeg: number];

/** Follows a curve over a range of degrees and cuts it where it leaves the sky. */
function trace(
  plan: ImagePlan,
  [fromDeg, toDeg]: Degrees,
  /** Degrees of sky in a degree along the curve. */
  shortening: number,
  direction: (degrees: number) => Vector3,
): Place[][] {
  const pieces: Place[][] = [];
  let piece: Place[] = [];
  const stepDeg = Math.min(STEP_DEG, widthOf(plan) / STEPS_ACROSS / shortening);
  const steps = Math.ceil((toDeg - fromDeg) / stepDeg);
  for (let step = 0; step <= steps; step++) {
    const place = visiblePlace(plan, direction(fromDeg + ((toDeg - fromDeg) * step) / steps));
    if (place) piece.push(place);
    if (!place || step === steps) {
      if (piece.length > 1) pieces.push(piece);
      piece = [];
    }
  }
  return pieces;
}

/** The longitudes and latitudes of a sphere that a field can reach, and so how far its lines need to be followed. */
interface Reach {
  readonly longitudes: Degrees;
  readonly latitudes: Degrees;
}

/** A little is added, so that no line ends within the field's corners. */
const REACH_MARGIN = 1.02;

/** `centre`: of the field, in the grid's own longitude and latitude. */
export function fieldReach(
  plan: Pick<ImagePlan, 'field'>,
  centre: { lonDeg: number; latDeg: number },
): Reach {
  const toCorner = Math.SQRT2 * Math.sin((widthOf(plan) / 2) * RADIANS_PER_DEGREE) * REACH_MARGIN;
  const everywhere: Reach = { longitudes: [0, 360], latitudes: [-90, 90] };
  if (plan.field.kind === 'all-sky' || toCorner >= 1) return everywhere;
  const radiusDeg = Math.asin(toCorner) * DEGREES_PER_RADIAN;
  const latitudes = [
    Math.max(-90, centre.latDeg - radiusDeg),
    Math.min(90, centre.latDeg + radiusDeg),
  ] as const;
  // A circle of this radius touches two meridians, unless a pole lies in it.
  const turn = toCorner / Math.cos(centre.latDeg * RADIANS_PER_DEGREE);
  if (Math.abs(centre.latDeg) + radiusDeg >= 90 || turn >= 1) return { ...everywhere, latitudes };
  const halfDeg = Math.asin(turn) * DEGREES_PER_RADIAN;
  return { longitudes: [centre.lonDeg - halfDeg, centre.lonDeg + halfDeg], latitudes };
}

const both = (a: Degrees, b: Degrees): Degrees => [Math.max(a[0], b[0]), Math.min(a[1], b[1])];
/** Whether a value, which may be 360° lower or higher, is in a range. */
const reaches = ([from, to]: Degrees, longitudeDeg: number): boolean =>
  [-360, 0, 360].some((turn) => longitudeDeg + turn >= from && longitudeDeg + turn <= to);

/** Parallels and meridians of a sphere, as far as the field reaches. */
function sphereLines(
  plan: ImagePlan,
  reach: Reach,
  grid: {
    readonly latitudes: readonly number[];
    readonly longitudes: readonly number[];
    /** Where meridians begin and end. */
    readonly meridians: Degrees;
    readonly direction: (longitudeDeg: number, latitudeDeg: number) => Vector3;
  },
): Place[][] {
  const meridians = both(grid.meridians, reach.latitudes);
  return [
    ...grid.latitudes
      .filter((latitude) => latitude >= reach.latitudes[0] && latitude <= reach.latitudes[1])
      .flatMap((latitude) =>
        trace(plan, reach.longitudes, Math.cos(latitude * RADIANS_PER_DEGREE), (longitude) =>
          grid.direction(longitude, latitude),
        ),
      ),
    ...grid.longitudes
      .filter((longitude) => meridians[0] < meridians[1] && reaches(reach.longitudes, longitude))
      .flatMap((longitude) => trace(plan, meridians, 1, (latitude) => grid.direction(longitude, latitude))),
  ];
}

const label = (plan: ImagePlan, text: string, direction: Vector3): GridLabel[] => {
  const place = visiblePlace(plan, direction);
  return place ? [{ ...place, text }] : [];
};

/** Circles of altitude and spokes of azimuth. */
export function horizontalGrid(plan: ImagePlan): SkyGrid {
  const altitudes = [15, 30, 45, 60, 75];
  const azimuths = [0, 45, 90, 135, 180, 225, 270, 315];
  const reach = fieldReach(plan, { lonDeg: azimuthDeg(plan.axes.n), latDeg: altitudeDeg(plan.axes.n) });
  return {
    lines: sphereLines(plan, reach, {
      latitudes: altitudes,
      longitudes: azimuths,
      meridians: [0, 75],
      direction: (az, alt) => directionFromAltAz(alt, az),
    }),
    labels: altitudes.flatMap((alt) => label(plan, `${alt}°`, directionFromAltAz(alt, 22.5))),
  };
}

/** Right ascension every two hours, declination every thirty degrees (or less in a narrow field). */
export function equatorialGrid(plan: ImagePlan, frame: SkyFrame): SkyGrid {
  const widthDeg = widthOf(plan);
  const decStep = widthDeg > 60 ? 30 : widthDeg > 20 ? 10 : widthDeg > 6 ? 2 : 0.5;
  const raStep = widthDeg > 60 ? 30 : widthDeg > 20 ? 15 : widthDeg > 6 ? 3.75 : 1.25;
  const at = (raDeg: number, decDeg: number): Vector3 => frame.directionEnu({ raDeg, decDeg });
  const centre = frame.positionOf(plan.axes.n);
  const reach = fieldReach(plan, { lonDeg: centre.raDeg, latDeg: centre.decDeg });
  const decs = range(decStep, 90).filter((dec) => Math.abs(dec) < 90);
  const ras = range(raStep, 360).filter((ra) => ra >= 0 && ra < 360);
  const nearestDec = Math.round(centre.decDeg / decStep) * decStep;
  // declinations are read halfway between two hours, hours halfway between two declinations
  const labelRa = (Math.round(centre.raDeg / raStep) + 0.5) * raStep;
  const labelDec = nearestDec + (nearestDec > 0 ? -0.5 : 0.5) * decStep;
  return {
    lines: sphereLines(plan, reach, {
      latitudes: decs,
      longitudes: ras,
      meridians: [decStep - 90, 90 - decStep],
      direction: at,
    }),
    labels: [
      ...decs.flatMap((dec) =>
        label(plan, `${dec > 0 ? '+' : dec < 0 ? '−' : ''}${Math.abs(dec)}°`, at(labelRa, dec)),
      ),
      ...ras.flatMap((ra) => label(plan, hours(ra), at(ra, labelDec))),
    ],
  };
}

const range = (step: number, end: number): number[] =>
  Array.from({ length: 2 * Math.round(end / step) + 1 }, (_, k) => (k - Math.round(end / step)) * step);

/** "14h", "14h15m". */
function hours(raDeg: number): string {
  const minutes = Math.round(raDeg * 4);
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)}h${rest === 0 ? '' : `${String(rest).padStart(2, '0')}m`}`;
}
