/** The sidelobes of a beam: its extremes outside the main lobe. */
import { planeML, type PlaneML } from '../../core/axes.js';

export interface Sidelobes {
  /** The highest sidelobe, and the deepest value, over the peak. */
  readonly highest: number;
  readonly lowest: number;
}

/** beam : [m][l], 1 in the middle; undefined where the main lobe fills the image or the beam has no values. */
export function sidelobesOf(pixels: number, beam: PlaneML): Sidelobes | undefined {
  const isMain = mainLobe(planeML(beam, pixels), pixels);
  let [highest, lowest] = [-Infinity, Infinity];
  beam.forEach((value, at) => {
    if (value < lowest) lowest = value;
    if (isMain[at] === 0 && value > highest) highest = value;
  });
  return Number.isFinite(highest) ? { highest, lowest } : undefined;
}

/** The pixels that are reached from the middle without going up. */
function mainLobe(beam: PlaneML, pixels: number): Uint8Array {
  const middle = (pixels / 2) * pixels + pixels / 2;
  const isMain = new Uint8Array(beam.length);
  isMain[middle] = 1;
  const waiting = [middle];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const [row, column] = [Math.floor(at / pixels), at % pixels];
    const beside = [
      ...(column > 0 ? [at - 1] : []),
      ...(column < pixels - 1 ? [at + 1] : []),
      ...(row > 0 ? [at - pixels] : []),
      ...(row < pixels - 1 ? [at + pixels] : []),
    ];
    for (const next of beside) {
      if (isMain[next] === 1 || !(beam[next] <= beam[at])) continue;
      isMain[next] = 1;
      waiting.push(next);
    }
  }
  return isMain;
}
