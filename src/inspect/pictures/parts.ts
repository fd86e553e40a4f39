/** Common parts of the pictures of recordings and of visibilities. */
import { median } from '../../core/median.js';
import {
  angleScale,
  decibelScale,
  drawColourBar,
  drawHeatMap,
  text,
  type HeatMap,
  type PanelAxis,
  type PlotFrame,
  type Shape,
} from '../../draw/index.js';
import { inDb } from '../waterfall.js';

export const PICTURE_WIDTH = 1400;
export const TITLE_HEIGHT = 84;

export const heading = (title: string, below: string): Shape[] => [
  text('title', title, { x: 40, y: 38 }),
  text('body', below, { x: 40, y: 64 }),
];

/**
 * From the lower edge of the first channel to the upper edge of the last; frequencies are channel centres. A narrow
 * band at a high frequency is labelled relative to its centre, since absolute labels would all look the same.
 */
export function frequencyAxis(frequenciesHz: Float64Array, widthHz: number) {
  const low = frequenciesHz[0] - widthHz / 2;
  const high = frequenciesHz[frequenciesHz.length - 1] + widthHz / 2;
  const middle = (low + high) / 2;
  const fromHz = high - low < 1e-4 * Math.abs(middle) ? middle : 0;
  const most = Math.max(Math.abs(low - fromHz), Math.abs(high - fromHz));
  const [unit, perUnit] =
    most >= 1e6 ? (['MHz', 1e6] as const) : most >= 1e3 ? (['kHz', 1e3] as const) : (['Hz', 1] as const);
  const range = [(low - fromHz) / perUnit, (high - fromHz) / perUnit] as const;
  return {
    label:
      fromHz === 0 ? `frequency (${unit})` : `${unit} from ${Number((fromHz / 1e6).toPrecision(10))} MHz`,
    range,
  };
}

export const stepHz = (frequenciesHz: Float64Array, otherwise: number): number =>
  frequenciesHz.length > 1
    ? (frequenciesHz[frequenciesHz.length - 1] - frequenciesHz[0]) / (frequenciesHz.length - 1)
    : otherwise;

/** A number of pixels that is a whole multiple of `cells`. */
export const evenSide = (cells: number, about = 480): number =>
  cells * Math.max(1, Math.round(about / cells));

const MOST_LISTED = 12;

/** "a, b, c", or the first of many and the number of the rest. */
export const listed = (names: readonly string[]): string =>
  names.length <= MOST_LISTED
    ? names.join(', ')
    : `${names.slice(0, MOST_LISTED).join(', ')} and ${names.length - MOST_LISTED} more`;

/** From 0, in hours, minutes, seconds, milliseconds or microseconds, depending on the range. */
export function timeAxis(durationS: number): PanelAxis {
  const [unit, perSecond] =
    durationS >= 7200
      ? (['h', 1 / 3600] as const)
      : durationS >= 120
        ? (['min', 1 / 60] as const)
        : durationS >= 1
          ? (['s', 1] as const)
          : durationS >= 1e-3
            ? (['ms', 1e3] as const)
            : (['µs', 1e6] as const);
  return { label: `time (${unit})`, range: [0, durationS * perSecond] };
}

/** A heat map and its colour bar on the right, which shows the colour of missing numbers. */
export const heatMapWithBar = (map: HeatMap, frame: PlotFrame, missing: true | string = true): Shape[] => [
  ...drawHeatMap(map, frame),
  ...drawColourBar(map.scale, barBeside(frame), { stands: 'beside', missing }),
];

export const barBeside = (frame: PlotFrame): PlotFrame => ({
  ...frame,
  left: frame.left + frame.width + 18,
  width: 18,
});

/** Left edge of the second of two panels side by side. */
export const nextPanel = ({ left, width }: Pick<PlotFrame, 'left' | 'width'>): number => left + width + 210;

/** Two panels side by side, amplitudes in dB and phases in degrees, each with its colour bar. */
export function drawBoth(
  grid: Pick<HeatMap, 'x' | 'y' | 'rows' | 'columns'>,
  amplitude: Pick<HeatMap, 'title' | 'values'>,
  phase: Pick<HeatMap, 'title' | 'values'>,
  frame: PlotFrame,
  missing: true | string = 'no weight',
): Shape[] {
  const scale = decibelScale([amplitude.values], 'amplitude (dB)');
  return [
    ...heatMapWithBar({ ...grid, ...amplitude, scale }, frame, missing),
    ...heatMapWithBar(
      { ...grid, ...phase, scale: angleScale },
      { ...frame, left: nextPanel(frame) },
      missing,
    ),
  ];
}

/** Amplitudes in dB relative to the median: a few damaged values must not shift the rest. */
export function fromMedian(amplitudes: Float64Array): Float64Array {
  const middle = median(amplitudes.filter((value) => value > 0));
  return amplitudes.map((value) => 2 * inDb(value / middle));
}

/** Between any two of some points. */
export function longestDistance(
  points: readonly { readonly x: number; readonly y: number; readonly z?: number }[],
): number {
  let most = 0;
  for (const [i, a] of points.entries())
    for (const b of points.slice(0, i))
      most = Math.max(most, Math.hypot(a.x - b.x, a.y - b.y, (a.z ?? 0) - (b.z ?? 0)));
  return most;
}
