/** Primary beam of a station's element, tile or dish, separate for X and Y. */
import type { Vector3 } from '../../core/vector.js';

/** Voltages of X and Y; imaginary parts if the beam has its own phases, else 0. */
export type Voltages = readonly [x: number, y: number, xIm?: number, yIm?: number];

export interface ElementBeam {
  /** As requested: "mwa-tile@60:90". */
  readonly name: string;
  /** Its origin and accuracy, for users and file headers. */
  readonly title: string;
  /** Where it points: the zenith, one direction over the ground, or the direction the telescope follows. */
  readonly pointing: 'zenith' | 'followed' | { readonly directionEnu: Vector3 };
  /** What it states: the voltages of X and Y, or nothing (the whole sky equally); by default their mean power. */
  readonly states?: 'each' | 'nothing';
  /**
   * perStation : [s], if stations differ; `voltage` is then that of the array's pairs, for callers that need one
   * (powers.ts has all).
   */
  readonly perStation?: readonly ElementBeam[];
  /** At a frequency, 1 in the pointing direction: |x|² multiplies XX, |y|² YY, and x·conj(y) XY. */
  voltage(frequencyHz: number, directionEnu: Vector3, towardsEnu: Vector3): Voltages;
}

export const ZENITH: Vector3 = { x: 0, y: 0, z: 1 };

/** The pointing direction of a beam, given the direction the telescope follows. */
export const towardsOf = ({ pointing }: ElementBeam, followedEnu: Vector3): Vector3 =>
  pointing === 'zenith' ? ZENITH : pointing === 'followed' ? followedEnu : pointing.directionEnu;
