/** Short integrations to long ones: what is looked at often is written seldom, and correlated once. */
import { countsCB, countsCBPP, visibilitiesCBPP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { nothingToClose } from '../../core/closing.js';
import { secondsBetween } from '../../core/instant.js';
import { allProductCounts, mostOfProducts } from '../../core/product-counts.js';
import type { IntegrationClock, SpectrumGrid } from '../stages/clock.js';
import type { Emit, Stage } from '../stages/stage.js';

interface Open {
  readonly first: Integration;
  readonly firstIndex: number;
  readonly cutAt: number;
  endIndex: number;
  readonly visibilities: Float64Array;
  readonly counts: Float64Array;
  /** Once a piece has them. */
  productCounts?: Float64Array;
}

/** Sums of whole numbers are those of one long integration, bit for bit; every cut of `clock` must be one of theirs. */
export function prepareSum(clock: IntegrationClock, grid: SpectrumGrid): Stage<Integration, Integration> {
  let open: Open | undefined;
  const indexOf = ({ start }: Integration): number =>
    Math.round(secondsBetween(grid.start, start) * grid.spectrumRateHz);
  const end = async (emit: Emit<Integration>, endIndex: number): Promise<void> => {
    const done = open;
    open = undefined;
    if (!done) return;
    const { first, firstIndex, visibilities, counts, productCounts } = done;
    const baselines = first.counts.length / first.channels;
    await emit({
      ...first,
      durationS: (endIndex - firstIndex) / grid.spectrumRateHz,
      visibilities: visibilitiesCBPP(visibilities, first.channels, baselines, first.polarisations),
      counts: productCounts
        ? mostOfProducts(productCounts, first)
        : countsCB(counts, first.channels, baselines),
      ...(productCounts && {
        productCounts: countsCBPP(productCounts, first.channels, baselines, first.polarisations),
      }),
    });
  };
  return {
    push: async (piece, emit) => {
      const index = indexOf(piece);
      const endIndex = index + Math.round(piece.durationS * grid.spectrumRateHz);
      if (open && index >= open.cutAt) await end(emit, open.cutAt);
      if (open === undefined) {
        open = {
          first: piece,
          firstIndex: index,
          cutAt: clock.cutAfter(index),
          endIndex,
          visibilities: Float64Array.from(piece.visibilities),
          counts: Float64Array.from(piece.counts),
          ...(piece.productCounts && { productCounts: Float64Array.from(piece.productCounts) }),
        };
      } else {
        if (open.productCounts || piece.productCounts) {
          open.productCounts ??= allProductCounts({
            ...open.first,
            counts: countsCB(open.counts, piece.channels, open.counts.length / piece.channels),
          });
          add(open.productCounts, allProductCounts(piece));
        }
        add(open.visibilities, piece.visibilities);
        add(open.counts, piece.counts);
        open.endIndex = endIndex;
      }
      if (endIndex >= open.cutAt) await end(emit, open.cutAt);
    },
    flush: async (emit) => {
      if (open) await end(emit, Math.min(open.endIndex, open.cutAt));
    },
    account: () => ({}),
    close: nothingToClose,
  };
}

function add(sum: Float64Array, more: Float64Array): void {
  for (let k = 0; k < sum.length; k++) sum[k] += more[k];
}
