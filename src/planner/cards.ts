/** Measured cards, as data, and their computing time for a workload. */
import { factorise } from '../channelise/on-card.js';
import { baselineCount } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import { type FoldedPrecision, planSampling, suitsHalves } from '../image/on-card.js';
import { cutImage } from './memory.js';
import type { Cost, KernelCosts, Machine } from './planner.js';
import type { Workload } from './workload.js';

interface CardRates {
  readonly title: string;
  readonly memoryBytes: number;
  readonly busBytesPerS: number;
  readonly floatFlops: number;
  /** Seconds per complex sample of the channeliser. */
  readonly channelise: {
    /** Numbers of channels with a specialised kernel: base time, and additional time per tap. */
    readonly own: Readonly<Record<1024 | 4096, { readonly baseS: number; readonly perTapS: number }>>;
    /** Other numbers of channels, with 8 taps: with prime factors up to 13, or not. */
    readonly smoothS: number;
    readonly otherS: number;
  };
  /** Useful operations per second of the X-engine, by dual-polarisation stations, rising. */
  readonly correlateOps: readonly (readonly [stations: number, opsPerS: number])[];
  /** Useful operations per second of the beamformer, by beams, rising. */
  readonly beamOps: readonly (readonly [beams: number, opsPerS: number])[];
  /** Terms A_ij g_j of StEFCal per second, and the least time of 300 iterations. */
  readonly calibrate: { readonly termsPerS: number; readonly leastS: number };
  /** Direct imaging on the tensor cores: seconds per channel and step by grid width, 128² pixels, two polarisations. */
  readonly directS: Readonly<Record<FoldedPrecision, readonly (readonly [cells: number, seconds: number])[]>>;
  /** Imaging visibilities: seconds per grid cell that a pair's gridding kernel covers in one product. */
  readonly gridS: { readonly perCell: number };
  /** Finishing a direct image: seconds per pixel and product. */
  readonly finishS: { readonly perPixel: number };
}

/** 792 channels × 1000 steps in this many milliseconds. */
const perChannelStep = (milliseconds: number): number => milliseconds / 1000 / (792 * 1000);

export const cards = {
  h200: {
    title: 'NVIDIA H200',
    memoryBytes: 141e9,
    busBytesPerS: 55.5e9,
    floatFlops: 65e12,
    channelise: {
      // With 8 and 16 taps 371 and 310 · 10⁹ samples per second, and 298 and 228
      own: {
        1024: { baseS: 2.17e-12, perTapS: 0.0663e-12 },
        4096: { baseS: 2.33e-12, perTapS: 0.1288e-12 },
      },
      // 512 inputs × 1000 spectra, 8 taps, 132 = 12 · 11 channels: 0.275 ms; 2.40 while 11 was too large a prime
      smoothS: 0.275e-3 / (512_000 * 132),
      otherS: 2.4e-3 / (512_000 * 132),
    },
    correlateOps: [
      [32, 497e12],
      [64, 828e12],
      [128, 1045e12],
      [256, 1188e12],
      [512, 1288e12],
    ],
    // 64 dual-polarisation beams of 256 stations; 256 of 512 inputs of one polarisation
    beamOps: [
      [64, 272e12],
      [256, 973e12],
    ],
    // 20 × 500 antennas, 300 iterations: 0.78 ms; 1 × 1000: 0.331 ms
    calibrate: { termsPerS: (20 * 500 ** 2 * 300) / 0.78e-3, leastS: 0.331e-3 },
    // 32 from the benchmark; 48 sustained: gridding and imaging; 64, 132 channels in 4.51 ms
    directS: {
      half: [
        [32, perChannelStep(5.7)],
        [48, perChannelStep(6.18 + 13.42)],
        [64, perChannelStep(6 * 4.51)],
      ],
      split: [
        [32, perChannelStep(28.4)],
        [48, perChannelStep(49.4)],
        [64, perChannelStep(69.6)],
      ],
    },
    // 256 stations, gridding kernels of 5 × 5, four products, 132 channels: 5.26 ms, totals and scale included
    gridS: { perCell: 5.26e-3 / 132 / (4 * 32_896 * 81) },
    // direct imaging, 264 channels: 0.010 ms for the scale, 0.066 for the pixels
    finishS: { perPixel: 0.076e-3 / (264 * 4 * 128 ** 2) },
  },
} as const satisfies Record<string, CardRates>;
type CardName = keyof typeof cards;
export const cardNames = Object.keys(cards) as CardName[];

export function findCard(name: string): CardRates {
  const known = cardNames.find((card) => card === name.toLowerCase());
  return known
    ? cards[known]
    : refuse(
        '--card',
        `'${name}' has not been measured`,
        `choose ${cardNames.join(', ')}, or leave it out to measure this machine`,
      );
}

export const cardMachine = (card: CardRates): Machine => ({
  title: card.title,
  countedAs: 'card',
  memoryBytes: card.memoryBytes,
  bus: { upBytesPerS: card.busBytesPerS, downBytesPerS: card.busBytesPerS },
});

/** Linear between the points in log N; constant beyond the ends. */
export function interpolate(points: readonly (readonly [number, number])[], at: number): number {
  const [first, last] = [points[0], points[points.length - 1]];
  if (at <= first[0]) return first[1];
  if (at >= last[0]) return last[1];
  const above = points.findIndex(([x]) => x >= at);
  const [[x0, y0], [x1, y1]] = [points[above - 1], points[above]];
  return y0 + ((y1 - y0) * Math.log(at / x0)) / Math.log(x1 / x0);
}

/**
 * Single precision computes a full transform, half of it saved by folding, at this fraction of the card's peak rate:
 * 0.21 µs per channel and step on a grid of 32, on an H200.
 */
const FLOAT_EFFICIENCY = 0.78;
const ITERATIONS = 300;

export function cardCosts(card: CardRates, workload: Workload): KernelCosts {
  const { stations, polarisations, channels, pixels, kernelSize } = workload;
  const inputs = stations * polarisations;
  const operations = (8 * inputs * (inputs + 1)) / 2;
  // The X-engine's tiles count inputs, whatever their stations.
  const correlateS = operations / interpolate(card.correlateOps, inputs / 2);
  const solves = channels * polarisations;
  const termsS = (solves * stations ** 2 * ITERATIONS) / card.calibrate.termsPerS;
  const products = polarisations === 1 ? 1 : 4;
  const pairCells = baselineCount(stations) * products * (2 * kernelSize - 1) ** 2;
  const isImageMeasured = stations === 256 && kernelSize === 5 && pixels === 128 && products === 4;
  const measured = (secondsPerUnit: number): Cost => ({ secondsPerUnit, basis: 'measured' });
  return {
    channelise: channeliseCost(card, workload),
    beams: {
      secondsPerUnit: (8 * inputs) / interpolate(card.beamOps, workload.beams),
      basis: (workload.beams === 64 && stations === 256) || workload.beams === 0 ? 'measured' : 'scaled',
    },
    correlate: measured(correlateS),
    calibrate: measured(Math.max(termsS, card.calibrate.leastS) / solves),
    image: {
      secondsPerUnit: pairCells * card.gridS.perCell,
      basis: isImageMeasured ? 'measured' : 'scaled',
    },
    'direct image': directCost(card, workload),
    finish: {
      secondsPerUnit: products * pixels ** 2 * card.finishS.perPixel,
      basis: isImageMeasured ? 'measured' : 'scaled',
    },
  };
}

/** Largest number of taps of the specialised kernels (channelise/cuda/tensor.ts, long.ts). */
const MOST_OWN_TAPS = 17;

function channeliseCost({ channelise }: CardRates, { channels, taps }: Workload): Cost {
  const { own, smoothS, otherS } = channelise;
  if ((channels === 1024 || channels === 4096) && taps <= MOST_OWN_TAPS) {
    const { baseS, perTapS } = own[channels];
    return { secondsPerUnit: baseS + perTapS * taps, basis: 'measured' };
  }
  const isMeasured = taps === 8 && channels === 132;
  return {
    secondsPerUnit: factorise(channels) ? smoothS : otherS,
    basis: isMeasured ? 'measured' : 'scaled',
  };
}

function directCost(card: CardRates, workload: Workload): Cost {
  const { pixels, polarisations, apertureCells: cells, kernelSize } = workload;
  const { spectraPerBlock: samples } = cutImage(workload);
  const precision = suitsHalves({ kernelSize, samples }) ? 'half' : 'split';
  const box = card.directS[precision].find(([size]) => size >= cells);
  if (box) {
    // Steps of a single polarisation are done in pairs.
    const [size, seconds] = box;
    const load = (image: Pick<Workload, 'pixels' | 'kernelSize'>, steps: number): number =>
      planSampling(image, { box: size, precision, steps }).multiprocessors;
    const asMeasured = load({ pixels: 128, kernelSize: 5 }, 1000);
    const isMeasured = pixels === 128 && polarisations === 2 && kernelSize === 5;
    return {
      secondsPerUnit: seconds * (load(workload, samples) / asMeasured) * (polarisations / 2),
      basis: isMeasured ? 'measured' : 'scaled',
    };
  }
  const flops = polarisations * 8 * (cells ** 2 * pixels + cells * pixels ** 2);
  return { secondsPerUnit: flops / (FLOAT_EFFICIENCY * card.floatFlops), basis: 'estimated' };
}
