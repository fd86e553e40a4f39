/** TrueType fonts (ISO/IEC 14496-22): the outlines, widths and kerning of letters, without hints. */
import { refuse } from '../core/errors.js';

/** One closed curve: points on it, and between them control points of quadratic curves. Units of the font, y up. */
export type Contour = readonly { readonly x: number; readonly y: number; readonly on: boolean }[];

export interface Font {
  readonly unitsPerEm: number;
  /** The glyph of a character; 0, an empty box, if the font has none. */
  glyphOf(codePoint: number): number;
  advance(glyph: number): number;
  /** Offset of the second of two glyphs. */
  kerning(first: number, second: number): number;
  outline(glyph: number): readonly Contour[];
}

type Table = (tag: string) => DataView;

export function readFont(bytes: Uint8Array, where: string): Font {
  const whole = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tables = new Map<string, DataView>();
  const count = whole.getUint16(4);
  for (let at = 12; at < 12 + 16 * count; at += 16) {
    const tag = String.fromCharCode(...bytes.subarray(at, at + 4));
    const [from, length] = [whole.getUint32(at + 8), whole.getUint32(at + 12)];
    tables.set(tag, new DataView(bytes.buffer, bytes.byteOffset + from, length));
  }
  const table: Table = (tag) =>
    tables.get(tag) ?? refuse(where, `has no table '${tag}'`, 'install the fonts again: npm ci');
  const head = table('head');
  const hmtx = table('hmtx');
  const widths = table('hhea').getUint16(34);
  const outlines = new Map<number, readonly Contour[]>();
  const readOutline = outlineReader(table, head.getInt16(50) === 1 ? 'long' : 'short');
  const pairs = tables.has('kern') ? kerningPairs(table('kern')) : new Map<number, number>();
  return {
    unitsPerEm: head.getUint16(18),
    glyphOf: characterMap(table('cmap'), where),
    // Glyphs beyond the last width all have that width.
    advance: (glyph) => hmtx.getUint16(4 * Math.min(glyph, widths - 1)),
    kerning: (first, second) => pairs.get(first * 65_536 + second) ?? 0,
    outline: (glyph) => {
      const known = outlines.get(glyph);
      if (known) return known;
      const found = readOutline(glyph);
      outlines.set(glyph, found);
      return found;
    },
  };
}

const UNICODE = 3;
const BASIC_PLANE = 1;

/** Reads the segments of format 4, which every modern font has for Unicode's basic plane. */
function characterMap(cmap: DataView, where: string): (codePoint: number) => number {
  const count = cmap.getUint16(2);
  let start = -1;
  for (let at = 4; at < 4 + 8 * count; at += 8) {
    if (cmap.getUint16(at) !== UNICODE || cmap.getUint16(at + 2) !== BASIC_PLANE) continue;
    start = cmap.getUint32(at + 4);
  }
  if (start < 0 || cmap.getUint16(start) !== 4)
    refuse(where, 'has no characters of Unicode in format 4', 'install the fonts again: npm ci');
  const segmentBytes = cmap.getUint16(start + 6);
  const ends = start + 14;
  const starts = ends + segmentBytes + 2;
  const deltas = starts + segmentBytes;
  const offsets = deltas + segmentBytes;
  return (codePoint) => {
    for (let segment = 0; segment < segmentBytes; segment += 2) {
      if (codePoint > cmap.getUint16(ends + segment)) continue;
      const first = cmap.getUint16(starts + segment);
      if (codePoint < first) return 0;
      const delta = cmap.getUint16(deltas + segment);
      const offset = cmap.getUint16(offsets + segment);
      if (offset === 0) return (codePoint + delta) & 0xffff;
      // Relative to the position of the offset itself.
      const glyph = cmap.getUint16(offsets + segment + offset + 2 * (codePoint - first));
      return glyph === 0 ? 0 : (glyph + delta) & 0xffff;
    }
    return 0;
  };
}

/** Horizontal pairs in format 0: first · 2¹⁶ + second → units. */
function kerningPairs(kern: DataView): Map<number, number> {
  const pairs = new Map<number, number>();
  const HORIZONTAL_FORMAT_0 = 1;
  if (kern.getUint16(0) !== 0) return pairs;
  let at = 4;
  for (let table = 0; table < kern.getUint16(2); table++) {
    const end = at + kern.getUint16(at + 2);
    if (kern.getUint16(at + 4) === HORIZONTAL_FORMAT_0) {
      const count = kern.getUint16(at + 6);
      for (let pair = at + 14; pair < at + 14 + 6 * count; pair += 6)
        pairs.set(kern.getUint16(pair) * 65_536 + kern.getUint16(pair + 2), kern.getInt16(pair + 4));
    }
    at = end;
  }
  return pairs;
}

/** Bits of a point's flags. */
const ON_CURVE = 1;
const X_SHORT = 2;
const Y_SHORT = 4;
const REPEAT = 8;
const X_SAME_OR_POSITIVE = 16;
const Y_SAME_OR_POSITIVE = 32;
/** Bits of a component's flags. */
const WORDS = 1;
const OFFSETS = 2;
const ONE_SCALE = 8;
const MORE = 32;
const TWO_SCALES = 64;
const MATRIX = 128;

function outlineReader(table: Table, offsets: 'short' | 'long'): (glyph: number) => Contour[] {
  const [loca, glyf] = [table('loca'), table('glyf')];
  const offset = (glyph: number): number =>
    offsets === 'long' ? loca.getUint32(4 * glyph) : 2 * loca.getUint16(2 * glyph);
  const read = (glyph: number): Contour[] => {
    const [from, end] = [offset(glyph), offset(glyph + 1)];
    if (from === end) return [];
    const contours = glyf.getInt16(from);
    return contours >= 0 ? simple(glyf, from + 10, contours) : composite(from + 10);
  };
  /** A glyph composed of others, moved and scaled, such as a letter and its accent. */
  const composite = (start: number): Contour[] => {
    const parts: Contour[] = [];
    let at = start;
    let flags: number;
    do {
      flags = glyf.getUint16(at);
      const contours = read(glyf.getUint16(at + 2));
      const [dx, dy] =
        (flags & WORDS) !== 0
          ? [glyf.getInt16(at + 4), glyf.getInt16(at + 6)]
          : [glyf.getInt8(at + 4), glyf.getInt8(at + 5)];
      at += (flags & WORDS) !== 0 ? 8 : 6;
      const fraction = (): number => {
        at += 2;
        return glyf.getInt16(at - 2) / 2 ** 14;
      };
      let [xx, xy, yx, yy] = [1, 0, 0, 1];
      if ((flags & ONE_SCALE) !== 0) xx = yy = fraction();
      else if ((flags & TWO_SCALES) !== 0) [xx, yy] = [fraction(), fraction()];
      else if ((flags & MATRIX) !== 0) [xx, xy, yx, yy] = [fraction(), fraction(), fraction(), fraction()];
      // Parts may also be aligned point to point; no letter of our fonts is.
      const [moveX, moveY] = (flags & OFFSETS) !== 0 ? [dx, dy] : [0, 0];
      parts.push(
        ...contours.map((contour) =>
          contour.map(({ x, y, on }) => ({
            x: xx * x + yx * y + moveX,
            y: xy * x + yy * y + moveY,
            on,
          })),
        ),
      );
    } while ((flags & MORE) !== 0);
    return parts;
  };
  return read;
}

function simple(glyf: DataView, start: number, contours: number): Contour[] {
  const ends = Array.from({ length: contours }, (_, k) => glyf.getUint16(start + 2 * k));
  const points = contours === 0 ? 0 : ends[contours - 1] + 1;
  let at = start + 2 * contours;
  at += 2 + glyf.getUint16(at);
  const flags: number[] = [];
  while (flags.length < points) {
    const flag = glyf.getUint8(at++);
    const times = (flag & REPEAT) !== 0 ? 1 + glyf.getUint8(at++) : 1;
    for (let k = 0; k < times; k++) flags.push(flag);
  }
  const coordinates = (short: number, same: number): number[] => {
    let value = 0;
    return flags.map((flag) => {
      if ((flag & short) !== 0) value += (flag & same) !== 0 ? glyf.getUint8(at++) : -glyf.getUint8(at++);
      else if ((flag & same) === 0) {
        value += glyf.getInt16(at);
        at += 2;
      }
      return value;
    });
  };
  const xs = coordinates(X_SHORT, X_SAME_OR_POSITIVE);
  const ys = coordinates(Y_SHORT, Y_SAME_OR_POSITIVE);
  return ends.map((end, k) => {
    const first = k === 0 ? 0 : ends[k - 1] + 1;
    return Array.from({ length: end + 1 - first }, (_, n) => ({
      x: xs[first + n],
      y: ys[first + n],
      on: (flags[first + n] & ON_CURVE) !== 0,
    }));
  });
}
