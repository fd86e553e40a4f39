/** How an image's spectra are cut into blocks, and their memory on a card. Pure. */
import { baselineCount } from '../core/axes.js';
import { roundUp } from '../core/round-up.js';
import { FOLDED_BOXES, channelsAtOnce, gridBytes, planSampling, suitsHalves } from '../image/on-card.js';
import type { MethodName } from './method-names.js';
import type { Workload } from './workload.js';

/** The card processes one while the next is uploaded. */
const SPECTRA_BLOCKS = 2;
/** A block is as long as an image, but no longer than this. */
const LONGEST_BLOCK_S = 0.25;

interface BlockCut {
  readonly spectraPerBlock: number;
  readonly blocksPerImage: number;
}

/** Spectra of each channel in an image. */
export const spectraInImage = ({ cadenceS, channelWidthHz }: Pick<Workload, 'cadenceS' | 'channelWidthHz'>) =>
  Math.max(1, Math.round(cadenceS * channelWidthHz));

/** Cuts an image's spectra of each channel into as few blocks as possible. */
export function cutImage(workload: Pick<Workload, 'cadenceS' | 'channelWidthHz'>): BlockCut {
  const { cadenceS } = workload;
  const spectra = spectraInImage(workload);
  const blocksPerImage = Math.min(spectra, Math.max(1, Math.ceil(cadenceS / LONGEST_BLOCK_S - 1e-9)));
  return { spectraPerBlock: Math.ceil(spectra / blocksPerImage), blocksPerImage };
}

/** Memory limit of the imagers (image/direct/cuda/folded.ts, image/flat/cuda/prepare.ts). */
const DIRECT_GRID_BYTES = 3 * 2 ** 30;
const VISIBILITY_GRID_BYTES = 2 ** 30;
const KERNELS_SHARE = 1 / 4;
/** Memory limit of calibration. */
const CALIBRATION_BYTES = 2 ** 32;
/** Of the known cards; grids are processed in whole waves of multiprocessors. */
const MULTIPROCESSORS = 132;

/** All buffers of a method on a card with so much memory. */
export function cardBytes(method: MethodName, workload: Workload, memoryBytes: number): number {
  const { channels, stations, polarisations, pixels, kernelSize, bits, input, taps } = workload;
  const inputs = stations * polarisations;
  const { spectraPerBlock } = cutImage(workload);
  const rows = channels * inputs;
  const baselines = baselineCount(stations);
  const planes = channels * (polarisations === 1 ? 1 : 4) * pixels ** 2;
  const visibilities = channels * baselines * polarisations ** 2;
  // Rows of int8 (re, im), plus the packed bytes of 4-bit samples.
  const spectraBytes =
    rows * (roundUp(2 * spectraPerBlock, 128) + (bits === 4 ? roundUp(spectraPerBlock, 16) : 0));
  const kernelBytes = 16 * channels * baselines * (2 * kernelSize - 1) ** 2;
  const box = FOLDED_BOXES.find((cells) => cells >= workload.apertureCells) ?? pixels;
  const precision = suitsHalves({ kernelSize, samples: spectraPerBlock }) ? 'half' : 'split';
  const bytesPerChannel = gridBytes(box, spectraPerBlock, polarisations, precision);
  const channelsOfGrids = channelsAtOnce({
    channels,
    bytesPerChannel,
    scratchBytes: DIRECT_GRID_BYTES,
    multiprocessors: MULTIPROCESSORS,
    multiprocessorsPerChannel: planSampling(workload, { box, precision, steps: spectraPerBlock })
      .multiprocessors,
  });
  const scratchBytes = 2 * 16 * planes + 16 * visibilities + 24 * channels * pixels ** 2;
  const imaging = {
    visibilities:
      // The pairs' kernels are kept where they fit; then the uv grids.
      (kernelBytes <= KERNELS_SHARE * memoryBytes ? kernelBytes : 0) +
      Math.min(VISIBILITY_GRID_BYTES, scratchBytes),
    direct: channelsOfGrids * bytesPerChannel,
  } satisfies Record<MethodName, number>;
  const voltages = input === 'voltages' ? 2 * inputs * 2 * channels * (spectraPerBlock + taps) : 0;
  const spectra = SPECTRA_BLOCKS * spectraBytes;
  // int32 sums, float64 totals, and a count for every baseline
  const sums = 24 * visibilities + 8 * channels * baselines;
  // correlations, model and weights of each pair, and the two matrices made from them
  const calibration = channels * polarisations * (40 * baselines + 12 * stations ** 2);
  const griddingKernels = 16 * channels * stations * kernelSize ** 2;
  const sumsAndImages = 2 * 8 * planes;
  return (
    voltages +
    spectra +
    sums +
    Math.min(CALIBRATION_BYTES, calibration) +
    griddingKernels +
    imaging[method] +
    sumsAndImages
  );
}
