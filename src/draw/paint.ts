/**
 * The sky painted at the picture's own resolution, north up and east to the left. Brightness is interpolated and
 * then coloured: between two pixels lies a brightness between theirs, where a mixture of their colours may be on
 * no colour map.
 */
import type { PlaneML } from '../core/axes.js';
import type { Canvas } from './png.js';
import { brightnessTable, type Stretch } from './stretch.js';

export interface SkyPaint {
  readonly plane: PlaneML;
  readonly pixels: number;
  readonly stretch: Stretch;
  /** Of the phase centre, from the canvas's top left corner, in its pixels. */
  readonly centre: { readonly x: number; readonly y: number };
  /** Canvas pixels from one pixel of the image to the next. */
  readonly zoom: number;
  /** How far this point of the canvas, x and y from the phase centre, is inside the sky (below zero: outside). */
  readonly depth: (x: number, y: number) => number;
  /** Outside the sky, and where nothing is known of it: 0xrrggbb. */
  readonly paper: number;
  readonly ground: number;
}

export function paintSky({ width, height, rgb }: Canvas, paint: SkyPaint): void {
  const { pixels, stretch, centre, zoom } = paint;
  const colours: Colours = {
    table: brightnessTable(stretch),
    paper: channelsOf(paint.paper),
    ground: channelsOf(paint.ground),
  };
  // l falls from left to right, m from top to bottom
  const alongX = cubicTaps(width, (x) => pixels / 2 + (centre.x - x) / zoom, pixels);
  const alongY = cubicTaps(height, (y) => pixels / 2 + (centre.y - y) / zoom, pixels);
  const stretched = stretchRows(fillBeside(paint.plane, pixels), pixels, alongX);
  const values = new Float64Array(width);
  for (let y = 0; y < height; y++) {
    mixRows(values, stretched, alongY, y);
    paintRow(rgb.subarray(3 * y * width, 3 * (y + 1) * width), values, y + 0.5 - centre.y, paint, colours);
  }
}

/** Each [red, green, blue]; table : [step], linear in brightness */
interface Colours {
  readonly table: Uint8Array;
  readonly paper: Uint8Array;
  readonly ground: Uint8Array;
}

function paintRow(
  rgb: Uint8Array,
  values: Float64Array,
  below: number,
  { stretch, centre, depth }: SkyPaint,
  { table, paper, ground }: Colours,
): void {
  const last = table.length / 3 - 1;
  const perUnit = last / (stretch.high - stretch.low);
  for (let x = 0, to = 0; x < values.length; x++, to += 3) {
    // Half a pixel either way at the rim: a smooth edge.
    const cover = 0.5 + depth(x + 0.5 - centre.x, below);
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
  values.fill(0);
  for (let tap = 4 * y; tap < 4 * y + 4; tap++) {
    const weight = weights[tap];
    const from = indices[tap] * values.length;
    for (let x = 0; x < values.length; x++) values[x] += weight * stretched[from + x];
  }
}

const channelsOf = (colour: number): Uint8Array =>
  Uint8Array.of(colour >> 16, (colour >> 8) & 255, colour & 255);

/** Four neighbours of each place and their weights. */
interface Taps {
  readonly indices: Int32Array;
  readonly weights: Float64Array;
}

/** Catmull–Rom, which passes through the pixels' own values; the middle of canvas pixel k is at k + ½. */
function cubicTaps(count: number, placeOf: (at: number) => number, pixels: number): Taps {
  const indices = new Int32Array(4 * count);
  const weights = new Float64Array(4 * count);
  for (let k = 0; k < count; k++) {
    const place = placeOf(k + 0.5);
    const first = Math.floor(place);
    const f = place - first;
    for (let tap = 0; tap < 4; tap++) {
      // Beyond the image is beyond the sky too, and never shown.
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
function stretchRows(plane: Float64Array, pixels: number, taps: Taps): Float64Array {
  const width = taps.indices.length / 4;
  const stretched = new Float64Array(pixels * width);
  for (let row = 0; row < pixels; row++) {
    stretchRow(stretched.subarray(row * width, (row + 1) * width), plane, row * pixels, taps);
  }
  return stretched;
}

function stretchRow(to: Float64Array, plane: Float64Array, start: number, { indices, weights }: Taps): void {
  for (let x = 0; x < to.length; x++) {
    let value = 0;
    for (let tap = 4 * x; tap < 4 * x + 4; tap++) value += weights[tap] * plane[start + indices[tap]];
    to[x] = value;
  }
}

/** Pixels without a value take that of the nearest one at most two away, so that the horizon's are not lost. */
function fillBeside(plane: PlaneML, pixels: number): Float64Array {
  const filled = Float64Array.from(plane);
  for (let row = 0; row < pixels; row++) {
    for (let column = 0; column < pixels; column++) {
      if (!Number.isNaN(plane[row * pixels + column])) continue;
      let least = Infinity;
      for (let r = Math.max(0, row - 2); r <= Math.min(pixels - 1, row + 2); r++) {
        for (let c = Math.max(0, column - 2); c <= Math.min(pixels - 1, column + 2); c++) {
          const distance = (r - row) ** 2 + (c - column) ** 2;
          if (distance >= least || Number.isNaN(plane[r * pixels + c])) continue;
          least = distance;
          filled[row * pixels + column] = plane[r * pixels + c];
        }
      }
    }
  }
  return filled;
}
