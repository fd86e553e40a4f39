/** How each product is planned and made; loaded when a run needs it, not for the help of a command. */
import { refuse } from '../core/errors.js';
import type { Observed, PlannedProduct } from './product.js';
import { isProduct, productName, type Product } from './registry.js';

export async function planProduct(product: Product, observed: Observed): Promise<PlannedProduct> {
  if (isProduct('visibilities', product))
    return (await import('./making/visibilities.js')).planVisibilities(product, observed);
  if (isProduct('spectra', product))
    return (await import('./making/spectra.js')).planSpectra(product, observed);
  if (isProduct('images', product)) return (await import('./making/images.js')).planImages(product, observed);
  if (isProduct('beams', product))
    return (await import('./making/beams.js')).planBeamsProduct(product, observed);
  return refuse(
    `products.${productName(product)}`,
    'is solved from visibilities',
    'write visibilities, and give them as source.visibilities of another observation',
  );
}
