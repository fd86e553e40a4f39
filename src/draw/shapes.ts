/** The elements of pictures: plain data in the picture's own coordinates, y downwards, drawn in order. */
import type { Canvas, Colour } from './canvas.js';
import type { Box, Point } from './cut.js';
import type { Weight } from './letters.js';

interface Inked {
  readonly colour: Colour;
  /** 1 by default. */
  readonly opacity?: number;
}

export interface LineShape extends Inked {
  readonly kind: 'line';
  readonly points: readonly Point[];
  readonly width: number;
  /** Joins the last point to the first. */
  readonly closed?: true;
  readonly dash?: readonly [on: number, off: number];
}

interface AreaShape extends Inked {
  readonly kind: 'area';
  readonly points: readonly Point[];
}

export interface TextShape extends Inked {
  readonly kind: 'text';
  readonly words: string;
  /** Start, centre or end of the text, on its baseline. */
  readonly x: number;
  readonly y: number;
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly size: number;
  readonly weight?: Weight;
  /** Vertical text, reading upwards. */
  readonly turned?: true;
  /** An outline in this colour that keeps text legible on any background. */
  readonly halo?: Colour;
}

/** Pixels painted at the picture's final resolution. `box` is in canvas pixels, not always whole. */
interface RasterShape {
  readonly kind: 'raster';
  readonly box: Box;
  readonly paint: (canvas: Canvas, box: Box) => void;
}

export type Shape = LineShape | AreaShape | TextShape | RasterShape;

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly paper: Colour;
  readonly shapes: readonly Shape[];
}

export const rectangle = ({ left, top, right, bottom }: Box): Point[] => [
  { x: left, y: top },
  { x: right, y: top },
  { x: right, y: bottom },
  { x: left, y: bottom },
];

/** An ellipse with its long axis `turnDeg` from straight up towards the left, as position angles run on the sky. */
export function ellipse(centre: Point, halfLong: number, halfShort = halfLong, turnDeg = 0): Point[] {
  const corners = Math.max(24, Math.ceil(8 * Math.sqrt(halfLong) * 1.5));
  const turn = (turnDeg * Math.PI) / 180;
  return Array.from({ length: corners }, (_, k) => {
    const angle = (2 * Math.PI * k) / corners;
    const [up, left] = [halfLong * Math.cos(angle), halfShort * Math.sin(angle)];
    return {
      x: centre.x - up * Math.sin(turn) - left * Math.cos(turn),
      y: centre.y - up * Math.cos(turn) + left * Math.sin(turn),
    };
  });
}

export const segment = (
  [x1, y1, x2, y2]: readonly [number, number, number, number],
  width: number,
  colour: Colour,
): LineShape => ({
  kind: 'line',
  points: [
    { x: x1, y: y1 },
    { x: x2, y: y2 },
  ],
  width,
  colour,
});
