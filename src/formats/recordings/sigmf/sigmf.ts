/** SigMF: a .sigmf-meta JSON file beside the .sigmf-data samples it describes, or both in an archive. */
import type { Format } from '../../format.js';
import { isSigmfArchive } from './archive.js';
import { openSigmf } from './open.js';

export { sigmfPaths } from './meta.js';
export { openSigmf } from './open.js';
export { createSigmf, createSigmfSpectra, type SigmfHeader, type SigmfSpectraHeader } from './write.js';

export const sigmf: Format = {
  name: 'sigmf',
  title: 'SigMF',
  extensions: ['.sigmf-meta', '.sigmf-data'],
  kinds: [
    {
      title: 'SigMF',
      holds: 'recordings',
      reads: ['sampleRateHz', 'centreFrequencyHz', 'polarisations', 'start', 'sideband'],
    },
  ],
  // Samples have no signature, and damaged metadata must be reported as such: the name decides for both files.
  recognise: (path, head) =>
    /\.sigmf-(meta|data)$/i.test(path) ||
    isSigmfArchive(path, head) ||
    /^\s*\{[^]*"core:(datatype|version|sample_rate)"/.test(new TextDecoder('latin1').decode(head)),
  open: openSigmf,
};
