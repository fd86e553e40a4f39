/** Messages of images centred near the zenith. */
import type { CrossHandLack } from '../../formats/index.js';
import type { DirectImageError } from '../../image/index.js';
import { message, type Line, type Message } from '../../messages/index.js';
import { handName, type CoarsePlan, type StokesPlanes } from '../../stages/index.js';
import type { Telescope } from '../../telescope/telescope.js';

/** Reported above this loss. */
const MOST_LOSS = 0.2;
/** More pixels are suggested above this loss. */
const LITTLE_LOSS = 0.1;

export function coarseLines({ plan }: { readonly plan: CoarsePlan }, loss: number): Message[] {
  if (!(loss > MOST_LOSS)) return [];
  const pixels = Math.ceil((plan.pixels / 2) * Math.sqrt(Math.log(1 - loss) / Math.log(1 - LITTLE_LOSS))) * 2;
  return [message('image.coarse-pixels', { loss, pixels, little: LITTLE_LOSS })];
}

export const loneHandNote = (hand: 0 | 1, feeds: 'linear' | 'circular' = 'linear'): Message =>
  message('image.single-polarisation', { plane: handName(feeds, hand) });

/** Which of the Stokes parameters are missing, and why. */
export const stokesNotes = (
  stokes: StokesPlanes | undefined,
  { crossHands }: { readonly crossHands?: CrossHandLack },
  { polarisations }: Pick<Telescope, 'polarisations'>,
  feeds: 'linear' | 'circular' = 'linear',
): Line[] => {
  const isLinearLeftOut = stokes?.linear !== undefined;
  if (polarisations === 1) return [];
  if (crossHands === undefined) return isLinearLeftOut ? [...stokes.history] : [];
  const isAlone = crossHands === 'open' || (feeds === 'linear' && isLinearLeftOut);
  const planes = isAlone ? 'I' : feeds === 'linear' ? 'I and Q' : 'I and V';
  return [message('image.stokes-left-out', { planes, why: crossHands, feeds })];
};

/** Reported above one per cent. */
export const directErrorLines = ({ anywhere, high }: DirectImageError): Message[] =>
  anywhere > 0.01 ? [message('image.direct-error', { anywhere, above10Deg: high })] : [];

/** For `--json`. */
export const directErrorFacts = (
  error: DirectImageError | undefined,
): { readonly directError?: number; readonly directErrorAbove10Deg?: number } =>
  error ? { directError: error.anywhere, directErrorAbove10Deg: error.high } : {};
