/** Pictures: skies, plots and heat maps as shapes over pixels, rendered to PNG. */
export { markRows, type PanelAxis, type PlotFrame } from './axes.js';
export { drawBars } from './bars.js';
export { drawColourBar, type ColourScale } from './colour-bar.js';
export { angleScale, decibelScale, drawHeatMap, type HeatMap } from './heatmap.js';
export {
  drawPlot,
  linePlot,
  linePlots,
  pictureOf,
  type LinePlot,
  type PlotAxis,
  type PlotSeries,
} from './plot.js';
export { skyScales, type SkyLook } from './look.js';
export { drawMap, type MapPoint } from './map.js';
export { seriesColour, skyPalettes } from './palettes.js';
export { renderAnimation, renderPng, renderContactSheet } from './render.js';
export type { Picture, Shape } from './shapes.js';
export { angleText, type SkyDirections } from './sky/grid.js';
export type { BeamEllipse, NamedDirection } from './sky/marks.js';
export { skyPicture, type SkyPicture } from './sky/picture.js';
export type { SkyPlan } from './sky/view.js';
export { imageStretch, percentileStretch, type Stretch } from './stretch.js';
export { PAPER, text, WARNING } from './style.js';
export { ticks } from './ticks.js';
