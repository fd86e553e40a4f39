/** The frame of a panel: its title, its border, and numbers along two sides. */
import { CAPITAL_HEIGHT, textWidth } from './letters.js';
import { rectangle, segment, type Shape } from './shapes.js';
import { FAINT, INK, sizeOf, text, WARNING } from './style.js';
import { ticks, tickTexts, type Range } from './ticks.js';

export interface PlotFrame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface PanelAxis {
  readonly label: string;
  /** May be descending, for values that increase to the left, like east on the sky. */
  readonly range: Range;
  /** Stations and inputs have whole numbers only. */
  readonly steps?: 'whole';
  /** Positions of the tick labels; round numbers by default. */
  readonly ticks?: readonly number[];
  /** Labels shown instead of the numbers 0, 1, 2, … */
  readonly names?: readonly string[];
}

export interface Panel {
  readonly title: string;
  readonly x: PanelAxis;
  readonly y: PanelAxis;
}

interface Places {
  readonly across: (value: number) => number;
  readonly up: (value: number) => number;
}

export const placesIn = ({ x, y }: Pick<Panel, 'x' | 'y'>, frame: PlotFrame): Places => ({
  across: (value) => frame.left + ((value - x.range[0]) / (x.range[1] - x.range[0])) * frame.width,
  up: (value) => frame.top + frame.height - ((value - y.range[0]) / (y.range[1] - y.range[0])) * frame.height,
});

export const boxOf = ({ left, top, width, height }: PlotFrame) => ({
  left,
  top,
  right: left + width,
  bottom: top + height,
});

export interface Tick {
  readonly at: number;
  readonly words: string;
}

/** The number of ticks for an axis so that labels stay separate: the largest of those tried that fits. */
function fitting(axis: PanelAxis, most: number, fits: (found: readonly Tick[]) => boolean): readonly Tick[] {
  if (axis.ticks) return withTexts(axis.ticks);
  let found: readonly Tick[] = [];
  for (let about = most; about >= 1; about--) {
    found = axis.names ? namedTicks(axis.names, axis.range, about) : numberTicks(axis, about);
    if (fits(found)) return found;
  }
  return found.slice(0, 1);
}

function numberTicks({ range, steps }: PanelAxis, about: number): Tick[] {
  const rising: Range = range[0] < range[1] ? range : [range[1], range[0]];
  const values = ticks(rising, about).filter((tick) => steps !== 'whole' || Number.isInteger(tick));
  return withTexts(values);
}

function withTexts(values: readonly number[]): Tick[] {
  const words = tickTexts(values);
  return values.map((at, k) => ({ at, words: words[k] }));
}

/** Every first, second, third, … name. */
function namedTicks(names: readonly string[], [least, most]: Range, about: number): Tick[] {
  const step = Math.ceil(names.length / about);
  return names.flatMap((words, at) => (at % step === 0 && at >= least && at <= most ? [{ at, words }] : []));
}

const TICK_SIZE = sizeOf('tick');
const tickWidth = ({ words }: Tick): number => textWidth(words, TICK_SIZE);
const widest = (found: readonly Tick[]): number => Math.max(0, ...found.map(tickWidth));

export const xTicks = (axis: PanelAxis, width: number): readonly Tick[] =>
  fitting(axis, axis.names ? axis.names.length : Math.max(4, Math.round(width / 80)), (found) =>
    // between the centres of two neighbours there is half of each
    found.every(
      (tick, k) =>
        k === 0 ||
        ((tick.at - found[k - 1].at) / Math.abs(axis.range[1] - axis.range[0])) * width >
          (tickWidth(tick) + tickWidth(found[k - 1])) / 2 + 10,
    ),
  );
export const yTicks = (axis: PanelAxis, height: number): readonly Tick[] =>
  fitting(
    axis,
    axis.names ? axis.names.length : Math.max(3, Math.round(height / 40)),
    (found) =>
      found.length < 2 ||
      ((found[1].at - found[0].at) / Math.abs(axis.range[1] - axis.range[0])) * height > 1.2 * TICK_SIZE,
  );

/** Below the centre of capitals, so that labels are level with their ticks. */
export const levelWith = (y: number, size: number): number => y + (CAPITAL_HEIGHT / 2) * size;

/** Ticks outside the frame, or as grid lines across it for reading curves. */
export function drawAxes(panel: Panel, frame: PlotFrame, grid: 'outside' | 'across' = 'outside'): Shape[] {
  const { x, y, title } = panel;
  const { left, top, width, height } = frame;
  const bottom = top + height;
  const { across, up } = placesIn(panel, frame);
  const [alongX, alongY] = [xTicks(x, width), yTicks(y, height)];
  const line = (x1: number, y1: number, x2: number, y2: number, colour: number): Shape =>
    segment([x1, y1, x2, y2], 1, colour);
  const labelX = left - widest(alongY) - 8 - 14;
  return [
    ...(grid === 'across'
      ? [
          ...alongX.map(({ at }) => line(across(at), top, across(at), bottom, FAINT)),
          ...alongY.map(({ at }) => line(left, up(at), left + width, up(at), FAINT)),
        ]
      : []),
    { kind: 'line', points: rectangle(boxOf(frame)), closed: true, width: 1, colour: INK },
    text('panel', title, { x: left, y: top - 10 }),
    ...alongX.flatMap(({ at, words }): Shape[] => [
      line(across(at), bottom, across(at), bottom + 5, INK),
      text('tick', words, { x: across(at), y: bottom + 19, anchor: 'middle' }),
    ]),
    ...alongY.flatMap(({ at, words }): Shape[] => [
      line(left - 5, up(at), left, up(at), INK),
      text('tick', words, { x: left - 8, y: levelWith(up(at), TICK_SIZE), anchor: 'end' }),
    ]),
    text('label', x.label, { x: left + width / 2, y: bottom + 38, anchor: 'middle' }),
    text('label', y.label, { x: labelX, y: top + height / 2, anchor: 'middle', turned: true }),
  ];
}

/** Small arrows on the right of a panel that point at important rows. */
export function markRows(rows: readonly number[], panel: Pick<Panel, 'x' | 'y'>, frame: PlotFrame): Shape[] {
  const { up } = placesIn(panel, frame);
  const { right } = boxOf(frame);
  return rows.map((row) => ({
    kind: 'area',
    colour: WARNING,
    points: [
      { x: right + 2, y: up(row) },
      { x: right + 10, y: up(row) - 4 },
      { x: right + 10, y: up(row) + 4 },
    ],
  }));
}
