/** Labels of a sky's grid: outside a field, or in free places on the whole sky. */
import { CAPITAL_HEIGHT, textWidth } from '../letters.js';
import { cutLine, type Box, type Point } from '../cut.js';
import { overlap } from '../labels.js';
import type { TextShape } from '../shapes.js';
import type { GridLine, SkyGrid } from './grid.js';
import type { SkyView } from './view.js';
import { LINE, PAPER, sizeOf, text } from '../style.js';

const SIZE = sizeOf('small');
/** Distance between a label and other elements. */
const CLEAR = 3;

/** `taken`: areas of sources, their names and the like, which are kept free. */
export function gridLabels(grid: SkyGrid, view: SkyView, taken: readonly Box[]): TextShape[] {
  const occupied = [...taken];
  const isFree = (box: Box): boolean => occupied.every((other) => overlap(box, other) === 0);
  return grid.flatMap((line) => {
    for (const { shape, box } of candidates(line, view)) {
      if (!isFree(box)) continue;
      occupied.push(box);
      return [shape];
    }
    return [];
  });
}

interface Candidate {
  readonly shape: TextShape;
  readonly box: Box;
}

/** Best first, generated lazily: the first suits nearly every line. */
function* candidates(line: GridLine, view: SkyView): Generator<Candidate> {
  const pieces = line.pieces.flatMap((piece) => cutLine(piece.map(view.place), view.box));
  if (view.kind === 'field') {
    const outside = edgesOf[line.kind].flatMap((edge) =>
      crossings(pieces, view.box, edge).map(atEdge(line, edge)),
    );
    yield* outside;
    if (outside.length > 0) return;
  }
  const near = line.labelNear && view.place(line.labelNear);
  if (!near) return;
  const first = onLine(line, near);
  if (isOnSky(first, view)) yield first;
  const distance = ({ x, y }: Point): number => Math.hypot(x - near.x, y - near.y);
  for (const point of pieces.flat().sort((a, b) => distance(a) - distance(b))) {
    const next = onLine(line, point);
    if (isOnSky(next, view)) yield next;
  }
}

const isOnSky = ({ box: { left, right, top, bottom } }: Candidate, view: SkyView): boolean =>
  [left, right].every((x) => [top, bottom].every((y) => view.isSky(x, y)));

type Edge = 'left' | 'right' | 'top' | 'bottom';
/** Edges to search for a line's label, in order. */
const edgesOf = {
  parallel: ['left', 'right', 'top', 'bottom'],
  meridian: ['bottom', 'top', 'left', 'right'],
} as const satisfies Record<GridLine['kind'], readonly Edge[]>;

/** Points where pieces of a line end on an edge. */
function crossings(pieces: readonly (readonly Point[])[], box: Box, edge: Edge): Point[] {
  const isThere = ({ x, y }: Point): boolean =>
    Math.abs((edge === 'left' || edge === 'right' ? x : y) - box[edge]) < 1e-6;
  return pieces.flatMap((piece) => [piece[0], piece[piece.length - 1]].filter(isThere));
}

const atEdge =
  ({ text: words }: GridLine, edge: Edge) =>
  ({ x, y }: Point): Candidate => {
    const level = y + (CAPITAL_HEIGHT / 2) * SIZE;
    const place = {
      left: { x: x - 7, y: level, anchor: 'end' },
      right: { x: x + 7, y: level, anchor: 'start' },
      top: { x, y: y - 7, anchor: 'middle' },
      bottom: { x, y: y + 7 + CAPITAL_HEIGHT * SIZE, anchor: 'middle' },
    } as const satisfies Record<Edge, Pick<TextShape, 'x' | 'y' | 'anchor'>>;
    return candidate(text('small', words, { ...place[edge], colour: LINE }));
  };

const onLine = ({ text: words }: GridLine, { x, y }: Point): Candidate =>
  candidate(
    text('small', words, {
      x,
      y: y + (CAPITAL_HEIGHT / 2) * SIZE,
      anchor: 'middle',
      colour: LINE,
      halo: PAPER,
    }),
  );

function candidate(shape: TextShape): Candidate {
  const width = textWidth(shape.words, shape.size);
  const left = { start: shape.x, middle: shape.x - width / 2, end: shape.x - width }[shape.anchor ?? 'start'];
  return {
    shape,
    box: {
      left: left - CLEAR,
      right: left + width + CLEAR,
      top: shape.y - CAPITAL_HEIGHT * shape.size - CLEAR,
      bottom: shape.y + CLEAR,
    },
  };
}
