/** What differs on a card: it adds gridded visibilities in no fixed order, so images of the same data differ by rounding. */
import { describeCuda } from '../backend/cuda/cuda.js';
import { compareFiles } from '../inspect/index.js';

export const hasCard = describeCuda().present;

/** Of the largest value. */
export const imageTolerance = hasCard ? 1e-5 : 0;
/** A pixel of a picture may be some levels brighter, where colours are steep. */
const PICTURE_TOLERANCE = 1 / 64;

/** What differs between two files, but for that. */
export async function differences(x: string, y: string): Promise<readonly unknown[]> {
  const tolerance =
    x.endsWith('.png') && hasCard ? PICTURE_TOLERANCE : x.endsWith('.fits') ? imageTolerance : 0;
  const { differences } = await compareFiles(x, y, { tolerance });
  // The beam is fitted to gridded weights.
  const isFitted = (where: string): boolean => hasCard && /^card B(?:MAJ|MIN|PA)$/.test(where);
  return differences.filter(({ where }) => !isFitted(where));
}
