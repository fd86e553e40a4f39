/** The report for images that are centred on the normal of the stations' own plane instead of the zenith. */
import { message, type Message } from '../messages/index.js';
import { tiltOf, type ImagePlan, type Tilt } from '../image/index.js';

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
