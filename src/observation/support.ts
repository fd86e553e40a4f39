/**
 * Combinations that cannot be done, in one table: refusals and the support matrix in the docs are made of it. A reason
 * says why it cannot be, and what to do instead.
 */
import { refuse } from '../core/errors.js';
import { isProduct, type Product } from '../products/index.js';
import type { Observation } from './schema.js';

export interface Unsupported {
  /** The field that is refused. */
  readonly field: string;
  /** For the table: with what. */
  readonly with: string;
  readonly why: string;
  readonly fix: string;
  readonly applies: (observation: Observation, kind: 'voltages' | 'spectra') => boolean;
}

const some = ({ products }: Observation, is: (product: Product) => boolean): boolean => products.some(is);
const isDirect = (product: Product): boolean => isProduct('images', product) && product.method === 'direct';

export const unsupported: readonly Unsupported[] = [
  {
    ...{ field: 'front.finer', with: 'front.delays' },
    why: 'finer channels are made of channels that were sampled without delays',
    fix: 'correlate the channels as they are, or leave the delays out',
    applies: ({ front }) => front?.finer !== undefined && front.delays !== undefined,
  },
  {
    ...{ field: 'machine.cards', with: 'images (direct), spectra' },
    why: 'several cards share the channels of a correlation alone',
    fix: 'name one card',
    applies: (observation) =>
      (observation.machine?.cards?.length ?? 0) > 1 &&
      some(observation, (product) => isDirect(product) || isProduct('spectra', product)),
  },
  {
    ...{ field: 'products.spectra', with: 'front.delays.track' },
    why: 'tracked spectra have their phases rotated, which their file cannot say',
    fix: 'leave the tracking out, or write visibilities',
    applies: (observation) =>
      observation.front?.delays?.track !== undefined && some(observation, (one) => isProduct('spectra', one)),
  },
  {
    ...{ field: 'flags', with: 'images (direct)' },
    why: 'direct images have no visibilities to flag by channel, time or pair',
    fix: 'flag inputs, or image visibilities',
    applies: (observation) => {
      const { channels, times, baselines, file } = observation.flags ?? {};
      const isRuled = [channels, times, baselines, file].some((rule) => rule !== undefined);
      return isRuled && some(observation, isDirect);
    },
  },
  {
    ...{ field: 'products.images.weights', with: 'images (direct)' },
    why: 'direct images weight every visibility alike',
    fix: 'leave the weights out, or image visibilities',
    applies: (observation) =>
      some(observation, (one) => isDirect(one) && 'weights' in one && one.weights === 'uniform'),
  },
  {
    ...{ field: 'products.visibilities.values', with: 'front.delays.track' },
    why: 'sums are whole numbers, and tracked data are unphased afterwards',
    fix: 'take means, or do not track',
    applies: (observation) =>
      observation.front?.delays?.track !== undefined &&
      some(observation, (one) => isProduct('visibilities', one) && one.values === 'sums'),
  },
];

export function refuseUnsupported(observation: Observation, kind: 'voltages' | 'spectra'): void {
  for (const { field, why, fix, applies } of unsupported)
    if (applies(observation, kind)) refuse(field, why, fix);
}
