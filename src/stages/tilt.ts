/** Messages on the centre of images round the zenith, or round the normal of the stations' own plane. */
import { DEGREES_PER_RADIAN } from '../core/units.js';
import type { VisibilityHeader } from '../formats/index.js';
import { tiltOf, type ImageField, type ImagePlan, type Tilt } from '../image/index.js';
import { message, type Message } from '../messages/index.js';
import type { SkyFrame } from '../sky/frame.js';

type TiltedPlan = Pick<ImagePlan, 'axes' | 'field'>;

export interface TiltFacts extends Tilt {
  /**
   * For an image of the whole sky: up to this altitude, in the direction opposite to the tilt, sky is behind its plane.
   */
  readonly hiddenBelowDeg?: number;
}

/** Undefined for images round the zenith. */
export function tiltFacts({ axes, field }: TiltedPlan): TiltFacts | undefined {
  const tilt = tiltOf(axes);
  return tilt && { ...tilt, ...(field.kind === 'all-sky' && { hiddenBelowDeg: tilt.fromZenithDeg }) };
}

export function tiltLines(plan: TiltedPlan): Message[] {
  const tilt = tiltFacts(plan);
  return tilt ? [message('image.tilted-plane', { ...tilt })] : [];
}

/** Fields are round the zenith: a centre tracked elsewhere may be outside them. */
export function outsideField(
  { object, phaseCentre }: Pick<VisibilityHeader, 'object' | 'phaseCentre'>,
  frame: SkyFrame,
  field: ImageField,
): Message[] {
  const { x, y, z } = frame.directionEnu(phaseCentre);
  const fromZenithDeg = Math.atan2(Math.hypot(x, y), z) * DEGREES_PER_RADIAN;
  return fromZenithDeg <= (field.kind === 'field' ? field.widthDeg / 2 : 90)
    ? []
    : [message('image.phase-centre-outside', { object, fromZenithDeg })];
}
