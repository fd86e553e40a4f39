/** Every product that an observation can request, one line each. A product is identified by its own key. */
import type { z } from 'zod';
import { beams } from './beams.js';
import { gains } from './gains.js';
import { images } from './images.js';
import { spectra } from './spectra.js';
import { visibilities } from './visibilities.js';

export const productFields = { visibilities, images, beams, spectra, gains } as const;

export type ProductName = keyof typeof productFields;
export const productNames = Object.keys(productFields) as readonly ProductName[];
/** A product of an observation, as returned by the check. */
export type Product<Name extends ProductName = ProductName> = {
  [Each in Name]: z.output<(typeof productFields)[Each]>;
}[Name];

/** Which product it is. */
export const productName = (product: Product): ProductName =>
  productNames.find((name) => name in product) ?? 'visibilities';

/** Narrows a product to this name. */
export const isProduct = <Name extends ProductName>(name: Name, product: Product): product is Product<Name> =>
  name in product;
