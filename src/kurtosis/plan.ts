/** The plan of a flagger of voltages by spectral kurtosis, before any data. */
import type { SpectraType } from '../core/axes.js';
import { realNumber, refuse, wholeNumber } from '../core/errors.js';
import type { GapsCover } from '../core/gaps.js';
import { cutEvenly, LONG_WINDOW, SUMMED_AT_ONCE, windowsIn } from '../core/windows.js';

export interface KurtosisOptions {
  readonly type: SpectraType;
  readonly channels: number;
  readonly inputs: number;
  readonly polarisations: 1 | 2;
  /** Spectra that are tested together, 256 by default; blocks are divided into windows of about so many. */
  readonly spectraPerWindow?: number;
  /** 3 by default: noise is flagged as often as a Gaussian exceeds it, 0.13 % on either side. */
  readonly sigmas?: number;
  /**
   * `each` (default): every input on its own. `inputs`: the mean over inputs, for signals that all of them receive
   * weakly.
   */
  readonly over?: 'each' | 'inputs';
  /** How a window is handled in which most inputs and channels would be flagged at once; kept by default. */
  readonly bursts?: 'keep' | 'take';
  /** `inputs` (default): only the input is flagged. `stations`: its other polarisation too, for counts per station. */
  readonly takes?: GapsCover;
  /** So many channels, from the first on, are real: channel 0 of real samples. None by default. */
  readonly realChannels?: number;
  /** flaggedInputs : [a], 1 for an input that is left out already, and not tested. */
  readonly flaggedInputs?: Uint8Array;
}

export type KurtosisPlan = Required<KurtosisOptions>;

/** Fewer spectra are not tested: Pearson's curve fits from here on. */
export const LEAST_SPECTRA = 24;
/** Sums of that many squares of powers are still exact integers. */
const MOST_SPECTRA = 65_536;
export const USUAL_SPECTRA = 256;
export const USUAL_SIGMAS = 3;

/** Checks a flagger's settings; independent of the machine. */
export function planKurtosis(options: KurtosisOptions): KurtosisPlan {
  const { type, polarisations } = options;
  const channels = wholeNumber('kurtosis', 'channels', options.channels, 1, 2 ** 20);
  const inputs = wholeNumber('kurtosis', 'inputs', options.inputs, 1, 2 ** 16);
  if (inputs % polarisations !== 0)
    refuse('kurtosis', `${inputs} inputs cannot be stations of ${polarisations} polarisations`);
  const flaggedInputs = options.flaggedInputs?.slice() ?? new Uint8Array(inputs);
  if (flaggedInputs.length !== inputs)
    refuse('kurtosis', `${flaggedInputs.length} input flags for ${inputs} inputs`, 'give one for each input');
  return {
    type,
    channels,
    inputs,
    polarisations,
    spectraPerWindow: wholeNumber(
      'kurtosis',
      'spectra in a window',
      options.spectraPerWindow ?? USUAL_SPECTRA,
      LEAST_SPECTRA,
      MOST_SPECTRA / 2,
    ),
    sigmas: realNumber('kurtosis', 'sigmas', options.sigmas ?? USUAL_SIGMAS, 1, 6),
    over: options.over ?? 'each',
    bursts: options.bursts ?? 'keep',
    takes: options.takes ?? 'inputs',
    realChannels: wholeNumber('kurtosis', 'realChannels', options.realChannels ?? 0, 0, channels),
    flaggedInputs,
  };
}

/**
 * Windows begin at multiples of what kernels read at once; long ones at multiples of what channelisers sum the powers
 * of.
 */
const READ_AT_ONCE = 4;

/**
 * The edges of a block's windows: about `spectraPerWindow` each, all of the same length to within one such multiple.
 */
export function windowEdges({ spectraPerWindow }: KurtosisPlan, samples: number): Int32Array {
  if (samples < LEAST_SPECTRA) return Int32Array.of(0);
  const step = spectraPerWindow < LONG_WINDOW ? READ_AT_ONCE : SUMMED_AT_ONCE;
  return cutEvenly(samples, windowsIn(samples, spectraPerWindow), step);
}
