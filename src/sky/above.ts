/** Sources above an altitude. */
import { realNumber } from '../core/errors.js';
import type { Vector3 } from '../core/vector.js';
import type { Telescope } from '../telescope/telescope.js';
import { elementVoltage } from './beam.js';
import { altitudeDeg, azimuthDeg, type SkyFrame, type SkyPosition } from './frame.js';
import { isKnown, REFERENCE_FREQUENCY_HZ, type Source } from './source.js';

export interface SourceUp {
  readonly source: Source;
  readonly position: SkyPosition;
  readonly directionEnu: Vector3;
  readonly altitudeDeg: number;
  readonly azimuthDeg: number;
  /** Flux times the element's power beam, if a telescope is given. */
  readonly apparentFluxJy: number;
}

/** Sources at or above an altitude, in order of decreasing apparent flux. */
export function sourcesUp(
  sources: readonly Source[],
  frame: SkyFrame,
  minimumAltitudeDeg: number,
  { frequencyHz = REFERENCE_FREQUENCY_HZ, telescope }: { frequencyHz?: number; telescope?: Telescope } = {},
): SourceUp[] {
  realNumber('sources up', 'minimum altitude in degrees', minimumAltitudeDeg, -90, 90);
  return sources
    .filter((source) => isKnown(source, frame))
    .map((source): SourceUp => {
      const position = source.position(frame);
      const directionEnu = frame.directionEnu(position);
      const beam = telescope === undefined ? 1 : elementVoltage(telescope, directionEnu);
      return {
        source,
        position,
        directionEnu,
        altitudeDeg: altitudeDeg(directionEnu),
        azimuthDeg: azimuthDeg(directionEnu),
        apparentFluxJy: source.fluxJy(frequencyHz) * beam ** 2,
      };
    })
    .filter((up) => up.altitudeDeg >= minimumAltitudeDeg)
    .sort((x, y) => y.apparentFluxJy - x.apparentFluxJy);
}
