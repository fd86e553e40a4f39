/** Whether the observed centre is in an image round the zenith. */
import { DEGREES_PER_RADIAN } from '../core/units.js';
import type { VisibilityHeader } from '../formats/index.js';
import type { ImageField } from '../image/index.js';
import { message, type Message } from '../messages/index.js';
import type { SkyFrame } from '../sky/frame.js';

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
