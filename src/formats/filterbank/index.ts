/** Entry point of filterbanks. */
export { createFilterbank, holdsFilterbank, repairFilterbank, openFilterbank } from './filterbank.js';
export type { Filterbank, FilterbankWriter } from './file.js';
export { createVdif, samplesPerFrameOf, type VdifHeader, type VdifWriter } from './vdif-writer.js';
export type { FilterbankBits, FilterbankHeader } from './header.js';
