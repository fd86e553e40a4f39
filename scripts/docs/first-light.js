// Makes docs/first-light.png from a demo's image, and docs/first-light-words.png: the same with the words of
// docs/first-steps.md at their places.   node scripts/docs/first-light.js first-light/image.png
import { readFileSync, writeFileSync } from 'node:fs';
import { decode } from 'fast-png';
import { PAPER, renderPng } from '../../dist/draw/index.js';

/** @typedef {import('../../dist/draw/index.js').Shape} Shape */

/** Rows of the header are moved apart by this much, below its first line, to make space for the numbers. */
const GAP = { row: 101, height: 38 };
const MARGIN = 250;
const ACCENT = 0x7fe3ff;
/** Where each word points, and its number where that is elsewhere; in pixels of the demo's picture, after the gap. */
const words = [
  { word: 'station', x: 609, y: 118 },
  { word: 'channel', x: 406, y: 118 },
  { word: 'visibility', x: 766, y: 118 },
  { word: 'gain', x: 197, y: 184 },
  { word: 'integration', x: 345, y: 184 },
  { word: 'beam', x: 152, y: 1240, to: { x: 104, y: 1240 } },
  { word: 'source', x: 892, y: 925, to: { x: 892, y: 878 } },
  { word: 'sidelobe', x: 322, y: 588, to: { x: 250, y: 533 } },
  { word: 'horizon', x: 160, y: 910, to: { x: 118, y: 900 } },
  { word: 'Jy/beam', x: 634, y: 1361, to: { x: 600, y: 1340 } },
];

const path = process.argv[2];
const source = decode(readFileSync(path));
const height = source.height + GAP.height;
/** @type {Shape[]} */
const shapes = [
  { kind: 'raster', box: { left: 0, top: 0, right: source.width, bottom: height }, paint },
  ...words.flatMap(({ x, y, to }, k) => [...(to ? [line({ x, y }, to)] : []), ...badge(k + 1, x, y)]),
  ...words.flatMap(({ word }, k) => [
    ...badge(k + 1, source.width + 30, 330 + 80 * k),
    text(word, source.width + 60, 339 + 80 * k, 27, 0xe8ecf4),
  ]),
];
const picture = { width: source.width + MARGIN, height, paper: PAPER, shapes };
writeFileSync(new URL('../../docs/first-light.png', import.meta.url), readFileSync(path));
writeFileSync(new URL('../../docs/first-light-words.png', import.meta.url), await renderPng(picture));

/** @param {{ width: number, rgb: Uint8Array }} canvas */
function paint(canvas) {
  for (let y = 0; y < source.height; y++) {
    const row = y < GAP.row ? y : y + GAP.height;
    for (let x = 0; x < source.width; x++)
      for (let c = 0; c < 3; c++)
        canvas.rgb[3 * (row * canvas.width + x) + c] =
          source.data[source.channels * (y * source.width + x) + c];
  }
}

/**
 * @param {number} number
 * @param {number} x
 * @param {number} y
 * @returns {Shape[]}
 */
function badge(number, x, y) {
  const points = Array.from({ length: 48 }, (_, k) => ({
    x: x + 17 * Math.cos((k * Math.PI) / 24),
    y: y + 17 * Math.sin((k * Math.PI) / 24),
  }));
  return [
    { kind: 'area', points, colour: ACCENT },
    { ...text(String(number), x, y + 7.5, 21, PAPER), anchor: 'middle' },
  ];
}

/**
 * @param {{ x: number, y: number }} from
 * @param {{ x: number, y: number }} to
 * @returns {Shape}
 */
function line(from, to) {
  return { kind: 'line', points: [from, to], width: 2.5, colour: ACCENT };
}

/**
 * @param {string} words
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {number} colour
 * @returns {Extract<Shape, { kind: 'text' }>}
 */
function text(words, x, y, size, colour) {
  return { kind: 'text', words, x, y, size, weight: 'bold', colour };
}
