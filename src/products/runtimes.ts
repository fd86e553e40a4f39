/** How each product is planned and made; loaded when a run needs it, not for the help of a command. */
import type { Observed, PlannedProduct } from './product.js';
import { isProduct, type Product } from './registry.js';

export async function planProduct(product: Product, observed: Observed): Promise<PlannedProduct> {
  if (isProduct('visibilities', product))
    return (await import('./making/visibilities.js')).planVisibilities(product, observed);
  if (isProduct('spectra', product))
    return (await import('./making/spectra.js')).planSpectra(product, observed);
  if (isProduct('images', product)) return (await import('./making/images.js')).planImages(product, observed);
  if (isProduct('beams', product))
    return (await import('./making/beams.js')).planBeamsProduct(product, observed);
  return (await import('./making/gains.js')).planGainsOfRun(product, observed);
}
