/** A point on the sky with a spectrum: simulated, or used as a calibration model. */
import { realNumber, refuse } from '../core/errors.js';
import type { Vector3 } from '../core/vector.js';
import { directionFromAltAz, type SkyFrame, type SkyPosition } from './frame.js';

/** "Cyg A", "cyga" and "cyg-a" are the same. */
export const plainName = (name: string): string => name.toLowerCase().replaceAll(/[\s_-]/g, '');

/** Stokes Q, U, V as fractions of I, the same at every frequency. */
export interface StokesFractions {
  readonly q: number;
  readonly u: number;
  readonly v: number;
}

/** A Gaussian: full widths at half maximum, and position angle of its major axis, from north through east. */
export interface GaussianShape {
  readonly majorDeg: number;
  readonly minorDeg: number;
  readonly positionAngleDeg: number;
}

/** On for the first `width` of each period. */
export interface Pulse {
  readonly periodS: number;
  /** Dispersion measure, pc/cm³. */
  readonly dm: number;
  readonly width: number;
}

export interface Source {
  readonly name: string;
  /** Constant for stars; the Sun, the Moon, planets and satellites move, and their position depends on the site. */
  position(frame: SkyFrame): SkyPosition;
  readonly isMoving?: true;
  /** Whether its position is known at that moment; true by default. If unknown, `all` skips the source. */
  isKnownAt?(frame: SkyFrame): boolean;
  /** 0 if no flux was given: the source is named on images, and is in no model. */
  fluxJy(frequencyHz: number): number;
  readonly stokes: StokesFractions;
  /** Accuracy of a catalogue position. */
  readonly accuracyDeg?: number;
  /** The flux is then the mean over a period; only the simulator uses this. */
  readonly pulse?: Pulse;
  /** A point by default; only models use shapes, the simulator makes points. */
  readonly shape?: GaussianShape;
}

/** Whether a source's position is known at the frame's moment. */
export const isKnown = (source: Source, frame: SkyFrame): boolean => source.isKnownAt?.(frame) ?? true;

export const unpolarised: StokesFractions = { q: 0, u: 0, v: 0 };

/** Reference frequency for fluxes given by hand: the middle of the low band. */
export const REFERENCE_FREQUENCY_HZ = 100e6;

interface FixedSource {
  readonly name: string;
  readonly position: SkyPosition;
  /** At REFERENCE_FREQUENCY_HZ. */
  readonly fluxJy: number;
  /** S ∝ f^index; 0, flat, by default. */
  readonly spectralIndex?: number;
  readonly stokes?: StokesFractions;
}

/** A source fixed among the stars. */
export function fixedSource({
  name,
  position,
  fluxJy,
  spectralIndex = 0,
  stokes = unpolarised,
}: FixedSource): Source {
  const where = `source ${name}`;
  realNumber(where, 'right ascension', position.raDeg, 0, 360);
  realNumber(where, 'declination', position.decDeg, -90, 90);
  realNumber(where, 'flux in Jy', fluxJy, 0, 1e12);
  realNumber(where, 'spectral index', spectralIndex, -10, 10);
  return {
    name,
    position: () => position,
    fluxJy: (frequencyHz) => fluxJy * (frequencyHz / REFERENCE_FREQUENCY_HZ) ** spectralIndex,
    stokes: checkedStokes(where, stokes),
  };
}

/** The polarised fraction is at most 1. */
export function checkedStokes(where: string, stokes: StokesFractions): StokesFractions {
  const degree = Math.hypot(stokes.q, stokes.u, stokes.v);
  // The margin allows fractions like (0.6, 0.8, 0), whose squares do not add up to 1 exactly.
  if (!(degree <= 1 + 1e-12)) {
    refuse(where, `its Stokes fractions make ${degree} of its flux polarised`, 'keep √(q² + u² + v²) ≤ 1');
  }
  return stokes;
}

/** NAME:RA_DEG:DEC_DEG:FLUX_JY[:SPECTRAL_INDEX], the flux at 100 MHz. */
export function parseSource(text: string): Source {
  const fields = text.split(':').map((field) => field.trim());
  const numbers = fields.slice(1).map((field) => (field === '' ? Number.NaN : Number(field)));
  if (fields.length < 4 || fields.length > 5 || fields[0] === '' || numbers.some(Number.isNaN)) {
    refuse(
      `source '${text}'`,
      'is not a source',
      'write NAME:RA_DEG:DEC_DEG:FLUX_JY[:SPECTRAL_INDEX], like blob:187.7:12.4:1000:-0.7',
    );
  }
  const [raDeg, decDeg, fluxJy, spectralIndex = 0] = numbers;
  return fixedSource({ name: fields[0], position: { raDeg, decDeg }, fluxJy, spectralIndex });
}

/**
 * A source at an altitude and azimuth (north through east) at the frame's moment, which moves with the sky from there.
 */
export const sourceAt = (
  frame: SkyFrame,
  altDeg: number,
  azDeg: number,
  fluxJy: number,
  name: string,
  { spectralIndex = 0, stokes = unpolarised }: Pick<FixedSource, 'spectralIndex' | 'stokes'> = {},
): Source => {
  const position = frame.positionOf(checkedDirection(`source ${name}`, altDeg, azDeg));
  return fixedSource({ name, position, fluxJy, spectralIndex, stokes });
};

/** An altitude above 90° would be on the other side of the sky. */
export function checkedDirection(where: string, altDeg: number, azDeg: number): Vector3 {
  realNumber(where, 'altitude in degrees', altDeg, -90, 90);
  realNumber(where, 'azimuth in degrees', azDeg, -360, 360);
  return directionFromAltAz(altDeg, azDeg);
}
