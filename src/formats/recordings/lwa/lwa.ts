/** The Long Wavelength Array's frames, all kinds through one door. */
import type { Format, OpenedFile, OpenOptions } from '../../format.js';
import type { InputFile } from '../../io/input.js';
import { openOn } from '../recording.js';
import { openCor } from './cor.js';
import { isSync, shapeOf } from './frame.js';
import { openSpectra } from './spectra.js';
import { openDrx, openTbn } from './voltages.js';

async function openFrames(file: InputFile, options: OpenOptions): Promise<OpenedFile> {
  const shape = await shapeOf(file);
  const { kind, frameBytes } = shape;
  switch (kind) {
    case 'tbn':
      return openTbn(file, shape, options);
    case 'drx':
      return openDrx(file, shape, options);
    case 'tbf':
    case 'tbx':
      return openSpectra(file, { kind, frameBytes }, options);
    case 'cor':
      return openCor(file, shape, options);
  }
}

export const lwa: Format = {
  name: 'lwa',
  title: 'LWA frames (TBN, TBF, TBX, DRX, COR)',
  extensions: ['.dat', '.tbn', '.tbf', '.tbx', '.drx', '.cor'],
  recognise: (_path, head) => isSync(head, 0),
  open: (path, options) => openOn(path, (file) => openFrames(file, options ?? {})),
};
