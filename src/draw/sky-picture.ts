/** A picture of the sky, its pixels under a drawing in SVG: north up, east to the left, as seen lying on one's back with the head to the north. */
import { planeML, type PlaneML } from '../core/axes.js';
import { RADIANS_PER_DEGREE } from '../core/units.js';
import type { Vector3 } from '../core/vector.js';
import { directionFromAltAz, type SkyFrame } from '../sky/frame.js';
import { type ImagePlan, placeOf } from '../image/index.js';
import { drawColourBar } from './colour-bar.js';
import { cutLine } from './cut.js';
import { placeLabels } from './labels.js';
import { textWidth } from './letters.js';
import { paintSky } from './paint.js';
import { ellipse, rectangle, type Picture, type Shape } from './shapes.js';
import { equatorialGrid, horizontalGrid, type Place, type SkyGrid } from './sky-grid.js';
import { percentileStretch, type Stretch } from './stretch.js';
import { ACCENT, GROUND, LINE, PAPER, sizeOf, text, weightOf, type TextStyle } from './style.js';

export interface NamedDirection {
  readonly name: string;
  /** Unit vector: x east, y north, z up. */
  readonly directionEnu: Vector3;
}

export interface SkyPicture {
  readonly plane: PlaneML;
  readonly plan: ImagePlan;
  /** The first line is the headline; the others follow small: telescope, time, frequency, backend. */
  readonly title: readonly string[];
  /** "Jy/beam". */
  readonly unit: string;
  /** Marked and named where they are above the horizon and inside the field. */
  readonly sources: readonly NamedDirection[];
  /** Draws right ascension and declination; without it, altitude and azimuth. */
  readonly frame?: SkyFrame;
  /** Default: from the 2nd to the 99.95th percentile. */
  readonly stretch?: Stretch;
}

const WIDTH = 900;
const SKY = { left: 45, top: 96, size: 810 } as const;
const BAR = { left: 150, top: 940, width: 600, height: 14 } as const;
const HEIGHT = 1010;
const SKY_BOX = {
  left: SKY.left,
  top: SKY.top,
  right: SKY.left + SKY.size,
  bottom: SKY.top + SKY.size,
} as const;
const CENTRE = { x: SKY.left + SKY.size / 2, y: SKY.top + SKY.size / 2 } as const;
const MARKER_RADIUS = 18;

/** "+60°" in small letters; a label that would be cut at the edge is left out. */
const LABEL_HALF_WIDTH = 15;

/** From direction cosines to the picture's coordinates; l grows east, which is to the left. */
interface View {
  readonly halfWidth: number;
  x(l: number): number;
  y(m: number): number;
  readonly scale: number;
}

export function skyPicture(picture: SkyPicture): Picture {
  const { plane, plan, title, unit, sources, frame } = picture;
  planeML(plane, plan.pixels);
  const stretch = picture.stretch ?? percentileStretch(plane, 2, 99.95);
  const view = makeView(plan);
  const grid = frame ? equatorialGrid(plan, frame) : horizontalGrid(plan);
  const scale = { ...stretch, palette: 'brightness', label: unit } as const;
  return {
    width: WIDTH,
    height: HEIGHT,
    paper: PAPER,
    shapes: [
      drawPixels(plane, plan, view, stretch),
      ...drawTitle(title),
      ...drawGrid(grid, plan, view),
      ...drawHorizon(plan, view),
      ...drawSources(sources, plan, view),
      ...drawColourBar(scale, BAR, { stands: 'below' }),
      text('tick', unit, { x: BAR.left + BAR.width + 14, y: BAR.top + BAR.height - 2 }),
    ],
  };
}

const drawPixels = (plane: PlaneML, plan: ImagePlan, view: View, stretch: Stretch): Shape => ({
  kind: 'raster',
  box: SKY_BOX,
  paint: (canvas, box) => {
    const scale = (box.right - box.left) / SKY.size;
    paintSky(canvas, box, {
      plane,
      pixels: plan.pixels,
      stretch,
      centre: { x: scale * CENTRE.x, y: scale * CENTRE.y },
      zoom: scale * view.scale * plan.pixelSize,
      depth:
        plan.field.kind === 'all-sky'
          ? (x, y) => scale * view.scale - Math.sqrt(x * x + y * y)
          : (x, y) => (scale * SKY.size) / 2 - Math.max(Math.abs(x), Math.abs(y)),
      paper: PAPER,
      ground: GROUND,
    });
  },
});

function makeView(plan: ImagePlan): View {
  // the whole sky leaves a rim for the compass letters
  const halfWidth =
    plan.field.kind === 'all-sky' ? 1.07 : Math.sin((plan.field.widthDeg / 2) * RADIANS_PER_DEGREE);
  const scale = SKY.size / 2 / halfWidth;
  return { halfWidth, scale, x: (l) => CENTRE.x - l * scale, y: (m) => CENTRE.y - m * scale };
}

const drawTitle = ([headline = '', ...rest]: readonly string[]): Shape[] => [
  fitted('headline', headline, 46),
  fitted('remark', rest.join('  ·  '), 74),
];

/** In its style's size, or one at which the words fit the picture. */
function fitted(style: TextStyle, words: string, y: number): Shape {
  const size = sizeOf(style);
  const width = textWidth(words, size, weightOf(style));
  return text(style, words, { x: SKY.left, y, size: size * Math.min(1, SKY.size / width) });
}

const inside = (view: View, { l, m }: Place): boolean =>
  Math.abs(l) <= view.halfWidth && Math.abs(m) <= view.halfWidth;

function drawGrid({ lines, labels }: SkyGrid, plan: ImagePlan, view: View): Shape[] {
  const isSky = skyTest(plan, view);
  return [
    ...lines
      .map((points) => points.map(({ l, m }) => ({ x: view.x(l), y: view.y(m) })))
      .flatMap((points) => cutLine(points, SKY_BOX))
      .map((points): Shape => ({ kind: 'line', points, width: 1, colour: LINE, opacity: 0.3 })),
    ...labels
      .filter(({ l, m }) =>
        [-LABEL_HALF_WIDTH, LABEL_HALF_WIDTH].every((dx) => isSky(view.x(l) + dx, view.y(m))),
      )
      .map(({ l, m, text: words }) =>
        text('small', words, {
          x: view.x(l),
          y: view.y(m) + 4,
          anchor: 'middle',
          colour: LINE,
          opacity: 0.75,
        }),
      ),
  ];
}

function drawHorizon(plan: ImagePlan, view: View): Shape[] {
  if (plan.field.kind === 'field')
    return [{ kind: 'line', points: rectangle(SKY_BOX), closed: true, width: 1, colour: LINE }];
  const letters = ['N', 'E', 'S', 'W'].flatMap((letter, quarter) => {
    const place = placeOf({ axes: plan.axes }, directionFromAltAz(0.01, 90 * quarter));
    if (!place) return [];
    const beyond = 1.04 / Math.hypot(place.l, place.m);
    return text('panel', letter, {
      ...{ x: view.x(place.l * beyond), y: view.y(place.m * beyond) + 6, anchor: 'middle', size: 17 },
    });
  });
  return [
    { kind: 'line', points: ellipse(CENTRE, view.scale), closed: true, width: 1.5, colour: LINE },
    ...letters,
  ];
}

/** Whether a point of the picture is sky: names stay within it. */
function skyTest(plan: ImagePlan, view: View): (x: number, y: number) => boolean {
  return (x, y) =>
    plan.field.kind === 'all-sky'
      ? Math.hypot(x - CENTRE.x, y - CENTRE.y) < view.scale
      : Math.max(Math.abs(x - CENTRE.x), Math.abs(y - CENTRE.y)) < SKY.size / 2;
}

function drawSources(sources: readonly NamedDirection[], plan: ImagePlan, view: View): Shape[] {
  const markers = sources.flatMap(({ name, directionEnu }) => {
    const place = directionEnu.z > 0 ? placeOf(plan, directionEnu) : undefined;
    return place && inside(view, place) ? [{ x: view.x(place.l), y: view.y(place.m), text: name }] : [];
  });
  const fontSize = sizeOf('body');
  return placeLabels(markers, { fontSize, markerRadius: MARKER_RADIUS, isFree: skyTest(plan, view) }).flatMap(
    ({ x, y, text: words, textX, textY, anchor }): Shape[] => [
      {
        ...{ kind: 'line', points: ellipse({ x, y }, MARKER_RADIUS), closed: true },
        ...{ width: 1.2, colour: ACCENT, opacity: 0.9 },
      },
      text('body', words, { x: textX, y: textY, anchor, halo: PAPER }),
    ],
  );
}
