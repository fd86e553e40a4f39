/** Every figure, in the order of the report. A new one is one file and one line here. */
import type { Figure } from './figure.js';
import { imagesFigure } from './figures/images.js';
import { liveFigure } from './figures/live.js';
import { lossFigure } from './figures/loss.js';
import { backendsFigure } from './figures/backends.js';
import { beamsFigure } from './figures/beams.js';
import { filesFigure } from './figures/files.js';
import { performanceFigure } from './figures/performance.js';
import { papersFigure } from './figures/papers.js';
import { closureFigure } from './figures/closure.js';
import { delayFigure } from './figures/delay.js';
import { dynamicRangeFigure } from './figures/dynamic-range.js';
import { exactnessFigure } from './figures/exactness.js';
import { gainsFigure } from './figures/gains.js';
import { linearityFigure } from './figures/linearity.js';
import { noiseFigure } from './figures/noise.js';
import { quantisationFigure } from './figures/quantisation.js';
import { socketsFigure } from './figures/sockets.js';
import { shapeFigure } from './figures/shape.js';
import { signatureFigure } from './figures/signature.js';
import { toneFigure } from './figures/tone.js';

export const figures: readonly Figure[] = [
  toneFigure,
  shapeFigure,
  dynamicRangeFigure,
  linearityFigure,
  delayFigure,
  signatureFigure,
  exactnessFigure,
  noiseFigure,
  quantisationFigure,
  closureFigure,
  beamsFigure,
  gainsFigure,
  imagesFigure,
  lossFigure,
  liveFigure,
  socketsFigure,
  filesFigure,
  backendsFigure,
  performanceFigure,
  papersFigure,
];
