/** The blocks of data that pass between modules. Axes, units and validity travel with the numbers. */
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
import { refuse } from './errors.js';
import type { SpectraGap, VoltageGap } from './gaps.js';
import type { Instant } from './instant.js';

/** A time range of recorded voltages in the canonical order, in host memory. */
export interface VoltageBlock {
  readonly type: VoltageType;
  readonly inputs: number;
  readonly samples: number;
  /** voltages : [a][t]; zero inside every gap. */
  readonly voltages: VoltagesAT;
  readonly gaps: readonly VoltageGap[];
  /** Time of the first sample. */
  readonly start: Instant;
  /** Returns the memory to its owner. Without this function, the block is valid until the next one is requested. */
  release?(): void;
}

/** A time range of channelised data in the canonical order, in host memory. */
export interface CanonicalSpectra {
  readonly samples: number;
  /** spectra : [c][a][t]; zero inside every gap. */
  readonly spectra: SpectraCAT;
  readonly gaps: readonly SpectraGap[];
  /** Start of the first spectrum. */
  readonly start: Instant;
  /** As for voltages. */
  release?(): void;
}

export interface SpectraShape {
  readonly type: SpectraType;
  readonly channels: number;
  readonly inputs: number;
  /** The most spectra the block can hold. */
  readonly capacity: number;
  /**
   * Allocates sums of powers too, which channelisers that can do so compute for the flagger after them: spectra per
   * window of the flagger.
   */
  readonly powers?: number;
}

/**
 * Channelised data in the backend's own layout and memory (tiles for AMX, device memory for CUDA). The canonical order
 * is made only on request, because it costs a copy.
 */
export interface SpectraBlock extends Closable {
  readonly home: BackendKind;
  readonly shape: SpectraShape;
  /** Number of spectra in the block, at most the capacity. */
  readonly samples: number;
  /** Ranges of missing data; the block holds zeros there. */
  readonly gaps: readonly SpectraGap[];
  /** Replaces the contents: spectra : [c][a][t] with `samples` spectra. */
  write(spectra: SpectraCAT, samples: number, gaps?: readonly SpectraGap[]): Promise<void>;
  /** A copy in the canonical order: [c][a][t]. */
  read(): Promise<SpectraCAT>;
}

/** A block as its own backend has it; another backend's is refused. */
export function ownBlock<Own extends SpectraBlock>(
  where: string,
  block: SpectraBlock,
  home: Own['home'],
): Own {
  if (block.home !== home)
    refuse(
      where,
      `the block lives on backend '${block.home}', this runs on '${home}'`,
      'allocate blocks from the backend that works on them',
    );
  return block as Own;
}

/** Refuses a block of other spectra than those that were planned. */
export function checkBlock(
  where: string,
  plan: Pick<SpectraShape, 'type' | 'channels' | 'inputs'>,
  { shape }: SpectraBlock,
): void {
  if (shape.type !== plan.type || shape.channels !== plan.channels || shape.inputs !== plan.inputs)
    refuse(
      where,
      `the block holds ${shape.channels} channels of ${shape.inputs} inputs as ${shape.type}, ` +
        `the plan takes ${plan.channels} of ${plan.inputs} as ${plan.type}`,
      'plan for the data at hand',
    );
}

/**
 * One integration as the correlator makes it: not phased, geometry as in docs/conventions.md. The weight of product
 * (p_i, p_j) of baseline b is productCounts[c][b][p_i][p_j] if present, else counts[c][b]; 0 if either input is flagged
 * (see core/product-counts.ts).
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
   * Absent where every product counts as its pair does. Else each sum has its own count, 0 where a product is flagged
   * or missing, and `counts` holds the largest of each pair.
   */
  readonly productCounts?: CountsCBPP;
  /** flaggedInputs : [a], 1 if an input was left out. */
  readonly flaggedInputs: Uint8Array;
  /** pairs : [b], 1 if the file had a row of the pair at this time; absent if all pairs are present. */
  readonly pairs?: Uint8Array;
  /** Only directly from a file: code that changes visibilities, counts or flags leaves it out. */
  readonly passThrough?: PassThrough;
}

/**
 * What a file contains beyond sums, counts and flagged inputs, so that writing it again gives the same file. Only
 * writers use it, and images with stopped fringes, for the weight of each product and for uvw.
 */
export interface PassThrough {
  /** Unphased means, flagged values included; 0 where the file had none. */
  readonly means: VisibilitiesCBPP;
  /** −0 where the file had none. */
  readonly weights: WeightsCBPP;
  /** Present if pairs of one time were integrated for different durations; NaN for pairs the file lacks. */
  readonly integrationS?: DurationsB;
  /** Present if the file's fringes were stopped, all at one place. */
  readonly stopped?: {
    readonly phaseCentre: { readonly raDeg: number; readonly decDeg: number };
    /** r_i − r_j as in the file, which may be rounded or include refraction; NaN for pairs the file lacks. */
    readonly uvwM: UvwB;
  };
}
