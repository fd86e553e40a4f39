/** Spectra in host memory in the canonical order: the reference backend's block. */
import { allocateSpectra, elementsPerSpectra, spectraCAT, type SpectraCAT } from '../core/axes.js';
import { ownBlock, type SpectraBlock, type SpectraShape } from '../core/blocks.js';
import { nothingToClose } from '../core/closing.js';
import { wholeNumber } from '../core/errors.js';
import type { SpectraGap } from '../core/gaps.js';

interface HostSpectraBlock extends SpectraBlock {
  readonly home: 'reference';
  /** spectra : [c][a][t], tight for `samples` spectra; a view, valid until the next fill. */
  view(): SpectraCAT;
  /** Sets the size and the gaps and returns the view to fill; its content is unspecified. */
  fill(samples: number, gaps: readonly SpectraGap[]): SpectraCAT;
  /** For a kernel that zeroed more of the block. */
  addGaps(more: readonly SpectraGap[]): void;
}

export function allocateHostSpectra(shape: SpectraShape): HostSpectraBlock {
  const { type, channels, inputs, capacity } = shape;
  const storage = allocateSpectra(type, channels, inputs, capacity);
  let samples = 0;
  let gaps: readonly SpectraGap[] = [];
  const view = (): SpectraCAT =>
    spectraCAT(
      storage.subarray(0, channels * inputs * samples * elementsPerSpectra(type)),
      type,
      channels,
      inputs,
      samples,
    );
  const fill = (newSamples: number, newGaps: readonly SpectraGap[]): SpectraCAT => {
    samples = wholeNumber('spectra block', 'samples', newSamples, 0, capacity);
    gaps = newGaps;
    return view();
  };
  return {
    home: 'reference',
    shape,
    get samples() {
      return samples;
    },
    get gaps() {
      return gaps;
    },
    view,
    fill,
    addGaps: (more) => {
      gaps = [...gaps, ...more];
    },
    write: (spectra, newSamples, newGaps = []) => {
      fill(newSamples, newGaps).set(spectraCAT(spectra, type, channels, inputs, newSamples));
      return Promise.resolve();
    },
    read: () => Promise.resolve(spectraCAT(view().slice(), type, channels, inputs, samples)),
    close: nothingToClose,
  };
}

/** The reference backend's own view of a block; refuses another backend's. */
export const hostSpectra = (where: string, block: SpectraBlock): HostSpectraBlock =>
  ownBlock(where, block, 'reference');
