/** Where the user points: a source or satellite by name, a place by coordinates, the Sun, Moon or a planet, or straight up. */
import { CorellaError, refuse } from '../core/errors.js';
import type { Vector3 } from '../core/vector.js';
import { parsePosition } from './coordinates.js';
import type { SkyFrame, SkyPosition } from './frame.js';
import { findSources, sourceNames } from './sources.js';

export interface PhaseCentre {
  /** As it was asked for, or the source's own name. */
  readonly name: string;
  /** Fixed among the stars, moving among them (the Sun), or fixed over the ground (the zenith). */
  readonly kind: 'fixed' | 'moving' | 'local';
  /** What stands there at the frame's moment. */
  position(frame: SkyFrame): SkyPosition;
  /** Unit vector towards it. */
  directionEnu(frame: SkyFrame): Vector3;
}

/** A centre that stands still among the stars. */
export const fixedCentre = (name: string, position: SkyPosition): PhaseCentre => ({
  name,
  kind: 'fixed',
  position: () => position,
  directionEnu: (frame) => frame.directionEnu(position),
});

/** A direction over the ground that does not follow the sky. */
export const localCentre = (name: string, directionEnu: Vector3): PhaseCentre => ({
  name,
  kind: 'local',
  position: (frame) => frame.positionOf(directionEnu),
  directionEnu: () => directionEnu,
});

/** SOURCE, "RA Dec", zenith or Sun; `where` is the option that asked. */
export function parsePhaseCentre(text: string, where: string): PhaseCentre {
  const asked = text.trim();
  if (/^zenith$/i.test(asked)) return localCentre('zenith', { x: 0, y: 0, z: 1 });
  // Names begin with a letter, coordinates with a number.
  if (/^[\d.+\-−]/.test(asked)) return fixedCentre(asked, parsePosition(asked, where));
  const [source] = named(asked, where);
  return {
    name: source.name,
    kind: source.isMoving ? 'moving' : 'fixed',
    position: (frame) => source.position(frame),
    directionEnu: (frame) => frame.directionEnu(source.position(frame)),
  };
}

function named(asked: string, where: string): ReturnType<typeof findSources> {
  try {
    return findSources([asked]);
  } catch (error) {
    if (!(error instanceof CorellaError)) throw error;
    return refuse(
      where,
      asked === '' ? 'names no place' : `'${asked}' is no source that we know`,
      `choose ${sourceNames().join(', ')}, zenith, or give coordinates like "19h59m28.36s +40d44m02.1s"`,
    );
  }
}
