/**
 * The sky above the horizon in cells of nearly equal size: rings round the zenith, each divided into as many as fit.
 */
import type { Vector3 } from '../../core/vector.js';

export interface SkyCells {
  /** Cell size in degrees. */
  readonly cellDeg: number;
  readonly directionsEnu: readonly Vector3[];
  /** solidAnglesSr : [cell]; together 2π. */
  readonly solidAnglesSr: Float64Array;
  /** The cell that contains a direction above the horizon; −1 below it. */
  cellOf(directionEnu: Vector3): number;
}

const RADIANS = Math.PI / 180;

/** Rings of 90°/n, at most the requested width. */
export function skyCells(mostDeg: number): SkyCells {
  const rings = Math.ceil(90 / mostDeg);
  const step = Math.PI / 2 / rings;
  const counts = Array.from({ length: rings }, (_, ring) =>
    Math.max(1, Math.round((2 * Math.PI * Math.sin((ring + 0.5) * step)) / step)),
  );
  const firsts = counts.map((_, ring) => counts.slice(0, ring).reduce((sum, count) => sum + count, 0));
  const cells = firsts[rings - 1] + counts[rings - 1];
  const directionsEnu: Vector3[] = [];
  const solidAnglesSr = new Float64Array(cells);
  counts.forEach((count, ring) => {
    const [above, below] = [Math.cos(ring * step), Math.cos((ring + 1) * step)];
    // The cell's centre by area, not by angle.
    const z = (above + below) / 2;
    const flat = Math.sqrt(1 - z * z);
    for (let k = 0; k < count; k++) {
      const azimuth = (2 * Math.PI * (k + 0.5)) / count;
      solidAnglesSr[directionsEnu.length] = (2 * Math.PI * (above - below)) / count;
      directionsEnu.push({ x: flat * Math.sin(azimuth), y: flat * Math.cos(azimuth), z });
    }
  });
  return {
    cellDeg: step / RADIANS,
    directionsEnu,
    solidAnglesSr,
    cellOf: ({ x, y, z }) => {
      if (z <= 0) return -1;
      const ring = Math.min(rings - 1, Math.floor(Math.atan2(Math.hypot(x, y), z) / step));
      const turn = (Math.atan2(x, y) / (2 * Math.PI) + 1) % 1;
      return firsts[ring] + Math.min(counts[ring] - 1, Math.floor(turn * counts[ring]));
    },
  };
}
