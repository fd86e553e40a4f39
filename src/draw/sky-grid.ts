/** Lines of coordinates across an image, as polylines in direction cosines. */
import type { Vector3 } from '../core/vector.js';
import { directionFromAltAz, type SkyFrame } from '../sky/frame.js';
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

/** Degrees between points of a line: smooth at any size of picture. */
const STEP_DEG = 1.5;
/** Lines end a little above the horizon, where they would crowd. */
const LOWEST_UP = 0.02;

const visiblePlace = (plan: ImagePlan, direction: Vector3): Place | undefined =>
  direction.z > LOWEST_UP ? placeOf(plan, direction) : undefined;

/** Follows a curve over a range of degrees and cuts it where it leaves the sky. */
function trace(
  plan: ImagePlan,
  fromDeg: number,
  toDeg: number,
  direction: (degrees: number) => Vector3,
): Place[][] {
  const pieces: Place[][] = [];
  let piece: Place[] = [];
  const steps = Math.ceil((toDeg - fromDeg) / STEP_DEG);
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

const label = (plan: ImagePlan, text: string, direction: Vector3): GridLabel[] => {
  const place = visiblePlace(plan, direction);
  return place ? [{ ...place, text }] : [];
};

/** Circles of altitude and spokes of azimuth. */
export function horizontalGrid(plan: ImagePlan): SkyGrid {
  const altitudes = [15, 30, 45, 60, 75];
  const azimuths = [0, 45, 90, 135, 180, 225, 270, 315];
  return {
    lines: [
      ...altitudes.flatMap((alt) => trace(plan, 0, 360, (az) => directionFromAltAz(alt, az))),
      ...azimuths.flatMap((az) => trace(plan, 0, 75, (alt) => directionFromAltAz(alt, az))),
    ],
    labels: altitudes.flatMap((alt) => label(plan, `${alt}°`, directionFromAltAz(alt, 22.5))),
  };
}

/** Right ascension every two hours, declination every thirty degrees (or less in a narrow field). */
export function equatorialGrid(plan: ImagePlan, frame: SkyFrame): SkyGrid {
  const widthDeg = plan.field.kind === 'all-sky' ? 180 : plan.field.widthDeg;
  const decStep = widthDeg > 60 ? 30 : widthDeg > 20 ? 10 : widthDeg > 6 ? 2 : 0.5;
  const raStep = widthDeg > 60 ? 30 : widthDeg > 20 ? 15 : widthDeg > 6 ? 3.75 : 1.25;
  const at = (raDeg: number, decDeg: number): Vector3 => frame.directionEnu({ raDeg, decDeg });
  const centre = frame.positionOf(plan.axes.n);
  const decs = range(decStep, 90).filter((dec) => Math.abs(dec) < 90);
  const ras = range(raStep, 360).filter((ra) => ra >= 0 && ra < 360);
  const nearestDec = Math.round(centre.decDeg / decStep) * decStep;
  // declinations are read halfway between two hours, hours halfway between two declinations
  const labelRa = (Math.round(centre.raDeg / raStep) + 0.5) * raStep;
  const labelDec = nearestDec + (nearestDec > 0 ? -0.5 : 0.5) * decStep;
  return {
    lines: [
      ...decs.flatMap((dec) => trace(plan, 0, 360, (ra) => at(ra, dec))),
      ...ras.flatMap((ra) => trace(plan, decStep - 90, 90 - decStep, (dec) => at(ra, dec))),
    ],
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
