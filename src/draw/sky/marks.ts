/** Marks over a sky's pixels beside its grid: the rim, the compass, sources and the beam. */
import { RADIANS_PER_DEGREE } from '../../core/units.js';
import type { Vector3 } from '../../core/vector.js';
import { directionFromAltAz } from '../../sky/frame.js';
import { alongImage, isZenith, placeOf, skyReach } from '../../image/index.js';
import type { Box } from '../cut.js';
import { around, placeLabels } from '../labels.js';
import { ellipse, rectangle, type Shape } from '../shapes.js';
import { roundAngle } from './grid.js';
import { HEIGHT, WIDTH, type SkyPlan, type SkyView } from './view.js';
import { ACCENT, INK, LINE, PAPER, sizeOf, text } from '../style.js';

export interface NamedDirection {
  readonly name: string;
  /** Unit vector: x east, y north, z up. */
  readonly directionEnu: Vector3;
  /** Accuracy of the position; no mark is drawn in fields narrower than a hundred times this. */
  readonly accuracyDeg?: number | undefined;
}

/** A mark's position must be accurate to a hundredth of the picture. */
const PARTS_OF_FIELD = 100;

/** Half-power ellipse of the synthesised beam at the phase centre, as FITS has it (BMAJ, BMIN, BPA). */
export interface BeamEllipse {
  readonly majorDeg: number;
  readonly minorDeg: number;
  /** Position angle of the major axis, from north through east. */
  readonly positionAngleDeg: number;
}

/** Shapes, and the areas where nothing else should be written. */
interface Marks {
  readonly shapes: readonly Shape[];
  readonly boxes: readonly Box[];
}

const LETTER_SIZE = 17;
const letter = (words: string, x: number, y: number): Shape =>
  text('panel', words, { x, y: y + 0.36 * LETTER_SIZE, anchor: 'middle', size: LETTER_SIZE });

export function horizonMarks(plan: SkyPlan, view: SkyView): Marks {
  const { centre, box } = view;
  if (view.kind === 'field') {
    const letters = [
      ['N', centre.x, box.top - 16],
      // Below the grid labels.
      ['S', centre.x, box.bottom + 41],
      ['E', 16, centre.y],
      ['W', WIDTH - 16, centre.y],
    ] as const;
    return {
      shapes: [
        { kind: 'line', points: rectangle(box), closed: true, width: 1, colour: LINE },
        ...letters.map(([words, x, y]) => letter(words, x, y)),
      ],
      boxes: letters.map(([, x, y]) => around(x, y, LETTER_SIZE)),
    };
  }
  const letters = ['N', 'E', 'S', 'W'].map((words, quarter) => {
    const { l, m } = alongImage(plan.axes, directionFromAltAz(0, 90 * quarter));
    const beyond = (skyReach(plan.axes, l, m) + 0.04) / Math.hypot(l, m);
    const { x, y } = view.place({ l: l * beyond, m: m * beyond });
    return letter(words, x, y);
  });
  const zenith = zenithMarks(plan, view);
  return { shapes: [...rimLines(view), ...zenith.shapes, ...letters], boxes: zenith.boxes };
}

/** The true horizon; dashed where the projection ends above it. */
function rimLines({ centre, scale, reach }: SkyView): Shape[] {
  const rim = ellipse(centre, scale);
  const points = rim.map(({ x, y }) => {
    const part = reach(x, y) / scale;
    return { x: centre.x + part * (x - centre.x), y: centre.y + part * (y - centre.y) };
  });
  const line = { kind: 'line', width: 1.5, colour: LINE } as const;
  const isHorizon = rim.map(({ x, y }) => reach(x, y) < scale);
  const from = isHorizon.findIndex((is, k) => is && !isHorizon[(k || rim.length) - 1]);
  // For an image centred on the zenith, the horizon is the rim itself.
  if (from < 0) return [{ ...line, points, closed: true }];
  const count = isHorizon.filter(Boolean).length;
  const inTurn = Array.from({ length: rim.length + 1 }, (_, k) => points[(from + k) % rim.length]);
  return [
    { ...line, points: inTurn.slice(0, count) },
    { ...line, points: inTurn.slice(count - 1), dash: [2, 5] },
  ];
}

const CROSS = 6;

/** A cross at the zenith, in images with another centre. */
function zenithMarks(plan: SkyPlan, view: SkyView): Marks {
  if (isZenith(plan.axes.n)) return { shapes: [], boxes: [] };
  const { x, y } = view.place(alongImage(plan.axes, { x: 0, y: 0, z: 1 }));
  const line = { kind: 'line', width: 1.2, colour: INK, opacity: 0.8 } as const;
  return {
    shapes: [
      { ...line, points: [{ x: x - CROSS, y }, { x: x + CROSS, y }] }, // prettier-ignore
      { ...line, points: [{ x, y: y - CROSS }, { x, y: y + CROSS }] }, // prettier-ignore
      text('small', 'zenith', { x: x + CROSS + 4, y: y + 4, halo: PAPER }),
    ],
    boxes: [{ left: x - CROSS, top: y - CROSS, right: x + 60, bottom: y + CROSS + 4 }],
  };
}

const MARKER_RADIUS = 18;

/** A ring round each source above the horizon and in the field, with its name. */
export function sourceMarks(sources: readonly NamedDirection[], plan: SkyPlan, view: SkyView): Marks {
  const widthDeg = plan.field.kind === 'field' ? plan.field.widthDeg : 180;
  const known = sources.filter(({ accuracyDeg = 0 }) => PARTS_OF_FIELD * accuracyDeg <= widthDeg);
  const markers = known.flatMap(({ name, directionEnu }) => {
    const place = directionEnu.z > 0 ? placeOf(plan, directionEnu) : undefined;
    const isInside = place && Math.max(Math.abs(place.l), Math.abs(place.m)) <= view.halfWidth;
    return isInside ? [{ ...view.place(place), text: name }] : [];
  });
  const placed = placeLabels(markers, {
    fontSize: sizeOf('body'),
    markerRadius: MARKER_RADIUS,
    isFree: view.isSky,
  });
  return {
    shapes: placed.flatMap(({ x, y, text: words, textX, textY, anchor }): Shape[] => [
      {
        kind: 'line',
        points: ellipse({ x, y }, MARKER_RADIUS),
        closed: true,
        width: 1.2,
        colour: ACCENT,
        opacity: 0.9,
      },
      text('body', words, { x: textX, y: textY, anchor, halo: PAPER }),
    ]),
    boxes: placed.flatMap(({ x, y, box }) => [around(x, y, MARKER_RADIUS), box]),
  };
}

const BEAM_PADDING = 10;

/**
 * The beam to scale in the lower left corner, which the whole sky leaves free; omitted if it is larger than the corner.
 */
export function beamMarks(beam: BeamEllipse, view: SkyView): Marks {
  const half = (degrees: number): number => Math.sin((degrees / 2) * RADIANS_PER_DEGREE) * view.scale;
  const [halfLong, halfShort] = [half(beam.majorDeg), half(beam.minorDeg)];
  const side = 2 * halfLong + 2 * BEAM_PADDING;
  const most = view.kind === 'field' ? (view.box.right - view.box.left) / 3 : 130;
  if (!(side <= most)) return { shapes: [], boxes: [] };
  const box = {
    left: view.box.left,
    right: view.box.left + side,
    top: view.box.bottom - side,
    bottom: view.box.bottom,
  };
  const centre = { x: box.left + side / 2, y: box.top + side / 2 };
  const points = ellipse(centre, halfLong, halfShort, beam.positionAngleDeg);
  return {
    shapes: [
      { kind: 'area', points: rectangle(box), colour: PAPER, opacity: 0.8 },
      { kind: 'line', points: rectangle(box), closed: true, width: 0.8, colour: LINE },
      { kind: 'area', points, colour: INK, opacity: 0.35 },
      { kind: 'line', points, closed: true, width: 1.2, colour: INK },
    ],
    boxes: [box],
  };
}

/** A line of round length in the lower right corner, about a fifth of the field. */
export function scaleBar(view: SkyView): Marks {
  const { right, bottom } = view.box;
  const widthDeg = (2 * Math.asin(view.halfWidth)) / RADIANS_PER_DEGREE;
  const { degrees, text: name } = roundAngle(widthDeg / 4);
  const length = Math.sin(degrees * RADIANS_PER_DEGREE) * view.scale;
  const box = { left: right - length - 32, right, top: bottom - 46, bottom };
  const [x, y] = [right - 16 - length, bottom - 14];
  return {
    shapes: [
      { kind: 'area', points: rectangle(box), colour: PAPER, opacity: 0.8 },
      { kind: 'line', points: [{ x, y }, { x: x + length, y }], width: 2.5, colour: INK }, // prettier-ignore
      text('small', name(1), { x: x + length / 2, y: y - 9, anchor: 'middle' }),
    ],
    boxes: [box],
  };
}

/** The lowest line of a picture, centred. */
export const footnote = (words: string): Shape =>
  text('remark', words, { x: WIDTH / 2, y: HEIGHT - 18, anchor: 'middle', size: sizeOf('tick') });
