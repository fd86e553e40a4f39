/** Channelised data in a recording. The fields of an observation. */
import { z } from 'zod';
import { productPath, requiredField } from '../fields/index.js';

export const spectra = z.strictObject({
  spectra: requiredField(productPath, {
    flag: '-o, --out <path>',
    group: 'Channelised data',
    changes: 'never',
    help: 'channelised data to write, as SigMF: .sigmf-meta',
  }),
});
