/** Map of named positions on the ground: dots over two axes, each labelled if there is space. */
import { boxOf, drawAxes, placesIn, type Panel, type PlotFrame } from './axes.js';
import type { Colour } from './canvas.js';
import { placeLabels } from './labels.js';
import { seriesColour } from './palettes.js';
import { ellipse, type Shape } from './shapes.js';
import { PAPER, sizeOf, text } from './style.js';

export interface MapPoint {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly colour?: Colour;
}

interface PointMap extends Panel {
  readonly points: readonly MapPoint[];
}

/** Placing more names than this takes too long. */
const MOST_NAMES = 600;
const NAME_SIZE = sizeOf('small');

/** Leaves out names that would cover another name or a dot. */
export function drawMap(map: PointMap, frame: PlotFrame): Shape[] {
  const { across, up } = placesIn(map, frame);
  const box = boxOf(frame);
  const isInside = (x: number, y: number): boolean =>
    x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
  const shown = map.points
    .map((point) => ({ ...point, x: across(point.x), y: up(point.y), text: point.name }))
    .filter(({ x, y }) => isInside(x, y));
  const radius = shown.length > 150 ? 2.5 : 4;
  const named = placeLabels(shown.length <= MOST_NAMES ? shown : [], {
    fontSize: NAME_SIZE,
    markerRadius: radius,
    isFree: isInside,
  });
  return [
    ...drawAxes(map, frame, 'across'),
    ...shown.map(({ x, y, colour = seriesColour(0) }): Shape => ({
      kind: 'area',
      points: ellipse({ x, y }, radius),
      colour,
    })),
    ...named
      .filter(({ crowded }) => !crowded)
      .map(({ text: words, textX, textY, anchor }) =>
        text('small', words, { x: textX, y: textY, anchor, halo: PAPER }),
      ),
  ];
}
