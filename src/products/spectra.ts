/** Channelised data in a recording: what an observation says of them. */
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
