/** Colour bar of a picture, with numbers, horizontal or vertical. */
import type { Canvas } from './canvas.js';
import { boxOf, levelWith, xTicks, yTicks, type PanelAxis, type PlotFrame, type Tick } from './axes.js';
import type { Box } from './cut.js';
import { textWidth } from './letters.js';
import { NOTHING, paletteColour, paletteTable, type Palette } from './palettes.js';
import { rectangle, segment, type Shape } from './shapes.js';
import { colourFraction, type Stretch } from './stretch.js';
import { INK, sizeOf, text } from './style.js';
import { numberText } from './ticks.js';

export interface ColourScale extends Stretch {
  readonly palette: Palette;
  /** Quantity and unit: "power (dB)", "Jy/beam". */
  readonly label: string;
  /** Positions of the bar's numbers; round ones by default. */
  readonly ticks?: readonly number[];
  /** The lowest and highest values; if they exceed the bar, its end is marked with the value. */
  readonly least?: number;
  readonly most?: number;
}

interface ColourBarOptions {
  /** Horizontal below a picture, or vertical beside a panel. */
  readonly stands: 'below' | 'beside';
  /** Shows the colour of missing numbers; a string replaces its label. */
  readonly missing?: true | string;
}

const TICK_SIZE = sizeOf('tick');
/** Size of the tip at an end that values exceed. */
const TIP = 14;

export function drawColourBar(scale: ColourScale, frame: PlotFrame, options: ColourBarOptions): Shape[] {
  return options.stands === 'below' ? lying(scale, frame) : standing(scale, frame, options);
}

const isBelow = ({ low, least = low }: ColourScale): boolean => least < low;
const isAbove = ({ high, most = high }: ColourScale): boolean => most > high;

/** No more digits than are visible. */
const extreme = (value: number): string => numberText(value, 3);

function lying(scale: ColourScale, frame: PlotFrame): Shape[] {
  const { left, top, width, height } = frame;
  const right = left + width;
  const bottom = top + height;
  const middle = top + height / 2;
  const ticksAlong = ticksOf(scale, (axis) => xTicks(axis, width));
  return [
    colours(scale, frame, 'along x'),
    ...(isBelow(scale)
      ? tip(scale, 'low', [left, top, left - TIP, middle, left, bottom]).concat(
          text('tick', `down to ${extreme(scale.least ?? scale.low)}`, {
            x: left - TIP - 6,
            y: levelWith(middle, TICK_SIZE),
            anchor: 'end',
          }),
        )
      : []),
    ...(isAbove(scale)
      ? tip(scale, 'high', [right, top, right + TIP, middle, right, bottom]).concat(
          text('tick', `up to ${extreme(scale.most ?? scale.high)}`, {
            x: right + TIP + 6,
            y: levelWith(middle, TICK_SIZE),
          }),
        )
      : []),
    { kind: 'line', points: rectangle(boxOf(frame)), closed: true, width: 0.7, colour: INK },
    ...ticksAlong.flatMap(({ at, words }): Shape[] => {
      const x = left + width * colourFraction(at, scale);
      return [
        segment([x, bottom, x, bottom + 5], 1, INK),
        text('tick', words, { x, y: bottom + 20, anchor: 'middle' }),
      ];
    }),
  ];
}

function standing(scale: ColourScale, frame: PlotFrame, { missing }: ColourBarOptions): Shape[] {
  const { left, top, width, height } = frame;
  const right = left + width;
  const bottom = top + height;
  const middle = left + width / 2;
  const alongY = ticksOf(scale, (axis) => yTicks(axis, height));
  const beside = (y: number, words: string): Shape =>
    text('tick', words, { x: right + 8, y: levelWith(y, TICK_SIZE) });
  const labelX = right + 8 + Math.max(0, ...alongY.map(({ words }) => textWidth(words, TICK_SIZE))) + 22;
  const sample = { left, top: bottom + 26, right, bottom: bottom + 40 };
  return [
    colours(scale, frame, 'along y'),
    ...(isBelow(scale)
      ? tip(scale, 'low', [left, bottom, middle, bottom + TIP, right, bottom]).concat(
          beside(bottom + 13, `down to ${extreme(scale.least ?? scale.low)}`),
        )
      : []),
    ...(isAbove(scale)
      ? tip(scale, 'high', [left, top, middle, top - TIP, right, top]).concat(
          beside(top - 13, `up to ${extreme(scale.most ?? scale.high)}`),
        )
      : []),
    { kind: 'line', points: rectangle(boxOf(frame)), closed: true, width: 1, colour: INK },
    ...alongY.flatMap(({ at, words }): Shape[] => {
      const y = bottom - height * colourFraction(at, scale);
      return [segment([right, y, right + 5, y], 1, INK), beside(y, words)];
    }),
    ...(missing
      ? [
          { kind: 'area', points: rectangle(sample), colour: NOTHING } satisfies Shape,
          beside((sample.top + sample.bottom) / 2, missing === true ? 'missing' : missing),
        ]
      : []),
    text('label', scale.label, { x: labelX, y: top + height / 2, anchor: 'middle', turned: true }),
  ];
}

/** A triangle in the colour of the end it is at. */
function tip({ palette }: ColourScale, end: 'low' | 'high', corners: readonly number[]): Shape[] {
  const points = [0, 2, 4].map((k) => ({ x: corners[k], y: corners[k + 1] }));
  return [
    { kind: 'area', points, colour: paletteColour(palette, end === 'low' ? 0 : 1) },
    { kind: 'line', points, width: 0.7, colour: INK },
  ];
}

const ticksOf = (scale: ColourScale, find: (axis: PanelAxis) => readonly Tick[]): readonly Tick[] =>
  find({ label: '', range: [scale.low, scale.high], ticks: scale.ticks });

/** The palette from end to end; the ticks show the spacing of numbers. */
const colours = ({ palette }: ColourScale, frame: PlotFrame, direction: 'along x' | 'along y'): Shape => ({
  kind: 'raster',
  box: boxOf(frame),
  paint: (canvas, box) => {
    paintPalette(canvas, box, paletteTable(palette), direction);
  },
});

function paintPalette({ width, rgb }: Canvas, box: Box, table: Uint8Array, direction: string): void {
  const [left, top] = [Math.round(box.left), Math.round(box.top)];
  const [right, bottom] = [Math.round(box.right), Math.round(box.bottom)];
  const last = table.length / 3 - 1;
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      const fraction =
        direction === 'along x' ? (x + 0.5 - left) / (right - left) : (bottom - y - 0.5) / (bottom - top);
      const from = 3 * Math.round(fraction * last);
      rgb.set(table.subarray(from, from + 3), 3 * (y * width + x));
    }
  }
}
