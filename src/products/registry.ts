/** Every product that an observation can ask for: one line each. A product is known by its own key. */
import type { z } from 'zod';
import { beams } from './beams.js';
import { gains } from './gains.js';
import { images } from './images.js';
import { spectra } from './spectra.js';
import { visibilities } from './visibilities.js';

export const productFields = { visibilities, images, beams, spectra, gains } as const;

export type ProductName = keyof typeof productFields;
export const productNames = Object.keys(productFields) as readonly ProductName[];
/** A product of an observation, as the check gives it. */
export type Product<Name extends ProductName = ProductName> = {
  [Each in Name]: z.output<(typeof productFields)[Each]>;
}[Name];

/** Which product it is. */
export const productName = (product: Product): ProductName =>
  productNames.find((name) => name in product) ?? 'visibilities';

/** Whether it is that product; the type follows. */
export const isProduct = <Name extends ProductName>(name: Name, product: Product): product is Product<Name> =>
  name in product;
