/** Curves and dots over two axes, legible on a screen and on paper. */
import { refuse } from '../core/errors.js';
import { boxOf, drawAxes, placesIn, type Panel, type PanelAxis, type PlotFrame } from './axes.js';
import { cutLine, type Box, type Point } from './cut.js';
import { textWidth } from './letters.js';
import { seriesColour } from './palettes.js';
import { ellipse, rectangle, segment, type Picture, type Shape } from './shapes.js';
import { PAPER, sizeOf, text } from './style.js';
import type { Range } from './ticks.js';

export interface PlotSeries {
  readonly name: string;
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
  /** By default a curve through the points. */
  readonly drawn?: 'line' | 'dashes' | 'dots';
  /** Radius of dots. */
  readonly size?: number;
  /** By default the next of the set; a curve and dots of the same data can share a colour. */
  readonly colour?: number;
  /** Left out of the legend. */
  readonly unnamed?: true;
}

export interface PlotAxis extends Omit<PanelAxis, 'range'> {
  /** By default the range of the data. */
  readonly range?: Range;
}

export interface LinePlot {
  readonly title: string;
  readonly x: PlotAxis;
  readonly y: PlotAxis;
  readonly series: readonly PlotSeries[];
  /** Place with few curves; by default top right, or beside the title. */
  readonly legend?: LegendPlace;
}

type LegendPlace = 'top-right' | 'bottom-right' | 'above';

const WIDTH = 900;
const HEIGHT = 520;

/** Combines drawn parts to a picture. */
export const pictureOf = (
  { width, height }: { readonly width: number; readonly height: number },
  shapes: readonly Shape[],
): Picture => ({ width, height, paper: PAPER, shapes });

/** A picture of one plot, or of several one above the other. */
export function linePlots(plots: readonly LinePlot[]): Picture {
  const shapes = plots.flatMap((plot, k) =>
    drawPlot(plot, { left: 90, top: 60 + k * HEIGHT, width: WIDTH - 130, height: HEIGHT - 140 }),
  );
  return pictureOf({ width: WIDTH, height: HEIGHT * plots.length }, shapes);
}

export const linePlot = (plot: LinePlot): Picture => linePlots([plot]);

const LEGEND = { lineHeight: 24, sample: 34, gap: 10 } as const;
const LABEL_SIZE = sizeOf('label');

export function drawPlot(plot: LinePlot, frame: PlotFrame): Shape[] {
  const range = (axis: PlotAxis, of: (series: PlotSeries) => ArrayLike<number>): Range =>
    axis.range ?? rangeOf(plot.title, plot.series.map(of));
  const panel: Panel = {
    title: plot.title,
    x: { ...plot.x, range: range(plot.x, ({ x }) => x) },
    y: { ...plot.y, range: range(plot.y, ({ y }) => y) },
  };
  const coloured = plot.series.map((series, k) => ({ ...series, colour: series.colour ?? seriesColour(k) }));
  return [
    ...drawAxes(panel, frame, 'across'),
    ...coloured.flatMap((series) => drawSeries(series, panel, frame)),
    // After all curves, so that none crosses the text; a single curve is named by the title.
    ...drawLegend(
      coloured.filter(({ unnamed }) => unnamed !== true),
      boxOf(frame),
      plot.legend ?? 'top-right',
    ),
  ];
}

type Coloured = PlotSeries & { readonly colour: number };

function drawSeries(series: Coloured, panel: Panel, frame: PlotFrame): Shape[] {
  const { across, up } = placesIn(panel, frame);
  const box = boxOf(frame);
  const { colour, drawn = 'line', size = 2.2 } = series;
  const points: Point[] = [];
  for (let n = 0; n < series.x.length; n++) {
    if (Number.isNaN(series.y[n])) continue;
    // Infinite values (−∞ dB) become finite for drawing; cutting removes them.
    const y = Math.min(Math.max(up(series.y[n]), box.top - HEIGHT), box.bottom + HEIGHT);
    points.push({ x: across(series.x[n]), y });
  }
  if (drawn === 'dots')
    return points
      .filter(({ x, y }) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom)
      .map((point) => ({ kind: 'area', points: ellipse(point, size), colour }));
  return cutLine(points, box).map((piece) => ({
    kind: 'line',
    points: piece,
    width: 2.2,
    colour,
    ...(drawn === 'dashes' && { dash: [7, 5] as const }),
  }));
}

function drawLegend(series: readonly Coloured[], box: Box, place: LegendPlace): Shape[] {
  if (series.length < 2) return [];
  const { lineHeight, sample, gap } = LEGEND;
  if (place === 'above') {
    let right = box.right;
    return [...series].reverse().flatMap((one) => {
      right -= textWidth(one.name, LABEL_SIZE) + sample + 2 * gap;
      return legendEntry(one, { x: right + gap, y: box.top - 15 });
    });
  }
  const wide = Math.max(...series.map(({ name }) => textWidth(name, LABEL_SIZE))) + sample + 3 * gap;
  const tall = lineHeight * series.length + gap;
  const top = place === 'top-right' ? box.top + 1 : box.bottom - tall - 1;
  const left = box.right - wide - 1;
  const plate = { left, top, right: box.right - 1, bottom: top + tall };
  return [
    { kind: 'area', points: rectangle(plate), colour: PAPER, opacity: 0.85 },
    ...series.flatMap((one, k) =>
      legendEntry(one, { x: left + gap, y: top + gap / 2 + lineHeight * (k + 0.5) }),
    ),
  ];
}

/** A sample of the line or dot, and its name. */
function legendEntry({ name, colour, drawn = 'line', size = 2.2 }: Coloured, { x, y }: Point): Shape[] {
  const { sample, gap } = LEGEND;
  const words = text('label', name, { x: x + sample + gap, y: y + 5 });
  if (drawn === 'dots')
    return [{ kind: 'area', points: ellipse({ x: x + sample / 2, y }, Math.max(3, size)), colour }, words];
  const line = segment([x, y, x + sample, y], 3, colour);
  return [{ ...line, ...(drawn === 'dashes' && { dash: [7, 5] as const }) }, words];
}

function rangeOf(title: string, columns: readonly ArrayLike<number>[]): Range {
  let least = Infinity;
  let most = -Infinity;
  for (const column of columns) {
    for (const value of Array.from(column)) {
      if (!Number.isFinite(value)) continue;
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
  }
  if (!(least <= most)) refuse(`plot '${title}'`, 'has no finite values', 'give it data');
  const margin = most > least ? 0.04 * (most - least) : Math.max(1, Math.abs(most) * 0.1);
  return [least - margin, most + margin];
}
