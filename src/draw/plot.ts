/** Line plots as SVG: a few curves over one axis, legible on a screen and on paper. */
import { refuse } from '../core/errors.js';
import { escapeXml, FONT_FAMILY } from './render.js';

export interface PlotSeries {
  readonly name: string;
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
  readonly dashed?: true;
}

export interface PlotAxis {
  readonly label: string;
  /** Taken from the data unless given. */
  readonly range?: readonly [least: number, most: number];
}

export interface LinePlot {
  readonly title: string;
  readonly x: PlotAxis;
  readonly y: PlotAxis;
  readonly series: readonly PlotSeries[];
  /** Where the curves leave room; top right unless told. */
  readonly legend?: 'top-right' | 'bottom-right';
}

export interface PlotFrame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const WIDTH = 900;
const HEIGHT = 520;
/** Told apart in daylight, in print and by colour-blind eyes (Okabe and Ito's set, light end). */
const colours = ['#56b4e9', '#e69f00', '#009e73', '#cc79a7', '#f0e442', '#d55e00'] as const;
export const ink = '#d8dee9';
const faint = '#3b4252';
const paper = '#11151c';

/** A whole picture from drawn parts. */
export const pictureOf = (
  { width, height }: { readonly width: number; readonly height: number },
  parts: readonly string[],
): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
  `font-family="${FONT_FAMILY}"><rect width="100%" height="100%" fill="${paper}"/>${parts.join('')}</svg>`;

/** A whole picture of one plot, or of several one above the other. */
export function linePlots(plots: readonly LinePlot[]): string {
  const height = HEIGHT * plots.length;
  const bodies = plots.map((plot, k) =>
    drawPlot(plot, { left: 90, top: 60 + k * HEIGHT, width: WIDTH - 130, height: HEIGHT - 140 }),
  );
  return pictureOf({ width: WIDTH, height }, bodies);
}

export const linePlot = (plot: LinePlot): string => linePlots([plot]);

function drawPlot(plot: LinePlot, frame: PlotFrame): string {
  const xRange = rangeOf(
    plot.title,
    plot.x,
    plot.series.map(({ x }) => x),
  );
  const yRange = rangeOf(
    plot.title,
    plot.y,
    plot.series.map(({ y }) => y),
  );
  const across = (value: number): number =>
    frame.left + ((value - xRange[0]) / (xRange[1] - xRange[0])) * frame.width;
  const up = (value: number): number =>
    frame.top + frame.height - ((value - yRange[0]) / (yRange[1] - yRange[0])) * frame.height;
  const bottom = frame.top + frame.height;
  const clip = `clip-${Math.round(frame.top)}`;
  const parts = [
    `<text x="${frame.left}" y="${frame.top - 22}" fill="${ink}" font-size="19" font-weight="bold">${escapeXml(plot.title)}</text>`,
    `<clipPath id="${clip}"><rect x="${frame.left}" y="${frame.top}" width="${frame.width}" height="${frame.height}"/></clipPath>`,
    ...ticks(xRange, 9).map(
      (tick) =>
        `<line x1="${across(tick)}" x2="${across(tick)}" y1="${frame.top}" y2="${bottom}" stroke="${faint}"/>` +
        `<text x="${across(tick)}" y="${bottom + 22}" fill="${ink}" font-size="14" text-anchor="middle">${tickText(tick)}</text>`,
    ),
    ...ticks(yRange, 7).map(
      (tick) =>
        `<line x1="${frame.left}" x2="${frame.left + frame.width}" y1="${up(tick)}" y2="${up(tick)}" stroke="${faint}"/>` +
        `<text x="${frame.left - 10}" y="${up(tick) + 5}" fill="${ink}" font-size="14" text-anchor="end">${tickText(tick)}</text>`,
    ),
    `<rect x="${frame.left}" y="${frame.top}" width="${frame.width}" height="${frame.height}" fill="none" stroke="${ink}"/>`,
    `<text x="${frame.left + frame.width / 2}" y="${bottom + 50}" fill="${ink}" font-size="15" text-anchor="middle">${escapeXml(plot.x.label)}</text>`,
    `<text transform="translate(${frame.left - 62} ${frame.top + frame.height / 2}) rotate(-90)" fill="${ink}" font-size="15" text-anchor="middle">${escapeXml(plot.y.label)}</text>`,
  ];
  const legends: string[] = [];
  plot.series.forEach((series, k) => {
    const colour = colours[k % colours.length];
    const points: string[] = [];
    for (let n = 0; n < series.x.length; n++) {
      if (Number.isNaN(series.y[n])) continue;
      // Far outside values (−∞ dB) stay finite for the drawing; the clip hides them.
      const y = Math.min(Math.max(up(series.y[n]), frame.top - HEIGHT), bottom + HEIGHT);
      points.push(`${across(series.x[n]).toFixed(2)},${y.toFixed(2)}`);
    }
    const dash = series.dashed === true ? ' stroke-dasharray="7 5"' : '';
    const legendTop = plot.legend === 'bottom-right' ? bottom - 24 * plot.series.length - 10 : frame.top;
    const legendY = legendTop + 24 + 24 * k;
    const legendX = frame.left + frame.width - 250;
    parts.push(
      `<polyline clip-path="url(#${clip})" points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="2.2" stroke-linejoin="round"${dash}/>`,
    );
    // Drawn after all curves, so that none crosses the text.
    legends.push(
      `<rect x="${legendX - 10}" y="${legendY - 17}" width="250" height="24" fill="${paper}" fill-opacity="0.8"/>`,
      `<line x1="${legendX}" x2="${legendX + 34}" y1="${legendY - 5}" y2="${legendY - 5}" stroke="${colour}" stroke-width="3"${dash}/>`,
      `<text x="${legendX + 44}" y="${legendY}" fill="${ink}" font-size="14">${escapeXml(series.name)}</text>`,
    );
  });
  // A lone curve is named by the title.
  return [...parts, ...(plot.series.length > 1 ? legends : [])].join('');
}

function rangeOf(
  title: string,
  axis: PlotAxis,
  columns: readonly ArrayLike<number>[],
): readonly [number, number] {
  if (axis.range) return axis.range;
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

/** Round numbers inside a range: 1, 2 or 5 times a power of ten apart. */
export function ticks([least, most]: readonly [number, number], about: number): number[] {
  const rough = (most - least) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const found: number[] = [];
  for (let k = Math.ceil(least / step - 1e-9); k * step <= most + 1e-9 * step; k++) found.push(k * step);
  return found;
}

export const tickText = (value: number): string => String(Number(value.toPrecision(6))).replace('-', '−');
