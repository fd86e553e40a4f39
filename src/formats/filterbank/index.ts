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
export type { FilterbankBits, FilterbankHeader } from './header.js';
