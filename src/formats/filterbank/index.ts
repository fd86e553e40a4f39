/** Entry point of filterbanks. */
export {
  createFilterbank,
  holdsFilterbank,
  mendFilterbank,
  openFilterbank,
  sizeOfValue,
  type Filterbank,
  type FilterbankWriter,
} from './filterbank.js';
export { createVdif, samplesPerFrameOf, type VdifHeader, type VdifWriter } from './vdif-writer.js';
export type { FilterbankBits, FilterbankHeader } from './header.js';
