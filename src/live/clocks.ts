/** Where integrations and images of a live run are cut. */
import { refuse } from '../core/errors.js';
import { dividedClock, integrationClock, type SpectrumGrid } from '../stages/index.js';
import type { Clocks } from './steering.js';

/** Lengths that differ by less are equal: for numbers written with twelve digits, like 33.3333333333ms. */
const SAME = 1e-11;

/** The number of images per integration. It is a whole number: both are cut on one grid. */
export function imagesIn(integrationS: number, everyS: number): number {
  const images = Math.round(integrationS / everyS);
  if (images < 1 || Math.abs(images * everyS - integrationS) > SAME * integrationS) {
    const whole = Math.max(1, images);
    const seconds = (length: number): string => `${Number(length.toPrecision(12))}s`;
    refuse(
      'products.visibilities.integration',
      `an integration of ${integrationS} s is no whole number of images of ${everyS} s`,
      `give products.visibilities.integration as a multiple of products.images.every, like ${seconds(whole * everyS)}; or products.images.every ${seconds(integrationS / whole)}`,
    );
  }
  return images;
}

interface Cadences {
  readonly integrationS: number;
  readonly align: 'first-sample' | 'utc';
  readonly imaging?: { readonly everyS: number };
}

/** Clocks for integrations of any length; images stay on the grid of the start of the run. */
export function planClocks(
  { integrationS: firstS, align, imaging }: Cadences,
  grid: SpectrumGrid,
): (integrationS: number) => Clocks {
  if (!imaging)
    return (integrationS) => {
      const files = integrationClock({ integrationS, align }, grid);
      return { cuts: files, files };
    };
  const { everyS } = imaging;
  const clock = dividedClock({ integrationS: firstS, align }, imagesIn(firstS, everyS), grid);
  const cuts = clock(1);
  return (integrationS) => ({ cuts, files: clock(imagesIn(integrationS, everyS)) });
}
