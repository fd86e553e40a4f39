/** The Long Wavelength Array's frames, all kinds through one door. */
import type { FileKind, Format, OpenedFile, OpenOptions } from '../../format.js';
import { refuseUnread } from '../../reading-options.js';
import type { InputFile } from '../../io/input.js';
import { openOn } from '../recording.js';
import { openCor } from './cor.js';
import { isSync, shapeOf, type LwaKind } from './frame.js';
import { openSpectra } from './spectra.js';
import { openDrx, openTbn } from './voltages.js';

const kinds = {
  tbn: {
    title: 'LWA TBN',
    holds: 'recordings',
    reads: ['sampleRateHz', 'centreFrequencyHz', 'polarisations', 'start'],
  },
  drx: { title: 'LWA DRX', holds: 'recordings', reads: ['centreFrequencyHz', 'polarisations', 'tuning'] },
  tbf: { title: 'LWA TBF', holds: 'recordings', reads: ['polarisations'] },
  tbx: { title: 'LWA TBX', holds: 'recordings', reads: ['polarisations'] },
  cor: { title: 'LWA COR', holds: 'visibilities', reads: [] },
} as const satisfies Record<LwaKind, FileKind>;

async function openFrames(file: InputFile, options: OpenOptions): Promise<OpenedFile> {
  const shape = await shapeOf(file);
  const { kind, frameBytes } = shape;
  refuseUnread(file.path, options, [kinds[kind]], Object.values(kinds));
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
  kinds: Object.values(kinds),
  recognise: (_path, head) => isSync(head, 0),
  open: (path, options) => openOn(path, (file) => openFrames(file, options ?? {})),
};
