/** Bars over an axis: histograms. */
import { boxOf, drawAxes, placesIn, type Panel, type PlotFrame } from './axes.js';
import { seriesColour } from './palettes.js';
import { rectangle, type Shape } from './shapes.js';

export interface Bars extends Panel {
  /** Middles of the bars, and how wide each is. */
  readonly values: Float64Array;
  readonly width: number;
  readonly heights: Float64Array;
}

export function drawBars(bars: Bars, frame: PlotFrame): Shape[] {
  const { across, up } = placesIn(bars, frame);
  const { bottom } = boxOf(frame);
  return [
    ...Array.from(bars.values, (value, k): Shape => {
      const box = {
        left: across(value - bars.width / 2),
        right: across(value + bars.width / 2),
        top: up(bars.heights[k]),
        bottom,
      };
      return { kind: 'area', points: rectangle(box), colour: seriesColour(0) };
    }),
    ...drawAxes(bars, frame),
  ];
}
