/** What image says of images round the zenith. */
import { DEGREES_PER_RADIAN } from '../../core/units.js';
import type { CrossHandLack, VisibilityHeader } from '../../formats/index.js';
import type { ImageField } from '../../image/index.js';
import { handName, type CoarsePlan, type StokesPlanes } from '../../stages/index.js';
import type { SkyFrame } from '../../sky/frame.js';
import type { Telescope } from '../../telescope/telescope.js';

/** Told above it. */
const MOST_LOSS = 0.2;
/** What more pixels are asked for. */
const LITTLE_LOSS = 0.1;

export function coarseLines(
  { plan }: { readonly plan: CoarsePlan },
  loss: number,
  [pixels, field] = ['--pixels', '--field'],
): string[] {
  if (!(loss > MOST_LOSS)) return [];
  const more = Math.ceil((plan.pixels / 2) * Math.sqrt(Math.log(1 - loss) / Math.log(1 - LITTLE_LOSS))) * 2;
  return [
    `pixels are coarse for the beam: a source between them reads up to ${(100 * loss).toFixed(0)} % low, ` +
      `${100 * LITTLE_LOSS} % with ${more} pixels (${pixels}), or in a narrower ${field}`,
  ];
}

export const loneHandNote = (hand: 0 | 1, feeds: 'linear' | 'circular' = 'linear'): string =>
  `the plane is ${handName(feeds, hand)}: of the other hand nothing is left, and Stokes I takes both`;

/** Fields lie round the zenith: what a telescope followed elsewhere may not be in them. */
export function outsideLines(
  { object, phaseCentre }: Pick<VisibilityHeader, 'object' | 'phaseCentre'>,
  frame: SkyFrame,
  field: ImageField,
): string[] {
  const { x, y, z } = frame.directionEnu(phaseCentre);
  const fromZenithDeg = Math.atan2(Math.hypot(x, y), z) * DEGREES_PER_RADIAN;
  if (fromZenithDeg <= (field.kind === 'field' ? field.widthDeg / 2 : 90)) return [];
  return [
    `the file's phase centre, ${object}, is ${fromZenithDeg.toFixed(1)}° from the zenith, ` +
      (fromZenithDeg > 90 ? 'below the horizon' : 'outside this field round the zenith'),
  ];
}

/** What of the Stokes parameters is not there, and why. */
export const stokesNotes = (
  stokes: StokesPlanes | undefined,
  { crossHands }: { readonly crossHands?: CrossHandLack },
  { polarisations }: Pick<Telescope, 'polarisations'>,
  feeds: 'linear' | 'circular' = 'linear',
): string[] => {
  const isLinearLeftOut = stokes?.linear !== undefined;
  if (polarisations === 1) return [];
  return crossHands === undefined
    ? isLinearLeftOut
      ? [...stokes.history]
      : []
    : [
        crossHands === 'open'
          ? 'plane I alone: the model of these gains leaves a rotation of Q, U and V open (it takes three sources of different polarisation)'
          : feeds === 'linear' && isLinearLeftOut
            ? 'plane I alone: these gains do not know the phase between X and Y (calibrate --cross-hand), without which Q, U and V are mixed'
            : feeds === 'linear'
              ? 'planes I and Q alone: these gains do not know the phase between X and Y (calibrate --cross-hand), without which U and V are mixed'
              : 'planes I and V alone: these gains do not know the phase between R and L (calibrate --cross-hand), without which Q and U are mixed',
      ];
};
