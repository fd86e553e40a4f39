/**
 * The sky painted at the picture's own resolution, north up and east to the left. Brightness is interpolated first and
 * then coloured, because a mixture of two colours may not be in the colour map.
 */
import type { PlaneML } from '../core/axes.js';
import { channelsOf, type Canvas, type Colour } from './canvas.js';
import type { Box, Point } from './cut.js';
import type { Palette } from './palettes.js';
import { stretchedTable, type Stretch } from './stretch.js';

interface SkyPaint {
  readonly plane: PlaneML;
  readonly pixels: number;
  readonly stretch: Stretch;
  readonly palette: Palette;
  /** Of the phase centre, from the canvas's top left corner, in canvas pixels. */
  readonly centre: { readonly x: number; readonly y: number };
  /** Canvas pixels per image pixel. */
  readonly zoom: number;
  /** Distance of a canvas point, x and y from the phase centre, inside the sky (negative: outside). */
  readonly depth: (x: number, y: number) => number;
  /** Colour outside the sky and where there are no values. */
  readonly paper: Colour;
  readonly ground: Colour;
}

/** Paints the canvas pixels that a rectangle touches. */
export function paintSky({ width, height, rgb }: Canvas, box: Box, paint: SkyPaint): void {
  const { pixels, stretch, centre, zoom } = paint;
  const colours: Colours = {
    table: stretchedTable(stretch, paint.palette),
    paper: Uint8Array.from(channelsOf(paint.paper)),
    ground: Uint8Array.from(channelsOf(paint.ground)),
  };
  const [left, right] = [Math.max(0, Math.floor(box.left)), Math.min(width, Math.ceil(box.right))];
  const [top, bottom] = [Math.max(0, Math.floor(box.top)), Math.min(height, Math.ceil(box.bottom))];
  // l decreases from left to right, m from top to bottom
  const alongX = cubicTaps(right - left, (x) => pixels / 2 + (centre.x - left - x) / zoom, pixels);
  const alongY = cubicTaps(bottom - top, (y) => pixels / 2 + (centre.y - top - y) / zoom, pixels);
  const stretched = stretchRows(fillBeside(paint.plane, pixels), pixels, alongX);
  const values = new Float64Array(right - left);
  for (let y = top; y < bottom; y++) {
    mixRows(values, stretched, alongY, y - top);
    const row = rgb.subarray(3 * (y * width + left), 3 * (y * width + right));
    paintRow(row, values, { x: left + 0.5 - centre.x, y: y + 0.5 - centre.y }, paint, colours);
  }
}

/** Each [red, green, blue]; table : [step], linear in brightness */
interface Colours {
  readonly table: Uint8Array;
  readonly paper: Uint8Array;
  readonly ground: Uint8Array;
}

/** `first`: the first pixel's centre, from the phase centre. */
function paintRow(
  rgb: Uint8Array,
  values: Float64Array,
  first: Point,
  { stretch, depth }: SkyPaint,
  { table, paper, ground }: Colours,
): void {
  const last = table.length / 3 - 1;
  const perUnit = last / (stretch.high - stretch.low);
  for (let x = 0, to = 0; x < values.length; x++, to += 3) {
    // Half a pixel either way at the rim: antialiasing.
    const cover = 0.5 + depth(first.x + x, first.y);
    let colours = paper;
    let from = 0;
    if (cover > 0) {
      const step = (values[x] - stretch.low) * perUnit;
      const isKnown = !Number.isNaN(step);
      colours = isKnown ? table : ground;
      from = isKnown ? 3 * Math.round(Math.min(last, Math.max(0, step))) : 0;
    }
    rgb[to] = colours[from];
    rgb[to + 1] = colours[from + 1];
    rgb[to + 2] = colours[from + 2];
    if (cover > 0 && cover < 1) mix(rgb, to, paper, cover);
  }
}

function mix(rgb: Uint8Array, to: number, paper: Uint8Array, cover: number): void {
  for (let channel = 0; channel < 3; channel++) {
    rgb[to + channel] = Math.round(cover * rgb[to + channel] + (1 - cover) * paper[channel]);
  }
}

/** values : [x], one row of the canvas from the four rows of the image around it */
function mixRows(values: Float64Array, stretched: Float64Array, { indices, weights }: Taps, y: number): void {
  const width = values.length;
  const [a, b, c, d] = [4 * y, 4 * y + 1, 4 * y + 2, 4 * y + 3].map((tap) => indices[tap] * width);
  const [wa, wb, wc, wd] = weights.subarray(4 * y, 4 * y + 4);
  for (let x = 0; x < width; x++) {
    values[x] = wa * stretched[a + x] + wb * stretched[b + x] + wc * stretched[c + x] + wd * stretched[d + x];
  }
}

/** Four neighbours of each position and their weights. */
interface Taps {
  readonly indices: Int32Array;
  readonly weights: Float64Array;
}

/** Catmull–Rom, which passes through the pixels' own values; the centre of canvas pixel k is at k + ½. */
function cubicTaps(count: number, placeOf: (at: number) => number, pixels: number): Taps {
  const indices = new Int32Array(4 * count);
  const weights = new Float64Array(4 * count);
  for (let k = 0; k < count; k++) {
    const place = placeOf(k + 0.5);
    const first = Math.floor(place);
    const f = place - first;
    for (let tap = 0; tap < 4; tap++) {
      // Outside the image is outside the sky too, and never shown.
      indices[4 * k + tap] = Math.min(pixels - 1, Math.max(0, first + tap - 1));
    }
    weights[4 * k] = f * (-0.5 + f * (1 - 0.5 * f));
    weights[4 * k + 1] = 1 + f * f * (-2.5 + 1.5 * f);
    weights[4 * k + 2] = f * (0.5 + f * (2 - 1.5 * f));
    weights[4 * k + 3] = f * f * (-0.5 + 0.5 * f);
  }
  return { indices, weights };
}

/** stretched : [m][x] */
function stretchRows(plane: Float64Array, pixels: number, { indices, weights }: Taps): Float64Array {
  const width = indices.length / 4;
  const stretched = new Float64Array(pixels * width);
  for (let row = 0; row < pixels; row++) {
    const start = row * pixels;
    for (let x = 0, tap = 0; x < width; x++, tap += 4) {
      stretched[row * width + x] =
        weights[tap] * plane[start + indices[tap]] +
        weights[tap + 1] * plane[start + indices[tap + 1]] +
        weights[tap + 2] * plane[start + indices[tap + 2]] +
        weights[tap + 3] * plane[start + indices[tap + 3]];
    }
  }
  return stretched;
}

/** Nearest first: [rows, columns] away, at most two. */
const neighbours = [-2, -1, 0, 1, 2]
  .flatMap((r) => [-2, -1, 0, 1, 2].map((c) => [r, c] as const))
  .sort(([ar, ac], [br, bc]) => ar * ar + ac * ac - br * br - bc * bc);

/** Pixels without a value take that of the nearest one at most two away, to keep pixels at the horizon. */
function fillBeside(plane: PlaneML, pixels: number): Float64Array {
  const filled = Float64Array.from(plane);
  for (let row = 0; row < pixels; row++) {
    for (let column = 0; column < pixels; column++) {
      if (Number.isNaN(plane[row * pixels + column]))
        filled[row * pixels + column] = nearest(plane, pixels, row, column);
    }
  }
  return filled;
}

function nearest(plane: PlaneML, pixels: number, row: number, column: number): number {
  for (const [r, c] of neighbours) {
    const [y, x] = [row + r, column + c];
    if (y < 0 || y >= pixels || x < 0 || x >= pixels) continue;
    if (!Number.isNaN(plane[y * pixels + x])) return plane[y * pixels + x];
  }
  return Number.NaN;
}
