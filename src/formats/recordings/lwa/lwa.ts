/** One format for all kinds of frames of the Long Wavelength Array. */
import type { FileKind, Format, OpenedFile, OpenOptions } from '../../format.js';
import { refuseUnread } from '../../reading-options.js';
import { headOf, openOn, type InputFile } from '../../io/input.js';
import { isSync } from '../frames.js';
import { openCor } from './cor.js';
import { DR_HEADER_BYTES, isDrSpectrum, openDrSpectra } from './drspec.js';
import { shapeOf, SYNC, type LwaKind } from './frame.js';
import { openSpectra } from './spectra.js';
import { openTbw } from './tbw.js';
import { openDrx, openTbn } from './voltages.js';

const kinds = {
  tbn: {
    title: 'LWA TBN',
    holds: 'recordings',
    reads: ['sampleRateHz', 'centreFrequencyHz', 'polarisations', 'start'],
  },
  tbw: { title: 'LWA TBW', holds: 'recordings', reads: ['polarisations'] },
  drx: { title: 'LWA DRX', holds: 'recordings', reads: ['centreFrequencyHz', 'polarisations', 'tuning'] },
  drx8: { title: 'LWA DRX8', holds: 'recordings', reads: ['centreFrequencyHz', 'polarisations', 'tuning'] },
  tbf: { title: 'LWA TBF', holds: 'recordings', reads: ['polarisations'] },
  tbx: { title: 'LWA TBX', holds: 'recordings', reads: ['polarisations'] },
  cor: { title: 'LWA COR', holds: 'visibilities', reads: [] },
  drspec: { title: 'LWA DR spectrometer', holds: 'visibilities', reads: ['centreFrequencyHz', 'tuning'] },
} as const satisfies Record<LwaKind | 'drspec', FileKind>;

async function openFrames(file: InputFile, options: OpenOptions): Promise<OpenedFile> {
  if (isDrSpectrum(await headOf(file, DR_HEADER_BYTES))) {
    refuseUnread(file.path, options, [kinds.drspec], Object.values(kinds));
    return openDrSpectra(file, options);
  }
  const shape = await shapeOf(file);
  const { kind, frameBytes } = shape;
  refuseUnread(file.path, options, [kinds[kind]], Object.values(kinds));
  switch (kind) {
    case 'tbn':
      return openTbn(file, shape, options);
    case 'tbw':
      return openTbw(file, shape, options);
    case 'drx':
    case 'drx8':
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
  title: 'LWA frames (TBN, TBW, TBF, TBX, DRX, DRX8, COR, DR spectrometer)',
  extensions: ['.dat', '.tbn', '.tbf', '.tbx', '.drx', '.cor'],
  kinds: Object.values(kinds),
  recognise: (_path, head) => isSync(SYNC, head, 0) || isDrSpectrum(head),
  open: (path, options) => openOn(path, (file) => openFrames(file, options ?? {})),
};
