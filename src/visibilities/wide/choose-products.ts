/** Which products an image is made of: Stokes parameters, or the one hand that a file holds. */
import { refuse } from '../../core/errors.js';
import type { HandTally, WideProduct } from '../../image/index.js';
import type { WideSettings } from './settings.js';

/** What a file holds of its products. */
export interface Held {
  readonly polarisations: 1 | 2;
  /** AIPS codes of the products that are there, where that is not everything. */
  readonly codes?: readonly number[];
}

/** The product that is all there is: XX of one polarisation, or YY of a file without any other. */
export const loneProduct = ({ polarisations, codes }: Held): 'XX' | 'YY' | undefined =>
  polarisations === 1 ? 'XX' : codes?.length === 1 && [-6, -2].includes(codes[0]) ? 'YY' : undefined;

/** The hand that is all there is of I, the other being lost on every pair at all times: the image is that hand's. */
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
