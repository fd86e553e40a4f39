/** Discs of the sky round named sources, which are left out of images and models. */
import { dot } from '../core/vector.js';
import { RADIANS_PER_DEGREE } from '../core/units.js';
import type { ChosenSources } from './chosen-sources.js';
import type { SkyFrame } from './frame.js';
import { isKnown, type Source } from './source.js';
import { findSources } from './sources.js';

/** Plain data: the name is looked up where it is used, since a process may use other orbits later. */
export interface SkyDisc {
  /** A source, a satellite, `satellites` or `all`. */
  readonly name: string;
  readonly radiusDeg: number;
}

/** Discs, and what an image is fixed to while its data are summed. */
export interface BlankedDiscs {
  readonly discs: readonly SkyDisc[];
  /** `sky` if a source is tracked; by default `ground`, over which stars move too. */
  readonly fixedTo?: 'ground' | 'sky';
}

/** A source of a disc. */
export interface DiscSource {
  readonly source: Source;
  readonly radiusRad: number;
}

/** Unknown names are refused. */
export const discSources = (discs: readonly SkyDisc[]): readonly DiscSource[] =>
  discs.flatMap(({ name, radiusDeg }) =>
    findSources([name]).map((source) => ({ source, radiusRad: radiusDeg * RADIANS_PER_DEGREE })),
  );

/** The source itself counts, however its direction was rounded. */
const ROUNDING_RAD = 1e-9;

/** A model without the sources that are inside a disc at the frame's moment. */
export function outsideDiscs(chosen: ChosenSources, discs: readonly SkyDisc[]): ChosenSources {
  if (discs.length === 0) return chosen;
  return (frame) => {
    const directionOf = (source: Source): ReturnType<SkyFrame['directionEnu']> =>
      frame.directionEnu(source.position(frame));
    const round = discSources(discs)
      .filter(({ source }) => isKnown(source, frame))
      .map(({ source, radiusRad }) => ({ towards: directionOf(source), radiusRad }));
    return chosen(frame).filter((source) => {
      if (!isKnown(source, frame)) return true;
      const direction = directionOf(source);
      return round.every(({ towards, radiusRad }) => {
        const chord = Math.sqrt(Math.max(0, 2 - 2 * dot(towards, direction)));
        return chord > 2 * Math.sin(radiusRad / 2) + ROUNDING_RAD;
      });
    });
  };
}
