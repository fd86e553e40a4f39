/** Renders pictures to pixels, and pixels to PNG. */
import { wholeNumber } from '../core/errors.js';
import { makeCanvas, type Canvas } from './canvas.js';
import { prepareCoverage, type Coverage } from './coverage.js';
import type { Box, Point } from './cut.js';
import { textRings, textWidth } from './letters.js';
import { encodeAnimation, encodePng } from './png.js';
import { dashes, strokeRings } from './stroke.js';
import type { LineShape, Picture, Shape, TextShape } from './shapes.js';

interface RenderOptions {
  /** In pixels; by default the width of the picture's own coordinates. */
  readonly width?: number;
}

const HALO_WIDTH = 3.5;
const HALO_OPACITY = 0.75;

/** A picture as the bytes of a PNG. */
export const renderPng = (picture: Picture, options: RenderOptions = {}): Promise<Uint8Array> =>
  encodePng(renderCanvas(picture, options));

/** Pictures of one size as an animated PNG. */
export const renderAnimation = (
  pictures: readonly Picture[],
  options: RenderOptions = {},
): Promise<Uint8Array> => encodeAnimation(pictures.map((picture) => renderCanvas(picture, options)));

/** Contact sheet: pictures of one size side by side as one PNG, row by row, each at the given width. */
export function renderContactSheet(
  pictures: readonly Picture[],
  options: RenderOptions & { readonly columns: number },
): Promise<Uint8Array> {
  const columns = wholeNumber('picture', 'columns', options.columns, 1, 1000);
  const canvases = pictures.map((picture) => renderCanvas(picture, options));
  const [{ width, height }] = canvases;
  const rows = Math.ceil(canvases.length / columns);
  const sheet = makeCanvas(columns * width, rows * height, pictures[0].paper);
  for (const [k, { rgb }] of canvases.entries()) {
    const left = (k % columns) * width;
    const top = Math.floor(k / columns) * height;
    for (let y = 0; y < height; y++)
      sheet.rgb.set(rgb.subarray(3 * y * width, 3 * (y + 1) * width), 3 * ((top + y) * sheet.width + left));
  }
  return encodePng(sheet);
}

export function renderCanvas(picture: Picture, options: RenderOptions = {}): Canvas {
  const width = wholeNumber('picture', 'width', options.width ?? picture.width, 1, 16_384);
  const scale = width / picture.width;
  const canvas = makeCanvas(width, Math.round(picture.height * scale), picture.paper);
  const coverage = prepareCoverage(canvas);
  for (const shape of picture.shapes) draw(shape, scale, canvas, coverage);
  return canvas;
}

function draw(shape: Shape, scale: number, canvas: Canvas, coverage: Coverage): void {
  switch (shape.kind) {
    case 'raster':
      shape.paint(canvas, scaledBox(shape.box, scale));
      return;
    case 'area':
      coverage.add(scaled(shape.points, scale));
      coverage.paint(shape.colour, shape.opacity);
      return;
    case 'line':
      drawLine(shape, scale, coverage);
      return;
    case 'text':
      drawText(shape, scale, coverage);
      return;
  }
}

const scaled = (points: readonly Point[], scale: number): Point[] =>
  points.map(({ x, y }) => ({ x: scale * x, y: scale * y }));
const scaledBox = ({ left, top, right, bottom }: Box, scale: number): Box => ({
  left: scale * left,
  top: scale * top,
  right: scale * right,
  bottom: scale * bottom,
});

function drawLine(shape: LineShape, scale: number, coverage: Coverage): void {
  const pieces = shape.dash ? dashes(shape.points, shape.dash) : [shape.points];
  for (const piece of pieces) {
    const rings = strokeRings(
      scaled(piece, scale),
      scale * shape.width,
      shape.closed === true ? 'closed' : 'open',
    );
    for (const ring of rings) coverage.add(ring);
  }
  coverage.paint(shape.colour, shape.opacity);
}

function drawText(shape: TextShape, scale: number, coverage: Coverage): void {
  const { words, weight, anchor = 'start', size } = shape;
  const width = textWidth(words, size, weight);
  const before = { start: 0, middle: width / 2, end: width }[anchor];
  const place = ({ x, y }: Point): Point =>
    shape.turned === true
      ? { x: scale * shape.x + y, y: scale * (shape.y + before) - x }
      : { x: scale * (shape.x - before) + x, y: scale * shape.y + y };
  const rings = textRings(words, scale * size, weight).map((ring) => ring.map(place));
  if (shape.halo !== undefined) {
    for (const ring of rings)
      for (const part of strokeRings(ring, scale * HALO_WIDTH, 'closed')) coverage.add(part);
    coverage.paint(shape.halo, HALO_OPACITY * (shape.opacity ?? 1));
  }
  for (const ring of rings) coverage.add(ring);
  coverage.paint(shape.colour, shape.opacity);
}
