/** What walks through the rooms. Axes, units and validity travel with the numbers. */
import type {
  CountsCB,
  CountsCBPP,
  DurationsB,
  SpectraCAT,
  SpectraType,
  UvwB,
  VisibilitiesCBPP,
  VoltagesAT,
  VoltageType,
  WeightsCBPP,
} from './axes.js';
import type { BackendKind } from './backend-kinds.js';
import type { Closable } from './closing.js';
import type { SpectraGap, VoltageGap } from './gaps.js';
import type { Instant } from './instant.js';

/** A stretch of recorded voltages in the canonical order, in host memory. */
export interface VoltageBlock {
  readonly type: VoltageType;
  readonly inputs: number;
  readonly samples: number;
  /** voltages : [a][t]; zero inside every gap. */
  readonly voltages: VoltagesAT;
  readonly gaps: readonly VoltageGap[];
  /** When the first sample was taken. */
  readonly start: Instant;
  /** Gives the memory back to where it came from; without it, it is valid until the next block is asked for. */
  release?(): void;
}

/** A stretch of channelised data in the canonical order, in host memory. */
export interface CanonicalSpectra {
  readonly samples: number;
  /** spectra : [c][a][t]; zero inside every gap. */
  readonly spectra: SpectraCAT;
  readonly gaps: readonly SpectraGap[];
  /** When the first spectrum begins. */
  readonly start: Instant;
  /** As of voltages. */
  release?(): void;
}

export interface SpectraShape {
  readonly type: SpectraType;
  readonly channels: number;
  readonly inputs: number;
  /** The most spectra the block can hold. */
  readonly capacity: number;
  /**
   * Room for sums of powers too, which channelisers make on their way for a flagger behind them, where they can: how many
   * spectra its windows have.
   */
  readonly powers?: number;
}

/**
 * Channelised data where and how a backend keeps it (tiles for AMX, device memory for CUDA). The canonical
 * order appears only when asked for, because asking costs a copy.
 */
export interface SpectraBlock extends Closable {
  readonly home: BackendKind;
  readonly shape: SpectraShape;
  /** Spectra now in the block, at most the capacity. */
  readonly samples: number;
  /** Missing boxes; the block holds zeros there. */
  readonly gaps: readonly SpectraGap[];
  /** Replaces the contents: spectra : [c][a][t] with `samples` spectra. */
  write(spectra: SpectraCAT, samples: number, gaps?: readonly SpectraGap[]): Promise<void>;
  /** A canonical copy: [c][a][t]. */
  read(): Promise<SpectraCAT>;
}

/**
 * One integration as the correlator leaves it: never phased, geometry as in docs/conventions.md.
 * The weight of product (p_i, p_j) of baseline b is productCounts[c][b][p_i][p_j] where there are such, else counts[c][b];
 * or 0 where either input is flagged (core/product-counts.ts says it).
 */
export interface Integration {
  readonly start: Instant;
  readonly durationS: number;
  readonly channels: number;
  readonly stations: number;
  readonly polarisations: 1 | 2;
  /** Sums over samples, not averages: divide by the product's count for a correlation. */
  readonly visibilities: VisibilitiesCBPP;
  readonly counts: CountsCB;
  /**
   * Left out where every product counts as its pair does. Else each sum is over its own count, 0 where a product is flagged or
   * missing, and `counts` holds the most of each pair's.
   */
  readonly productCounts?: CountsCBPP;
  /** flaggedInputs : [a], 1 where an input was left out. */
  readonly flaggedInputs: Uint8Array;
  /** pairs : [b], 1 where a file had a row of the pair at this time; left out where all are there. */
  readonly pairs?: Uint8Array;
  /** Only straight from a file: whoever changes visibilities, counts or flags leaves it out. */
  readonly asStored?: AsStored;
}

/**
 * What a file said beyond sums, counts and flagged inputs, so that writing it again says the same. Only writers
 * look at it, and images with fringes stopped, for the weight of each product and for uvw.
 */
export interface AsStored {
  /** Unphased means, flagged values among them; 0 where the file had none. */
  readonly means: VisibilitiesCBPP;
  /** −0 where the file had none. */
  readonly weights: WeightsCBPP;
  /** Present where pairs of one time were integrated for longer or shorter; NaN for pairs the file lacks. */
  readonly integrationS?: DurationsB;
  /** Present where the file's fringes were stopped, all at one place. */
  readonly stopped?: {
    readonly phaseCentre: { readonly raDeg: number; readonly decDeg: number };
    /** r_i − r_j as the file has it, rounded or refracted as it may be; NaN for pairs the file lacks. */
    readonly uvwM: UvwB;
  };
}
