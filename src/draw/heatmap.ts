/** Heat maps and bars as SVG: a number in every cell of a grid, with a bar that says what its colours mean. */
import { interpolateInferno, interpolateSinebow } from 'd3-scale-chromatic';
import { encode } from 'fast-png';
import { COLOUR_STEPS, colourTable } from './colours.js';
import { escapeXml } from './render.js';
import { ink, ticks, tickText, type PlotAxis, type PlotFrame } from './plot.js';

/** Where there is no number: told apart from every colour of the maps. */
const NOTHING = [96, 104, 116] as const;
const maps = { power: interpolateInferno, angle: interpolateSinebow } as const;

export interface HeatScale {
  readonly map: keyof typeof maps;
  readonly low: number;
  readonly high: number;
  readonly label: string;
  /** Where the bar has its numbers; round ones unless told. */
  readonly ticks?: readonly number[];
  /** Whether cells lie below `low` or above `high`: the bar then says so. */
  readonly below?: true;
  readonly above?: true;
}

export interface PanelAxis extends PlotAxis {
  readonly range: readonly [least: number, most: number];
  readonly steps?: 'whole';
}

export interface HeatMap {
  readonly title: string;
  readonly x: PanelAxis;
  readonly y: PanelAxis;
  readonly rows: number;
  readonly columns: number;
  /** [row][column]; row 0 lies at the start of y's range, column 0 at that of x's. NaN: nothing. */
  readonly values: Float64Array;
  readonly scale: HeatScale;
}

/** A few damaged numbers may be so much stronger than the rest that no colour would be left for it. */
const MOST_ABOVE_DB = 60;

/**
 * From a hundredth of the cells, so that a few deep nulls do not take the colours, up to the strongest; or up to 95 %
 * of them where the strongest lie absurdly far above those.
 */
export function decibelScale(cells: readonly Float64Array[], label: string): HeatScale {
  const all = Float64Array.from(cells.flatMap((values) => Array.from(values).filter(Number.isFinite))).sort();
  if (all.length === 0) return { map: 'power', low: -1, high: 0, label };
  const low = all[Math.floor(all.length / 100)];
  const most = all[all.length - 1];
  const usual = all[Math.floor((all.length - 1) * 0.95)];
  const high = most - usual > MOST_ABOVE_DB ? usual : most;
  const range = high - low >= 1 ? { low, high } : { low: high - 1, high };
  return {
    map: 'power',
    ...range,
    label,
    ...(cells.some((values) => values.some((value) => value < range.low)) && { below: true as const }),
    ...(most > range.high && { above: true as const }),
  };
}

export const angleScale: HeatScale = {
  map: 'angle',
  low: -180,
  high: 180,
  label: 'phase (degrees)',
  ticks: [-180, -90, 0, 90, 180],
};

/** Drawn cell by cell at the frame's own size, so that no viewer's smoothing invents values between cells. */
function raster({ rows, columns, values, scale }: HeatMap, { width, height }: PlotFrame): string {
  const table = colourTable(maps[scale.map]);
  const data = new Uint8Array(3 * width * height);
  for (let y = 0; y < height; y++) {
    const row = Math.floor(((height - 1 - y) * rows) / height);
    for (let x = 0; x < width; x++) {
      const value = values[row * columns + Math.floor((x * columns) / width)];
      const at = 3 * (y * width + x);
      // −∞ dB is a number, and the lowest.
      if (Number.isNaN(value)) data.set(NOTHING, at);
      else {
        const fraction = Math.min(1, Math.max(0, (value - scale.low) / (scale.high - scale.low)));
        const colour = 3 * Math.round(fraction * (COLOUR_STEPS - 1));
        data.set(table.subarray(colour, colour + 3), at);
      }
    }
  }
  return pngHref(encode({ width, height, data, channels: 3 }));
}

const pngHref = (png: Uint8Array): string => `data:image/png;base64,${Buffer.from(png).toString('base64')}`;

/** The map with its axes; frames are whole pixels. */
export function drawHeatMap(heat: HeatMap, frame: PlotFrame): string {
  const { left, top, width, height } = frame;
  return (
    `<image x="${left}" y="${top}" width="${width}" height="${height}" preserveAspectRatio="none" image-rendering="optimizeSpeed" href="${raster(heat, frame)}"/>` +
    drawAxes(heat, frame)
  );
}

/** Stations and inputs have whole numbers alone. */
const axisTicks = ({ range, steps }: PanelAxis, about: number): number[] =>
  ticks(range, about).filter((tick) => steps !== 'whole' || Number.isInteger(tick));

/** Title, border and ticks round a panel. */
function drawAxes(
  panel: Pick<HeatMap, 'title' | 'x' | 'y'>,
  { left, top, width, height }: PlotFrame,
): string {
  const { x, y, title } = panel;
  const bottom = top + height;
  const across = (value: number): number => left + ((value - x.range[0]) / (x.range[1] - x.range[0])) * width;
  const up = (value: number): number => bottom - ((value - y.range[0]) / (y.range[1] - y.range[0])) * height;
  const text = (at: string, anchor: string, size: number, words: string): string =>
    `<text ${at} fill="${ink}" font-size="${size}" text-anchor="${anchor}">${escapeXml(words)}</text>`;
  return [
    `<rect x="${left}" y="${top}" width="${width}" height="${height}" fill="none" stroke="${ink}"/>`,
    `<text x="${left}" y="${top - 10}" fill="${ink}" font-size="15" font-weight="bold">${escapeXml(title)}</text>`,
    ...axisTicks(x, Math.max(4, Math.floor(width / 110))).map(
      (tick) =>
        `<line x1="${across(tick)}" x2="${across(tick)}" y1="${bottom}" y2="${bottom + 5}" stroke="${ink}"/>` +
        text(`x="${across(tick)}" y="${bottom + 19}"`, 'middle', 13, tickText(tick)),
    ),
    ...axisTicks(y, Math.max(3, Math.floor(height / 40))).map(
      (tick) =>
        `<line x1="${left - 5}" x2="${left}" y1="${up(tick)}" y2="${up(tick)}" stroke="${ink}"/>` +
        text(`x="${left - 8}" y="${up(tick) + 4}"`, 'end', 13, tickText(tick)),
    ),
    text(`x="${left + width / 2}" y="${bottom + 38}"`, 'middle', 14, x.label),
    text(`transform="translate(${left - 56} ${top + height / 2}) rotate(-90)"`, 'middle', 14, y.label),
  ].join('');
}

const edge = (value: number): string => tickText(Number(value.toPrecision(2)));

/** A standing bar of a scale's colours, its numbers on the right. */
export function drawColourBar(scale: HeatScale, frame: PlotFrame): string {
  const { left, top, width, height } = frame;
  const values = Float64Array.from(
    { length: 256 },
    (_, k) => scale.low + ((k + 0.5) / 256) * (scale.high - scale.low),
  );
  const range = [scale.low, scale.high] as const;
  const bar = { title: '', x: { label: '', range: [0, 1] }, y: { label: '', range }, columns: 1 } as const;
  const up = (value: number): number =>
    top + height - ((value - scale.low) / (scale.high - scale.low)) * height;
  const words = (y: number, what: string): string =>
    `<text x="${left + width + 8}" y="${y + 4}" fill="${ink}" font-size="13">${escapeXml(what)}</text>`;
  return [
    `<image x="${left}" y="${top}" width="${width}" height="${height}" preserveAspectRatio="none" image-rendering="optimizeSpeed" href="${raster({ ...bar, rows: 256, values, scale }, frame)}"/>`,
    `<rect x="${left}" y="${top}" width="${width}" height="${height}" fill="none" stroke="${ink}"/>`,
    ...(scale.ticks ?? ticks(range, Math.max(3, Math.floor(height / 40)))).map(
      (tick) =>
        `<line x1="${left + width}" x2="${left + width + 5}" y1="${up(tick)}" y2="${up(tick)}" stroke="${ink}"/>` +
        words(up(tick), tickText(tick)),
    ),
    ...(scale.below ? [words(top + height + 13, `${edge(scale.low)} or less`)] : []),
    ...(scale.above ? [words(top - 14, `${edge(scale.high)} or more`)] : []),
    `<rect x="${left}" y="${top + height + 26}" width="${width}" height="14" fill="rgb(${NOTHING.join(',')})"/>`,
    words(top + height + 33, 'missing'),
    `<text transform="translate(${left + width + 62} ${top + height / 2}) rotate(-90)" fill="${ink}" font-size="14" text-anchor="middle">${escapeXml(scale.label)}</text>`,
  ].join('');
}

export interface Bars {
  readonly title: string;
  readonly x: PanelAxis;
  readonly y: PanelAxis;
  readonly values: Float64Array;
  readonly width: number;
  readonly heights: Float64Array;
}

export function drawBars(bars: Bars, frame: PlotFrame): string {
  const { left, top, width, height } = frame;
  const { x, y } = bars;
  const perX = width / (x.range[1] - x.range[0]);
  const shapes = Array.from(bars.values, (value, k) => {
    const tall = (bars.heights[k] / y.range[1]) * height;
    const from = left + (value - bars.width / 2 - x.range[0]) * perX;
    return `<rect x="${from.toFixed(2)}" y="${(top + height - tall).toFixed(2)}" width="${(bars.width * perX).toFixed(2)}" height="${tall.toFixed(2)}" fill="#56b4e9"/>`;
  });
  return shapes.join('') + drawAxes(bars, frame);
}
