/** Whether a file is a FITS image: pixels in its first unit, not visibilities (random groups) nor tables alone. */
import { stat } from 'node:fs/promises';
import { readUnit } from './fits.js';
import { openInput } from '../io/input.js';

const SIGN = 'SIMPLE  =';

export async function holdsFitsImage(path: string): Promise<boolean> {
  // What cannot be read others refuse.
  if (!(await stat(path).catch(() => undefined))?.isFile()) return false;
  const file = await openInput(path);
  try {
    const head = new Uint8Array(Math.min(SIGN.length, file.sizeBytes));
    await file.readExactly(head, 0);
    if (new TextDecoder('latin1').decode(head) !== SIGN) return false;
    const header = (await readUnit(file, 0))?.header;
    if (!header || header.real('NAXIS', 0) < 2) return false;
    return header.real('NAXIS1', 0) > 0 && header.real('NAXIS2', 0) > 0;
  } finally {
    await file.close();
  }
}
