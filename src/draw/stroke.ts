/** Lines as areas: each segment becomes a ring, and neighbours share a side, so that nothing is covered twice. */
import type { Point } from './cut.js';

/** Corners sharper than this (cosine of 45°) have a round joint; others a mitre, which needs no more points. */
const GENTLEST_ROUND = Math.SQRT1_2;

type Ring = readonly Point[];

/** Rings of one direction around a line of a width. `ends`: whether the last point is joined to the first. */
export function strokeRings(points: readonly Point[], width: number, ends: 'open' | 'closed'): Ring[] {
  const line = withoutRepeats(points, ends);
  const half = width / 2;
  const count = line.length;
  if (count < 2) return count === 1 ? [disc(line[0], half)] : [];
  const segments = ends === 'closed' ? count : count - 1;
  const normals = Array.from({ length: segments }, (_, k) => normal(line[k], line[(k + 1) % count], half));
  const rings: Ring[] = [];
  /** From a joint to the left side of the line; undefined if it is too sharp. */
  const mitres = Array.from({ length: segments + 1 }, (_, k): Point | undefined => {
    const isEnd = ends === 'open' && (k === 0 || k === segments);
    if (isEnd) return normals[k === 0 ? 0 : segments - 1];
    return mitre(normals[(k - 1 + segments) % segments], normals[k % segments], half);
  });
  for (let k = 0; k < segments; k++) {
    const [from, to] = [line[k], line[(k + 1) % count]];
    const [start, end] = [mitres[k] ?? normals[k], mitres[k + 1] ?? normals[k]];
    rings.push([
      { x: from.x + start.x, y: from.y + start.y },
      { x: to.x + end.x, y: to.y + end.y },
      { x: to.x - end.x, y: to.y - end.y },
      { x: from.x - start.x, y: from.y - start.y },
    ]);
    if (mitres[k] === undefined) rings.push(disc(from, half));
  }
  return rings;
}

/** Coincident points have no direction between them. */
const withoutRepeats = (points: readonly Point[], ends: 'open' | 'closed'): readonly Point[] =>
  points.filter((point, k) => {
    const next = k + 1 < points.length ? points[k + 1] : ends === 'closed' ? points[0] : undefined;
    return next === undefined || next === point || next.x !== point.x || next.y !== point.y;
  });

function normal(from: Point, to: Point, length: number): Point {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const scale = length / Math.hypot(dx, dy);
  return { x: -dy * scale, y: dx * scale };
}

/** The side of a line where two segments meet, from their normals. */
function mitre(a: Point, b: Point, half: number): Point | undefined {
  const cosine = (a.x * b.x + a.y * b.y) / half ** 2;
  if (cosine < GENTLEST_ROUND) return undefined;
  return { x: (a.x + b.x) / (1 + cosine), y: (a.y + b.y) / (1 + cosine) };
}

/** A circle as a ring of the same direction as a line's, with enough corners to look round. */
export function disc({ x, y }: Point, radius: number): Ring {
  const corners = Math.max(8, Math.ceil(4 * Math.sqrt(radius) * 2));
  return Array.from({ length: corners }, (_, k) => {
    const angle = (-2 * Math.PI * k) / corners;
    return { x: x + radius * Math.cos(angle), y: y + radius * Math.sin(angle) };
  });
}

/** A dashed line: lengths drawn and skipped, from its start. */
export function dashes(points: readonly Point[], [on, off]: readonly [number, number]): Point[][] {
  const pieces: Point[][] = [];
  let piece: Point[] | undefined = points.length > 0 ? [points[0]] : undefined;
  let left = on;
  for (let k = 1; k < points.length; k++) {
    const [from, to] = [points[k - 1], points[k]];
    const length = Math.hypot(to.x - from.x, to.y - from.y);
    let done = 0;
    while (length - done > left) {
      done += left;
      const at = {
        x: from.x + ((to.x - from.x) * done) / length,
        y: from.y + ((to.y - from.y) * done) / length,
      };
      if (piece) pieces.push([...piece, at]);
      left = piece ? off : on;
      piece = piece ? undefined : [at];
    }
    left -= length - done;
    piece?.push(to);
  }
  if (piece && piece.length > 1) pieces.push(piece);
  return pieces;
}
