/** Lines cut to a rectangle before they are drawn: clipping in the renderer can cost more than everything it shows. */

export interface Point {
  readonly x: number;
  readonly y: number;
}
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/**
 * The pieces of a polyline inside a rectangle, its edges included. Points inside are unchanged; where a segment crosses
 * the edge a point is added. Coordinates must be finite.
 */
export function cutLine(points: readonly Point[], box: Box): Point[][] {
  const pieces: Point[][] = [];
  let piece: Point[] = [];
  const end = (): void => {
    if (piece.length > 1) pieces.push(piece);
    piece = [];
  };
  for (let k = 1; k < points.length; k++) {
    const [from, to] = [points[k - 1], points[k]];
    const inside = insidePart(from, to, box);
    if (!inside) {
      end();
      continue;
    }
    const [enters, leaves] = inside;
    if (enters > 0) end();
    if (piece.length === 0) piece.push(enters === 0 ? from : between(from, to, enters));
    piece.push(leaves === 1 ? to : between(from, to, leaves));
    if (leaves < 1) end();
  }
  end();
  return pieces;
}

const between = (from: Point, to: Point, fraction: number): Point => ({
  x: from.x + fraction * (to.x - from.x),
  y: from.y + fraction * (to.y - from.y),
});

/**
 * The part of a segment inside the rectangle, as fractions of its length (Liang and Barsky's algorithm); a touch does
 * not count.
 */
function insidePart(from: Point, to: Point, box: Box): readonly [number, number] | undefined {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  // For each edge: the segment's speed outwards, and its starting distance inside.
  const edges = [
    [-dx, from.x - box.left],
    [dx, box.right - from.x],
    [-dy, from.y - box.top],
    [dy, box.bottom - from.y],
  ] as const;
  let enters = 0;
  let leaves = 1;
  for (const [speed, depth] of edges) {
    if (speed === 0) {
      if (depth < 0) return undefined;
    } else if (speed < 0) enters = Math.max(enters, depth / speed);
    else leaves = Math.min(leaves, depth / speed);
  }
  return enters < leaves ? [enters, leaves] : undefined;
}
