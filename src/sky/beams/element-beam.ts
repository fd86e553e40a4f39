/** How a station's element, tile or dish hears a direction, X and Y apart. */
import type { Vector3 } from '../../core/vector.js';

/** Voltages of X and Y; imaginary parts where a beam has phases of its own, else 0. */
export type Voltages = readonly [x: number, y: number, xIm?: number, yIm?: number];

export interface ElementBeam {
  /** As it is asked for: "mwa-tile@60:90". */
  readonly name: string;
  /** Where it comes from, and how right it is, for people and headers. */
  readonly title: string;
  /** What it is pointed at: the zenith, one direction over the ground, or the place the telescope follows. */
  readonly pointing: 'zenith' | 'followed' | { readonly directionEnu: Vector3 };
  /** Of X and Y: each one's own voltage, or nothing (the whole sky alike); their mean power unless stated. */
  readonly states?: 'each' | 'nothing';
  /** perStation : [s], where stations differ; then `voltage` is that of the array's pairs, for who takes one (powers.ts has all). */
  readonly perStation?: readonly ElementBeam[];
  /** At a frequency, 1 where it points: |x|² multiplies XX, |y|² YY, and x·conj(y) XY. */
  voltage(frequencyHz: number, directionEnu: Vector3, towardsEnu: Vector3): Voltages;
}

export const ZENITH: Vector3 = { x: 0, y: 0, z: 1 };

/** Where a beam looks, given what the telescope follows. */
export const towardsOf = ({ pointing }: ElementBeam, followedEnu: Vector3): Vector3 =>
  pointing === 'zenith' ? ZENITH : pointing === 'followed' ? followedEnu : pointing.directionEnu;
