/** The products of an image: Stokes parameters, or the only hand in a file. */
import { refuse } from '../../core/errors.js';
import type { HandTally, WideProduct } from '../../image/index.js';
import type { WideSettings } from './settings.js';

/** The products in a file. */
export interface Held {
  readonly polarisations: 1 | 2;
  /** AIPS codes of the available products, if some are missing. */
  readonly codes?: readonly number[];
}

/** The only available product: XX for one polarisation, or YY in a file without any other. */
export const loneProduct = ({ polarisations, codes }: Held): 'XX' | 'YY' | undefined =>
  polarisations === 1 ? 'XX' : codes?.length === 1 && [-6, -2].includes(codes[0]) ? 'YY' : undefined;

/** The only hand left for I, if the other is lost on every pair at all times: the image is of that hand. */
export const loneHandOf = ({ both, one, second }: HandTally): 'XX' | 'YY' | undefined =>
  both > 0 || one === 0 ? undefined : second === 0 ? 'XX' : second === one ? 'YY' : undefined;

export function productsOf(held: Held, { stokes, clean }: WideSettings): readonly WideProduct[] {
  const lone = loneProduct(held);
  if (stokes === 'IQUV' && lone)
    refuse('image', 'one polarisation has no Stokes parameters', 'leave out products.images.stokes');
  if (stokes === 'IQUV' && clean)
    refuse('image', 'CLEAN is of Stokes I alone', 'leave out products.images.stokes');
  if (lone) return [lone];
  return stokes === 'I' ? ['I'] : ['XX', 'YY', 'Re XY', 'Im XY'];
}
