/** Text as outlines, in fonts from the package, so that pictures are the same on every machine. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Point } from './cut.js';
import { readFont, type Contour, type Font } from './truetype.js';

const packaged = createRequire(import.meta.url);
const files = { regular: 'DejaVuSans.ttf', bold: 'DejaVuSans-Bold.ttf' } as const;
export type Weight = keyof typeof files;

const loaded = new Map<Weight, Font>();
/** Read at the first use: it takes a few milliseconds. */
function fontOf(weight: Weight): Font {
  const known = loaded.get(weight);
  if (known) return known;
  const path = packaged.resolve(`dejavu-fonts-ttf/ttf/${files[weight]}`);
  const font = readFont(readFileSync(path), path);
  loaded.set(weight, font);
  return font;
}

/** Height of capitals and digits as a fraction of the size. */
export const CAPITAL_HEIGHT = 0.729;

interface SetGlyph {
  readonly glyph: number;
  /** Its starting position, in the font's units. */
  readonly x: number;
}

function set(words: string, font: Font): { readonly glyphs: readonly SetGlyph[]; readonly width: number } {
  let x = 0;
  let before: number | undefined;
  const glyphs = Array.from(words, (letter): SetGlyph => {
    const glyph = font.glyphOf(letter.codePointAt(0) ?? 0);
    if (before !== undefined) x += font.kerning(before, glyph);
    before = glyph;
    const at = x;
    x += font.advance(glyph);
    return { glyph, x: at };
  });
  return { glyphs, width: x };
}

/** Width of text at a size. */
export function textWidth(words: string, size: number, weight: Weight = 'regular'): number {
  const font = fontOf(weight);
  return (set(words, font).width / font.unitsPerEm) * size;
}

/** Rings of all letters; the first begins at (0, 0), which is on their baseline, y downwards. */
export function textRings(words: string, size: number, weight: Weight = 'regular'): Point[][] {
  const font = fontOf(weight);
  const scale = size / font.unitsPerEm;
  return set(words, font).glyphs.flatMap(({ glyph, x }) =>
    font
      .outline(glyph)
      .map((contour) =>
        flatten(contour, size).map((point) => ({ x: (x + point.x) * scale, y: -point.y * scale })),
      ),
  );
}

/** Small letters need few corners per curve. */
const stepsOf = (size: number): number => Math.min(12, Math.max(2, Math.round(Math.sqrt(size) / 1.5)));

/** Curves as polygons. Halfway between two control points is a point of the curve that the font omits. */
function flatten(contour: Contour, size: number): Point[] {
  const steps = stepsOf(size);
  const count = contour.length;
  const points: Point[] = [];
  const halfway = (a: Point, b: Point): Point => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
  for (let k = 0; k < count; k++) {
    const here = contour[k];
    if (here.on) {
      points.push(here);
      continue;
    }
    const before = contour[(k - 1 + count) % count];
    const after = contour[(k + 1) % count];
    const from = before.on ? before : halfway(before, here);
    const to = after.on ? after : halfway(here, after);
    // A point in the font is added by its own iteration.
    const last = after.on ? steps - 1 : steps;
    for (let step = 1; step <= last; step++) {
      const t = step / steps;
      const [a, b, c] = [(1 - t) ** 2, 2 * t * (1 - t), t ** 2];
      points.push({ x: a * from.x + b * here.x + c * to.x, y: a * from.y + b * here.y + c * to.y });
    }
  }
  return points;
}
