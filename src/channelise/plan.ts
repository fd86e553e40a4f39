/** The plan of a channeliser, before any data: pure, and the same for every backend. */
import { isComplexVoltage, type SpectraType, type VoltageType } from '../core/axes.js';
import type { SpectraShape } from '../core/blocks.js';
import { realNumber, refuse, wholeNumber } from '../core/errors.js';
import type { GapsCover } from '../core/gaps.js';
import { addSamples, type Instant } from '../core/instant.js';
import { ownFilter, prototypeFilter, roundTaps, type FilterWindow } from './filter.js';

const MOST_CHANNELS = 2 ** 20;
/** Sums of so many 16-bit taps and 8-bit samples fit in the kernels' 32 bits, halves of taps in their 22. */
const MOST_TAPS = 256;
const MOST_INPUTS = 2 ** 16;

export interface ChanneliseOptions {
  readonly channels: number;
  /** Spectra's worth of samples under the filter; 1 is a plain windowed transform. */
  readonly taps: number;
  /** Hann by default; not together with `coefficients`. */
  readonly window?: FilterWindow;
  /** Width of the sinc's passband in channels, 1 by default; not together with `coefficients`. */
  readonly passbandChannels?: number;
  /** coefficients : [τ][n], the user's own filter, used unchanged. */
  readonly coefficients?: Float64Array;
  readonly inputs: number;
  readonly polarisations: 1 | 2;
  readonly inputType: VoltageType;
  readonly outputType: SpectraType;
  /**
   * gains : [a][c], or one number for all: the factor for the filtered, transformed value before rounding. By default,
   * white noise keeps its rms (`defaultGain`).
   */
  readonly gains?: number | Float64Array;
  /** The largest number of the input, where fewer bits were recorded than its type holds: for the default gain. */
  readonly inputFullScale?: number;
  /** What missing samples of one polarisation invalidate: its own spectra (default), or those of its whole station. */
  readonly gapsCover?: GapsCover;
  /** The most samples in a call. */
  readonly blockSamples: number;
  /**
   * Every run has delays (delay/spectra.ts), up to so many whole samples either way. A spectrum is then made when that
   * many samples beyond its window have arrived. Undefined: nothing is delayed.
   */
  readonly mostDelaySamples?: number;
}

/** The filter in the kernels' form: the tap for sample n of the τ-th spectrum's worth is `taps[τ·P + n] · scale`. */
type KernelTaps =
  | { readonly kind: 'int16'; readonly taps: Int16Array; readonly scale: number }
  | { readonly kind: 'float64'; readonly taps: Float64Array; readonly scale: 1 };

export interface ChannelisePlan {
  readonly channels: number;
  readonly taps: number;
  readonly inputs: number;
  readonly polarisations: 1 | 2;
  readonly inputType: VoltageType;
  readonly outputType: SpectraType;
  readonly sampling: 'real' | 'complex';
  /** P: the transform's length, C for complex samples and 2C for real ones. */
  readonly samplesPerSpectrum: number;
  readonly gapsCover: GapsCover;
  readonly blockSamples: number;
  /** Undefined where nothing is delayed. */
  readonly mostDelaySamples?: number;
  /** The most spectra that one call can complete, for any history: ⌈blockSamples / P⌉. */
  readonly capacity: number;
  /** prototype : [τ][n], before any rounding. */
  readonly prototype: Float64Array;
  /** Integers for 8-bit samples, float64 for 16-bit and float ones. */
  readonly kernel: KernelTaps;
  /** gains : [a][c], or one number for all. */
  readonly gains: number | Float64Array;
  /** The block that `run` fills. */
  readonly output: SpectraShape;
}

/** The largest magnitude of a real or imaginary part, which is full scale; floats have none and use 1. */
const inputFullScale = { i8: 127, ci8: 127, i16: 32767, ci16: 32767, f32: 1, cf32: 1 } satisfies Record<
  VoltageType,
  number
>;
/** The rails of requantised output. */
export const outputRail = { ci8: 127, ci4: 7, cf32: Infinity } satisfies Record<SpectraType, number>;

/** Checks a channeliser's settings and designs its filter; independent of the machine. */
export function planChannelise(options: ChanneliseOptions): ChannelisePlan {
  const { polarisations, inputType, outputType } = options;
  const channels = wholeNumber('channelise', 'channels', options.channels, 2, MOST_CHANNELS);
  const taps = wholeNumber('channelise', 'taps', options.taps, 1, MOST_TAPS);
  const inputs = wholeNumber('channelise', 'inputs', options.inputs, 1, MOST_INPUTS);
  if (inputs % polarisations !== 0) {
    refuse(
      'channelise',
      `${inputs} inputs cannot be stations of ${polarisations} polarisations`,
      'give an even number of inputs or one polarisation',
    );
  }
  const blockSamples = wholeNumber('channelise', 'blockSamples', options.blockSamples, 1, 2 ** 40);
  const sampling = isComplexVoltage(inputType) ? 'complex' : 'real';
  const samplesPerSpectrum = sampling === 'complex' ? channels : 2 * channels;
  const prototype = choosePrototype(options, samplesPerSpectrum);
  const capacity = Math.ceil(blockSamples / samplesPerSpectrum);
  return {
    channels,
    taps,
    inputs,
    polarisations,
    inputType,
    outputType,
    sampling,
    samplesPerSpectrum,
    gapsCover: options.gapsCover ?? 'inputs',
    blockSamples,
    ...mostDelay(options),
    capacity,
    prototype,
    kernel:
      inputType === 'i8' || inputType === 'ci8'
        ? { kind: 'int16', ...roundTaps(prototype) }
        : { kind: 'float64', taps: prototype, scale: 1 },
    gains: chooseGains(options, prototype),
    output: { type: outputType, channels, inputs, capacity },
  };
}

const mostDelay = ({ mostDelaySamples }: ChanneliseOptions): Pick<ChannelisePlan, 'mostDelaySamples'> =>
  mostDelaySamples === undefined
    ? {}
    : { mostDelaySamples: wholeNumber('channelise', 'mostDelaySamples', mostDelaySamples, 0, 2 ** 30) };

function choosePrototype(options: ChanneliseOptions, samplesPerSpectrum: number): Float64Array {
  const { taps, coefficients, window, passbandChannels } = options;
  if (coefficients === undefined) {
    return prototypeFilter({
      taps,
      samplesPerSpectrum,
      window: window ?? { kind: 'hann' },
      passbandChannels: realNumber(
        'channelise',
        'the passband in channels (front.passband)',
        passbandChannels ?? 1,
        0.1,
        10,
      ),
    });
  }
  if (window !== undefined || passbandChannels !== undefined) {
    refuse(
      'channelise',
      'both a window and coefficients were given',
      'give one: coefficients are used as they are',
    );
  }
  return ownFilter(coefficients, taps, samplesPerSpectrum);
}

function chooseGains(options: ChanneliseOptions, prototype: Float64Array): number | Float64Array {
  const { gains, inputs, channels } = options;
  if (gains === undefined) {
    const { inputType, outputType } = options;
    const largest = options.inputFullScale ?? inputFullScale[inputType];
    return defaultGain(
      prototype,
      outputType,
      realNumber('channelise', 'inputFullScale', largest, Number.MIN_VALUE, Number.MAX_VALUE),
    );
  }
  if (typeof gains === 'number') {
    if (!Number.isFinite(gains) || gains === 0)
      refuse('channelise', `the gain is ${gains}`, 'give a finite number other than 0');
    return gains;
  }
  if (gains.length !== inputs * channels) {
    refuse(
      'channelise',
      `${gains.length} gains were given where ${inputs} inputs of ${channels} channels need ${inputs * channels}`,
      'give one for every input and channel, [a][c], or one number for all',
    );
  }
  const bad = gains.findIndex((gain) => !Number.isFinite(gain));
  if (bad >= 0) {
    const place = `input ${Math.floor(bad / channels)}, channel ${bad % channels}`;
    refuse('channelise', `the gain of ${place} is ${gains[bad]}`, 'give finite numbers');
  }
  return gains.slice();
}

/**
 * White noise of rms σ leaves the filter and transform with rms σ·√(Σh²) in every channel, so 1/√(Σh²) restores its
 * rms. Integer output also keeps the level in units of full scale (127 of 8 bits, 7 of 4, 32767 of 16, 1.0 of floats):
 * an input set well for its converter is set well here. A tone is concentrated in one channel, gains a factor of about
 * √P relative to noise, and may need a gain set by the user.
 */
function defaultGain(prototype: Float64Array, output: SpectraType, inputLargest: number): number {
  let power = 0;
  for (const tap of prototype) power += tap * tap;
  const fullScales = output === 'cf32' ? 1 : outputRail[output] / inputLargest;
  return fullScales / Math.sqrt(power);
}

/** The factor for an element of the transform of (taps · samples): the gain times the taps' scale. */
export const outputFactor = (plan: ChannelisePlan, input: number, channel: number): number =>
  (typeof plan.gains === 'number' ? plan.gains : plan.gains[input * plan.channels + channel]) *
  plan.kernel.scale;

/** The DFT bin that becomes channel c; channels rise in sky frequency (docs/conventions.md). */
export const binOfChannel = (plan: ChannelisePlan, channel: number): number =>
  plan.sampling === 'real'
    ? channel
    : (channel + plan.channels - Math.floor(plan.channels / 2)) % plan.channels;

/** The channel at the recording's own zero frequency, relative to which delays rotate the others. */
export const zeroChannel = ({ sampling, channels }: ChannelisePlan): number =>
  sampling === 'real' ? 0 : Math.floor(channels / 2);

/** The most samples that wait before a block: those of a window but one, and delays either way. */
export const mostWaiting = ({ taps, samplesPerSpectrum, mostDelaySamples = 0 }: ChannelisePlan): number =>
  taps * samplesPerSpectrum - 1 + 2 * mostDelaySamples;

/** Width of each channel. */
export const channelWidthHz = (plan: ChannelisePlan, sampleRateHz: number): number =>
  sampleRateHz / plan.samplesPerSpectrum;

/** Centres of the channels on the sky, rising. */
export function channelFrequenciesHz(
  plan: ChannelisePlan,
  centreFrequencyHz: number,
  sampleRateHz: number,
): Float64Array {
  const widthHz = channelWidthHz(plan, sampleRateHz);
  const firstHz =
    plan.sampling === 'real'
      ? centreFrequencyHz - sampleRateHz / 4
      : centreFrequencyHz - Math.floor(plan.channels / 2) * widthHz;
  return Float64Array.from({ length: plan.channels }, (_, c) => firstHz + c * widthHz);
}

/** The middle of a spectrum's window, where its filter is symmetric; `start` is the stream's first sample. */
export const spectrumTime = (
  plan: ChannelisePlan,
  start: Instant,
  spectrum: number,
  sampleRateHz: number,
): Instant =>
  addSamples(
    start,
    spectrum * plan.samplesPerSpectrum + (plan.taps * plan.samplesPerSpectrum - 1) / 2,
    sampleRateHz,
  );
