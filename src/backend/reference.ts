/** TypeScript in float64 and exact integers: the oracle of every test, and the fallback where no other backend runs. */
import { nothingToClose } from '../core/closing.js';
import type { ReferenceBackend } from './backend.js';
import { allocateHostSpectra } from './host-spectra.js';

export function openReference(): ReferenceBackend {
  return {
    kind: 'reference',
    description: 'TypeScript, one thread, float64 and exact integers',
    allocateSpectra: allocateHostSpectra,
    close: nothingToClose,
  };
}
