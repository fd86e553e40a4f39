/** Pictures: skies, plots and heat maps as SVG over pixels, rendered to PNG. */
export { angleScale, decibelScale, drawBars, drawColourBar, drawHeatMap } from './heatmap.js';
export type { HeatMap, HeatScale } from './heatmap.js';
export { ink, linePlot, linePlots, pictureOf, type PlotFrame } from './plot.js';
export { escapeXml, renderPng } from './render.js';
export { skyPicture, type DrawnSky, type NamedDirection, type SkyPicture } from './sky-picture.js';
export { percentileStretch, type Stretch } from './stretch.js';
