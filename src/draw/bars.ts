/** Bars over an axis: histograms. */
import { boxOf, drawAxes, placesIn, type Panel, type PlotFrame } from './axes.js';
import { seriesColour } from './palettes.js';
import type { Shape } from './shapes.js';

interface Bars extends Panel {
  /** Centres of the bars, and their widths. */
  readonly values: Float64Array;
  readonly width: number;
  readonly heights: Float64Array;
}

export function drawBars(bars: Bars, frame: PlotFrame): Shape[] {
  const { across, up } = placesIn(bars, frame);
  const { bottom } = boxOf(frame);
  const outline = Array.from(bars.values, (value, k) =>
    [value - bars.width / 2, value + bars.width / 2].map((x) => ({ x: across(x), y: up(bars.heights[k]) })),
  ).flat();
  const ends = outline.length === 0 ? [] : [outline[outline.length - 1], outline[0]];
  const floor = ends.map(({ x }) => ({ x, y: bottom }));
  return [
    // One outline for all: the background would show between separate areas.
    { kind: 'area', points: [...outline, ...floor], colour: seriesColour(0) },
    ...drawAxes(bars, frame),
  ];
}
