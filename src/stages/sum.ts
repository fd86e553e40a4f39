/** Short integrations to long ones: quick looks need short ones, files long ones, and the data are correlated once. */
import { countsCB, countsCBPP, visibilitiesCBPP } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { nothingToClose } from '../core/closing.js';
import { secondsBetween } from '../core/instant.js';
import { allProductCounts, mostOfProducts } from '../core/product-counts.js';
import type { IntegrationClock, SpectrumGrid } from './clock.js';
import type { Emit, Stage } from './stage.js';

type Timed = Pick<Integration, 'start' | 'durationS'>;

/** Sums pieces where they are, on the host or a card. */
interface Adder<Piece extends Timed> {
  add(piece: Piece): void;
  /** The sum, with the other fields of its first piece; later pieces belong to the next sum. */
  finish(first: Piece): Promise<Integration>;
}

interface Open<Piece> {
  readonly first: Piece;
  readonly firstIndex: number;
  readonly cutAt: number;
  endIndex: number;
}

/** Sums of integers equal those of one long integration, bit for bit; every cut of `clock` must be one of theirs. */
export function prepareSum<Piece extends Timed>(
  clock: IntegrationClock,
  grid: SpectrumGrid,
  adder: Adder<Piece>,
): Stage<Piece, Integration> {
  let open: Open<Piece> | undefined;
  const indexOf = ({ start }: Piece): number =>
    Math.round(secondsBetween(grid.start, start) * grid.spectrumRateHz);
  const end = async (emit: Emit<Integration>, endIndex: number): Promise<void> => {
    const done = open;
    open = undefined;
    if (!done) return;
    const sum = await adder.finish(done.first);
    await emit({ ...sum, durationS: (endIndex - done.firstIndex) / grid.spectrumRateHz });
  };
  return {
    push: async (piece, emit) => {
      const index = indexOf(piece);
      const endIndex = index + Math.round(piece.durationS * grid.spectrumRateHz);
      if (open && index >= open.cutAt) await end(emit, open.cutAt);
      open ??= { first: piece, firstIndex: index, cutAt: clock.cutAfter(index), endIndex };
      adder.add(piece);
      open.endIndex = endIndex;
      if (endIndex >= open.cutAt) await end(emit, open.cutAt);
    },
    flush: async (emit) => {
      if (open) await end(emit, Math.min(open.endIndex, open.cutAt));
    },
    account: () => ({}),
    close: nothingToClose,
  };
}

interface Sums {
  readonly visibilities: Float64Array;
  readonly counts: Float64Array;
  /** Once a piece has them. */
  productCounts?: Float64Array;
}

/** Of integrations on the host. */
export function hostAdder(): Adder<Integration> {
  let sums: Sums | undefined;
  return {
    add: (piece) => {
      if (!sums) {
        sums = {
          visibilities: Float64Array.from(piece.visibilities),
          counts: Float64Array.from(piece.counts),
          productCounts: piece.productCounts && Float64Array.from(piece.productCounts),
        };
        return;
      }
      if (sums.productCounts || piece.productCounts) {
        const counts = countsCB(sums.counts, piece.channels, sums.counts.length / piece.channels);
        sums.productCounts ??= allProductCounts({ ...shapeOf(piece), counts });
        add(sums.productCounts, allProductCounts(piece));
      }
      add(sums.visibilities, piece.visibilities);
      add(sums.counts, piece.counts);
    },
    finish: (first) => {
      if (!sums) throw new Error('a sum of nothing');
      const { visibilities, counts, productCounts } = sums;
      sums = undefined;
      const { channels, polarisations } = first;
      const baselines = counts.length / channels;
      return Promise.resolve({
        ...first,
        visibilities: visibilitiesCBPP(visibilities, channels, baselines, polarisations),
        counts: productCounts ? mostOfProducts(productCounts, first) : countsCB(counts, channels, baselines),
        ...(productCounts && {
          productCounts: countsCBPP(productCounts, channels, baselines, polarisations),
        }),
      });
    },
  };
}

const shapeOf = ({ channels, stations, polarisations, flaggedInputs }: Integration) => ({
  channels,
  stations,
  polarisations,
  flaggedInputs,
});

function add(sum: Float64Array, more: Float64Array): void {
  for (let k = 0; k < sum.length; k++) sum[k] += more[k];
}
