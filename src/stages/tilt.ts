/** What is reported of images that are centred on the normal of the stations' own plane instead of the zenith. */
import { tiltOf, type ImagePlan, type Tilt } from '../image/index.js';

type TiltedPlan = Pick<ImagePlan, 'axes' | 'field'>;

export interface TiltFacts extends Tilt {
  /** Of an image of the whole sky: up to this altitude, in the direction opposite to the tilt, sky is behind its plane. */
  readonly hiddenBelowDeg?: number;
}

/** Nothing of images round the zenith. */
export function tiltFacts({ axes, field }: TiltedPlan): TiltFacts | undefined {
  const tilt = tiltOf(axes);
  return tilt && { ...tilt, ...(field.kind === 'all-sky' && { hiddenBelowDeg: tilt.fromZenithDeg }) };
}

export function tiltLines(plan: TiltedPlan): string[] {
  const tilt = tiltFacts(plan);
  if (!tilt) return [];
  const { fromZenithDeg, azimuthDeg, hiddenBelowDeg } = tilt;
  const opposite = (azimuthDeg + 180) % 360;
  return [
    `the image is in the plane of the stations: its centre is ${fromZenithDeg.toFixed(1)}° from the zenith, towards azimuth ` +
      `${azimuthDeg.toFixed(0)}°` +
      (hiddenBelowDeg === undefined
        ? ''
        : `; sky below ${hiddenBelowDeg.toFixed(1)}° of altitude towards azimuth ${opposite.toFixed(0)}° is behind that plane ` +
          'and not shown'),
  ];
}
