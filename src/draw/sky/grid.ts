/** Coordinate grid lines across an image, as polylines in direction cosines. */
import { DEGREES_PER_RADIAN, RADIANS_PER_DEGREE } from '../../core/units.js';
import type { Vector3 } from '../../core/vector.js';
import { altitudeDeg, azimuthDeg, directionFromAltAz, type SkyFrame } from '../../sky/frame.js';
import { placeOf } from '../../image/index.js';
import type { Place, SkyPlan } from './view.js';

/** One circle of constant latitude (altitude, declination) or longitude (azimuth, right ascension). */
export interface GridLine {
  readonly kind: 'parallel' | 'meridian';
  readonly text: string;
  /** Several if the line leaves the sky and re-enters it. */
  readonly pieces: readonly (readonly Place[])[];
  /** Preferred label position on the whole sky; without it the line has no label. */
  readonly labelNear?: Place;
}
export type SkyGrid = readonly GridLine[];

/** The parts of a frame that a grid needs. */
export type SkyDirections = Pick<SkyFrame, 'directionEnu' | 'positionOf'>;

/**
 * Largest step between two points of a line in degrees, and number of steps across a narrow field: smooth at any size.
 */
const STEP_DEG = 1.5;
const STEPS_ACROSS = 40;
/** Lines end slightly above the horizon, where they would crowd. */
const LOWEST_UP = 0.02;

const visiblePlace = (plan: SkyPlan, direction: Vector3): Place | undefined =>
  direction.z > LOWEST_UP ? placeOf(plan, direction) : undefined;

const widthOf = ({ field }: Pick<SkyPlan, 'field'>): number =>
  field.kind === 'all-sky' ? 180 : field.widthDeg;

type Degrees = readonly [fromDeg: number, toDeg: number];

/** Follows a curve over a range of degrees and cuts it at the edge of the sky. */
function trace(
  plan: SkyPlan,
  [fromDeg, toDeg]: Degrees,
  /** Degrees on the sky per degree along the curve. */
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

/** The longitudes and latitudes that a field can reach, which limit how far its lines are followed. */
interface Reach {
  readonly longitudes: Degrees;
  readonly latitudes: Degrees;
}

/** A small margin, so that no line ends inside the field's corners. */
const REACH_MARGIN = 1.02;

/** `centre`: of the field, in the grid's own longitude and latitude. */
export function fieldReach(
  plan: Pick<SkyPlan, 'field'>,
  centre: { readonly lonDeg: number; readonly latDeg: number },
): Reach {
  const toCorner = Math.SQRT2 * Math.sin((widthOf(plan) / 2) * RADIANS_PER_DEGREE) * REACH_MARGIN;
  const everywhere: Reach = { longitudes: [0, 360], latitudes: [-90, 90] };
  if (plan.field.kind === 'all-sky' || toCorner >= 1) return everywhere;
  const radiusDeg = Math.asin(toCorner) * DEGREES_PER_RADIAN;
  const latitudes = [
    Math.max(-90, centre.latDeg - radiusDeg),
    Math.min(90, centre.latDeg + radiusDeg),
  ] as const;
  // A circle of this radius touches two meridians, unless it contains a pole.
  const turn = toCorner / Math.cos(centre.latDeg * RADIANS_PER_DEGREE);
  if (Math.abs(centre.latDeg) + radiusDeg >= 90 || turn >= 1) return { ...everywhere, latitudes };
  const halfDeg = Math.asin(turn) * DEGREES_PER_RADIAN;
  return { longitudes: [centre.lonDeg - halfDeg, centre.lonDeg + halfDeg], latitudes };
}

const both = (a: Degrees, b: Degrees): Degrees => [Math.max(a[0], b[0]), Math.min(a[1], b[1])];

interface Sphere {
  readonly centre: { readonly lonDeg: number; readonly latDeg: number };
  readonly direction: (longitudeDeg: number, latitudeDeg: number) => Vector3;
  readonly parallelStepDeg: number;
  readonly meridianStepDeg: number;
  readonly parallelText: (latitudeDeg: number) => string;
  readonly meridianText: (longitudeDeg: number) => string;
  /** Preferred positions of the whole sky's labels: parallels' on a meridian, meridians', if any, on a parallel. */
  readonly labelsAt: { readonly lonDeg: number; readonly latDeg?: number };
  /** Meridians end at this distance from the equator, before they crowd. */
  readonly meridiansEndDeg: number;
  readonly lowestDeg?: number;
}

function gridOf(plan: SkyPlan, sphere: Sphere): SkyGrid {
  const { direction, parallelStepDeg, meridianStepDeg, labelsAt, meridiansEndDeg, lowestDeg = -90 } = sphere;
  const reach = fieldReach(plan, sphere.centre);
  const meridians = both([Math.max(lowestDeg, -meridiansEndDeg), meridiansEndDeg], reach.latitudes);
  const near = (longitude: number, latitude: number): { labelNear?: Place } => {
    const place = visiblePlace(plan, direction(longitude, latitude));
    return place ? { labelNear: place } : {};
  };
  const lines: GridLine[] = [
    ...multiples(parallelStepDeg, reach.latitudes)
      .filter((latitude) => latitude > lowestDeg && Math.abs(latitude) < 90 - 1e-9)
      .map((latitude): GridLine => ({
        kind: 'parallel',
        text: sphere.parallelText(latitude),
        pieces: trace(plan, reach.longitudes, Math.cos(latitude * RADIANS_PER_DEGREE), (longitude) =>
          direction(longitude, latitude),
        ),
        ...near(labelsAt.lonDeg, latitude),
      })),
    ...(meridians[0] < meridians[1] ? multiples(meridianStepDeg, reach.longitudes) : [])
      .filter((longitude) => longitude < reach.longitudes[0] + 360 - 1e-9)
      .map((longitude): GridLine => ({
        kind: 'meridian',
        text: sphere.meridianText((longitude + 720) % 360),
        pieces: trace(plan, meridians, 1, (latitude) => direction(longitude, latitude)),
        ...(labelsAt.latDeg !== undefined && near(longitude, labelsAt.latDeg)),
      })),
  ];
  return lines.filter(({ pieces }) => pieces.length > 0);
}

/** Whole multiples of a step inside a range. */
function multiples(step: number, [from, to]: Degrees): number[] {
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => (first + k) * step);
}

/** Degrees, then minutes and seconds of them, down to the resolution of such telescopes. */
const degreeSteps = [30, 20, 10, 5, 2, 1, 1 / 2, 1 / 3, 1 / 6, 1 / 12, 1 / 30, 1 / 60, 1 / 120, 1 / 360];
/** Two hours, then minutes and seconds of time. */
const hourSteps = [30, 15, 7.5, 5, 2.5, 1.25, 1 / 2, 1 / 4, 1 / 8, 1 / 12, 1 / 24, 1 / 48, 1 / 120, 1 / 240];
const MOST_LINES = 6.5;

/** The finest step with a readable number of lines. */
const stepFor = (steps: readonly number[], rangeDeg: number): number =>
  [...steps].reverse().find((step) => rangeDeg / step <= MOST_LINES) ?? steps[0];

/** Range of meridians that pass the field's centre; the full circle if the field contains a pole. */
function longitudeRange(widthDeg: number, latDeg: number): number {
  const poleDistanceDeg = 90 - Math.abs(latDeg);
  if (poleDistanceDeg <= widthDeg / 2) return 360;
  return widthDeg / Math.cos(latDeg * RADIANS_PER_DEGREE);
}

/** Circles of altitude and radial lines of azimuth. */
export function horizontalGrid(plan: SkyPlan): SkyGrid {
  const widthDeg = widthOf(plan);
  const centre = { lonDeg: azimuthDeg(plan.axes.n), latDeg: altitudeDeg(plan.axes.n) };
  const parallelStepDeg = widthDeg > 90 ? 15 : stepFor(degreeSteps, widthDeg);
  const aroundDeg = longitudeRange(widthDeg, centre.latDeg);
  return gridOf(plan, {
    centre,
    direction: (az, alt) => directionFromAltAz(alt, az),
    parallelStepDeg,
    meridianStepDeg: aroundDeg >= 180 ? 45 : stepFor(degreeSteps, aroundDeg),
    parallelText: (alt) => degrees(alt),
    meridianText: (az) => degrees(az),
    labelsAt: { lonDeg: 22.5 },
    meridiansEndDeg: 90 - parallelStepDeg,
    lowestDeg: 0,
  });
}

/** Right ascension every two hours, declination every thirty degrees; finer in a narrow field. */
export function equatorialGrid(plan: SkyPlan, frame: SkyDirections): SkyGrid {
  const widthDeg = widthOf(plan);
  const { raDeg, decDeg } = frame.positionOf(plan.axes.n);
  const decStep = stepFor(degreeSteps, widthDeg);
  const raStep = stepFor(hourSteps, longitudeRange(widthDeg, decDeg));
  const nearestDec = Math.round(decDeg / decStep) * decStep;
  return gridOf(plan, {
    centre: { lonDeg: raDeg, latDeg: decDeg },
    direction: (ra, dec) => frame.directionEnu({ raDeg: ra, decDeg: dec }),
    parallelStepDeg: decStep,
    meridianStepDeg: raStep,
    parallelText: (dec) => (dec > 1e-9 ? '+' : '') + degrees(dec),
    meridianText: hours,
    // declination labels are halfway between two hours, hour labels halfway between two declinations
    labelsAt: {
      lonDeg: (Math.round(raDeg / raStep) + 0.5) * raStep,
      latDeg: nearestDec + (nearestDec > 0 ? -0.5 : 0.5) * decStep,
    },
    meridiansEndDeg: 90 - decStep,
  });
}

/** Units of offsets from a field's centre, the largest first. */
const offsetUnits = [
  { unit: '°', perDegree: 1 },
  { unit: '′', perDegree: 60 },
  { unit: '″', perDegree: 3600 },
  { unit: ' mas', perDegree: 3.6e6 },
] as const;

/** The largest unit in which a length is 1 or more. */
export const unitFor = (degrees: number): (typeof offsetUnits)[number] =>
  offsetUnits.find(({ perDegree }) => degrees * perDegree >= 1) ?? offsetUnits[3];

/** A length on the sky, to three digits, like 2.54 mas. */
export function angleText(degrees: number): string {
  const { unit, perDegree } = unitFor(degrees);
  return `${Number((degrees * perDegree).toPrecision(3))}${unit}`;
}

/**
 * Narrower fields are labelled by offsets from their centre: right ascensions would differ only in their last digits.
 */
const OFFSETS_BELOW_DEG = 1;

export const hasOffsets = ({ field }: Pick<SkyPlan, 'field'>): boolean =>
  field.kind === 'field' && field.widthDeg < OFFSETS_BELOW_DEG;

/** A round length on the sky: 1, 2 or 5 times a power of ten in the best unit. */
export function roundAngle(mostDeg: number): {
  readonly degrees: number;
  readonly text: (k: number) => string;
} {
  const { unit, perDegree } = unitFor(mostDeg);
  const most = mostDeg * perDegree;
  const ten = 10 ** Math.floor(Math.log10(most) + 1e-9);
  const step = ten * ([5, 2].find((times) => times * ten <= most * (1 + 1e-9)) ?? 1);
  return {
    degrees: step / perDegree,
    text: (k) => `${k < 0 ? '−' : ''}${Number((Math.abs(k) * step).toPrecision(6))}${unit}`,
  };
}

/** Straight lines at round offsets from the centre, east and north. */
export function offsetGrid(plan: SkyPlan): SkyGrid {
  const widthDeg = widthOf(plan);
  const half = Math.sin((widthDeg / 2) * RADIANS_PER_DEGREE);
  const { degrees: step, text } = roundAngle(widthDeg / 4);
  const last = Math.floor(widthDeg / 2 / step + 1e-9);
  return Array.from({ length: 2 * last + 1 }, (_, n) => n - last).flatMap((k): GridLine[] => {
    const at = Math.sin(k * step * RADIANS_PER_DEGREE);
    return [
      { kind: 'parallel', text: text(k), pieces: [[{ l: half, m: at }, { l: -half, m: at }]] }, // prettier-ignore
      { kind: 'meridian', text: text(k), pieces: [[{ l: at, m: half }, { l: at, m: -half }]] }, // prettier-ignore
    ];
  });
}

/** The largest unit, then smaller ones until nothing remains. */
function sexagesimal(units: number, [first, second, third]: readonly [string, string, string]): string {
  const seconds = Math.round(units * 3600);
  const [whole, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (value: number): string => String(value).padStart(2, '0');
  const fine = rest > 0 ? `${two(minutes)}${second}${two(rest)}${third}` : `${two(minutes)}${second}`;
  return `${whole}${first}${minutes + rest > 0 ? fine : ''}`;
}

/** "−30°", "34°30′". */
const degrees = (value: number): string =>
  `${value < -1e-9 ? '−' : ''}${sexagesimal(Math.abs(value), ['°', '′', '″'])}`;
/** "14h", "14h15m". */
const hours = (raDeg: number): string => sexagesimal(raDeg / 15, ['h', 'm', 's']);
