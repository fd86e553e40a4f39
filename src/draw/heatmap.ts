/** Heat maps: the number in every cell of a grid, as a colour. */
import { boxOf, drawAxes, type Panel, type PlotFrame } from './axes.js';
import { channelsOf, type Canvas, type Colour } from './canvas.js';
import type { ColourScale } from './colour-bar.js';
import type { Box } from './cut.js';
import { NOTHING } from './palettes.js';
import type { Shape } from './shapes.js';
import { stretchedTable } from './stretch.js';

export interface HeatMap extends Panel {
  readonly rows: number;
  readonly columns: number;
  /** [row][column]; row 0 is at the start of y's range, column 0 at that of x's. NaN: missing. */
  readonly values: Float64Array;
  readonly scale: ColourScale;
  /** Colour of missing numbers; by default a grey that is in no palette. */
  readonly nothing?: Colour;
}

/** A few damaged numbers may be so much stronger that the others would all have one colour. */
const MOST_ABOVE_DB = 60;

/**
 * From the lowest hundredth of the cells, so that a few deep nulls do not use up the range, to the strongest; or to the
 * 95th percentile if the strongest are far above it.
 */
export function decibelScale(cells: readonly Float64Array[], label: string): ColourScale {
  const all = Float64Array.from(cells.flatMap((values) => Array.from(values).filter(Number.isFinite))).sort();
  const scale = { palette: 'brightness', exponent: 1, label } as const;
  if (all.length === 0) return { ...scale, low: -1, high: 0 };
  const low = all[Math.floor(all.length / 100)];
  const most = all[all.length - 1];
  const bulk = all[Math.floor((all.length - 1) * 0.95)];
  const high = most - bulk > MOST_ABOVE_DB ? bulk : most;
  // −∞ dB is the lowest number, but useless as a label.
  return { ...scale, ...(high - low >= 1 ? { low, high } : { low: high - 1, high }), least: all[0], most };
}

export const angleScale: ColourScale = {
  palette: 'angle',
  low: -180,
  high: 180,
  exponent: 1,
  label: 'phase (degrees)',
  ticks: [-180, -90, 0, 90, 180],
};

/** Drawn cell by cell at the picture's own resolution, without smoothing between cells. */
export const drawHeatMap = (heat: HeatMap, frame: PlotFrame): Shape[] => [
  {
    kind: 'raster',
    box: boxOf(frame),
    paint: (canvas, box) => {
      paintCells(canvas, box, heat);
    },
  },
  ...drawAxes(heat, frame),
];

function paintCells({ width, rgb }: Canvas, box: Box, heat: HeatMap): void {
  const { rows, columns, values, scale } = heat;
  const [left, top] = [Math.round(box.left), Math.round(box.top)];
  const [across, down] = [Math.round(box.right) - left, Math.round(box.bottom) - top];
  const table = stretchedTable(scale, scale.palette);
  const last = table.length / 3 - 1;
  const perUnit = last / (scale.high - scale.low);
  const nothing = channelsOf(heat.nothing ?? NOTHING);
  const [rowRanges, columnRanges] = [cellRanges(down, rows), cellRanges(across, columns)];
  for (let y = 0; y < down; y++) {
    const [firstRow, endRow] = rowRanges(down - 1 - y);
    for (let x = 0; x < across; x++) {
      const [firstColumn, endColumn] = columnRanges(x);
      const value = valueOf(values, columns, [firstRow, endRow], [firstColumn, endColumn], scale);
      const to = 3 * ((top + y) * width + left + x);
      if (Number.isNaN(value)) rgb.set(nothing, to);
      else {
        const from = 3 * Math.round(Math.min(last, Math.max(0, (value - scale.low) * perUnit)));
        rgb.set(table.subarray(from, from + 3), to);
      }
    }
  }
}

type Cells = readonly [first: number, end: number];

/** The cells shown by a pixel: one, or all that fall into it. */
const cellRanges =
  (pixels: number, cells: number) =>
  (pixel: number): Cells => {
    const first = Math.floor((pixel * cells) / pixels);
    return [first, Math.max(first + 1, Math.floor(((pixel + 1) * cells) / pixels))];
  };

/** The strongest of the cells in one pixel, so that none is lost; for angles, which have no strongest, the first. */
function valueOf(
  values: Float64Array,
  columns: number,
  [firstRow, endRow]: Cells,
  [firstColumn, endColumn]: Cells,
  { palette }: ColourScale,
): number {
  let most = Number.NaN;
  for (let row = firstRow; row < endRow; row++) {
    for (let column = firstColumn; column < endColumn; column++) {
      const value = values[row * columns + column];
      if (Number.isNaN(most) || (palette !== 'angle' && value > most)) most = value;
    }
  }
  return most;
}
