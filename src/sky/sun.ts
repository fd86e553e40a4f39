/** Flux of the quiet Sun. */
import { unpolarised, type Source } from './source.js';

/**
 * Flux in Jy at sunspot minimum, close to the levels collected by Benz (2009, Landolt–Börnstein VI/4B, 4.1.1.6): a
 * corona of nearly 10⁶ K, so about f² at first, flatter above. Real days are often brighter.
 */
const quietSunJy: readonly (readonly [frequencyHz: number, fluxJy: number])[] = [
  [30e6, 1.7e3],
  [50e6, 5.4e3],
  [100e6, 2.4e4],
  [150e6, 5.1e4],
  [200e6, 8.1e4],
  [300e6, 1.49e5],
  [400e6, 2.13e5],
];

/** Linear interpolation of log S over log f; extrapolated with the end slopes. */
function quietSunFluxJy(frequencyHz: number): number {
  const above = quietSunJy.findIndex(([tableHz]) => tableHz >= frequencyHz);
  const upper = above < 0 ? quietSunJy.length - 1 : Math.max(1, above);
  const [lowHz, lowJy] = quietSunJy[upper - 1];
  const [highHz, highJy] = quietSunJy[upper];
  const slope = Math.log(highJy / lowJy) / Math.log(highHz / lowHz);
  return lowJy * (frequencyHz / lowHz) ** slope;
}

export const sun: Source = {
  name: 'Sun',
  isMoving: true,
  position: (frame) => frame.sun,
  fluxJy: quietSunFluxJy,
  stokes: unpolarised,
};
