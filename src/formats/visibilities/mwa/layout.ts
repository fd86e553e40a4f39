/**
 * The position of each visibility in an integration of the two correlators, and a file's sky frequencies. Both store
 * V₁₂ = ⟨x₁·conj(x₂)⟩ with our fringe sign: verified for the older one with another reader's file of the same data, for
 * MWAX on the sky (mwa.test.ts).
 */
import { baselineIndex } from '../../../core/axes.js';
import { refuse } from '../../../core/errors.js';
import { storedProducts, type StoredProduct } from '../../io/gather.js';
import type { Observation } from './metafits.js';

export type Correlator = 'legacy' | 'mwax';

/** XX, XY, YX, YY. */
export const products = [-5, -7, -8, -6].map((code) => storedProducts[code]) as readonly StoredProduct[];

/** The four products of one pair of tiles; offsets count floats from the start of an integration's data. */
interface PairPlace {
  readonly s1: number;
  readonly s2: number;
  /** Position of the real part of each product in the first channel. */
  readonly at: readonly number[];
  /** −1 if the file holds the conjugate. */
  readonly sign: readonly (1 | -1)[];
}

export interface Layout {
  readonly pairs: readonly PairPlace[];
  /** Floats from one channel to the next. */
  readonly channelStride: number;
  /** NAXIS1 and NAXIS2 of the visibilities. */
  readonly axes: readonly [number, number];
}

export const RECEIVER_CHANNEL_HZ = 1_280_000;
/** The older correlator averages filterbank channels of this width. */
const LEGACY_FINE_HZ = 10_000;
/** Inputs of one filterbank board. */
const BOARD_INPUTS = 64;

export function planLayout(correlator: Correlator, observation: Observation, channels: number): Layout {
  return correlator === 'legacy' ? legacyLayout(observation, channels) : mwaxLayout(observation, channels);
}

/** [baseline][channel][product], baselines (0,0), (0,1) … (1,1) … in the order of column Antenna. */
function mwaxLayout({ telescope }: Observation, channels: number): Layout {
  const tiles = telescope.stations.length;
  const pairs: PairPlace[] = [];
  for (let s1 = 0; s1 < tiles; s1++) {
    for (let s2 = s1; s2 < tiles; s2++) {
      const at = pairs.length * channels * 8;
      pairs.push({ s1, s2, at: [at, at + 2, at + 4, at + 6], sign: [1, 1, 1, 1] });
    }
  }
  return { pairs, channelStride: 8, axes: [8 * channels, pairs.length] };
}

/**
 * [channel][lower triangle of pairs of outputs][2][2]. The boards of the fine filterbank reorder their 64 inputs: input
 * 16·k + m of a board is its output 4·m + k.
 */
const outputOf = (input: number): number => {
  const inBoard = input % BOARD_INPUTS;
  return input - inBoard + 4 * (inBoard % 16) + Math.floor(inBoard / 16);
};

function legacyLayout({ path, telescope, inputNumbers }: Observation, channels: number): Layout {
  const tiles = telescope.stations.length;
  const inputs = inputNumbers.length;
  const known = new Set(inputNumbers.filter((input) => input >= 0 && input < inputs));
  if (inputs % BOARD_INPUTS !== 0 || known.size !== inputs) {
    refuse(
      path,
      `does not list every input of whole filterbank boards of ${BOARD_INPUTS} once (${known.size} of ${inputs})`,
      'give the metafits of the gpubox files',
    );
  }
  const pairs: PairPlace[] = [];
  for (let s1 = 0; s1 < tiles; s1++) {
    for (let s2 = 0; s2 <= s1; s2++) {
      const places = products.map(({ p1, p2 }) =>
        legacyPlace(outputOf(inputNumbers[2 * s1 + p1]), outputOf(inputNumbers[2 * s2 + p2])),
      );
      pairs.push({ s1, s2, at: places.map(([at]) => at), sign: places.map(([, sign]) => sign) });
    }
  }
  return { pairs, channelStride: pairs.length * 8, axes: [pairs.length * 8, channels] };
}

function legacyPlace(out1: number, out2: number): readonly [number, 1 | -1] {
  const [i, j] = [Math.floor(out1 / 2), Math.floor(out2 / 2)];
  return i >= j
    ? [2 * (4 * baselineIndex(i, j) + 2 * (out1 % 2) + (out2 % 2)), 1]
    : [2 * (4 * baselineIndex(j, i) + 2 * (out2 % 2) + (out1 % 2)), -1];
}

/** gpubox n of the older correlator: channels up to 128 ascending, then those above descending. */
export function legacyChannel({ coarseChannels }: Observation, gpubox: number): number | undefined {
  return [
    ...coarseChannels.filter((channel) => channel <= 128),
    ...coarseChannels.filter((channel) => channel > 128).reverse(),
  ][gpubox - 1];
}

export const fineChannelsPerCoarse = ({ fineChannelHz }: Observation): number =>
  Math.floor(RECEIVER_CHANNEL_HZ / fineChannelHz + 1e-6);

/** The centre of the first fine channel of a receiver channel. */
export function firstFineHz(correlator: Correlator, observation: Observation, coarse: number): number {
  const { fineChannelHz } = observation;
  const centreHz = coarse * RECEIVER_CHANNEL_HZ;
  return correlator === 'legacy'
    ? centreHz - RECEIVER_CHANNEL_HZ / 2 + (fineChannelHz - LEGACY_FINE_HZ) / 2
    : centreHz - Math.floor(fineChannelsPerCoarse(observation) / 2) * fineChannelHz;
}
