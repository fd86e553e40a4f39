/** What writers take over from the file that an integration came from. */
import { baselineIndex } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import type { VisibilityHeader } from './format.js';

/**
 * uvw as the other file had it, for the pair (A1, A2) = (j, i) that we write: r_j − r_i in metres. Undefined where
 * that file had none, or stopped its fringes elsewhere: then our own geometry says.
 */
export function filedUvwM(
  { filed }: Integration,
  { phaseCentre }: VisibilityHeader,
  i: number,
  j: number,
): readonly [number, number, number] | undefined {
  const stopped = filed?.stopped;
  if (stopped === undefined) return undefined;
  const { raDeg, decDeg } = stopped.phaseCentre;
  if (raDeg !== phaseCentre.raDeg || decDeg !== phaseCentre.decDeg) return undefined;
  const [u, v, w] = stopped.uvwM.subarray(3 * baselineIndex(i, j), 3 * baselineIndex(i, j) + 3);
  if (Number.isNaN(w)) return undefined;
  // r_i − r_j is kept as the lower triangle has it, and turned only between two antennas. 0 − x spares us −0.
  return i === j ? [u, v, w] : [0 - u, 0 - v, 0 - w];
}
