/** Position of the brightest pixel of an image, by its own coordinates. */
import { dot } from '../core/vector.js';
import { readFitsImage } from '../formats/index.js';
import { positionFromJ2000, unitVectorJ2000, type SkyPosition } from '../sky/frame.js';

export async function brightestIn(path: string): Promise<SkyPosition> {
  const { values, pixels, pixelSize, centre } = await readFitsImage(path);
  let best = -1;
  for (let k = 0; k < pixels * pixels; k++) {
    if (!Number.isNaN(values[k]) && (best < 0 || values[k] > values[best])) best = k;
  }
  const l = ((best % pixels) - pixels / 2) * pixelSize;
  const m = (Math.floor(best / pixels) - pixels / 2) * pixelSize;
  const n = Math.sqrt(1 - l * l - m * m);
  // The tangent plane's axes at the centre: east, north and towards it.
  const towards = unitVectorJ2000(centre);
  const east = unitVectorJ2000({ raDeg: centre.raDeg + 90, decDeg: 0 });
  const north = unitVectorJ2000({ raDeg: centre.raDeg, decDeg: centre.decDeg + 90 });
  const along = (axis: 'x' | 'y' | 'z'): number => l * east[axis] + m * north[axis] + n * towards[axis];
  return positionFromJ2000({ x: along('x'), y: along('y'), z: along('z') });
}

export const separationDeg = (a: SkyPosition, b: SkyPosition): number =>
  (Math.acos(Math.min(1, dot(unitVectorJ2000(a), unitVectorJ2000(b)))) * 180) / Math.PI;
