/**
 * How a recording's voltages become channels: one plan for direct imaging and for visibilities, so that both use the
 * same spectra.
 */
import {
  channelFrequenciesHz,
  channelWidthHz,
  planChannelise,
  type ChanneliseOptions,
  spectrumTime,
  type ChannelisePlan,
  type FilterWindow,
} from '../channelise/index.js';
import { isComplexVoltage, type SpectraType } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import type { GapsCover } from '../core/gaps.js';
import { addSeconds, type Instant } from '../core/instant.js';
import type { KnownLength, VoltageSource } from '../core/sources.js';
import { readText } from '../formats/index.js';

export interface ChannelSettings {
  readonly channels: number;
  readonly taps: number;
  readonly window?: FilterWindow;
  readonly outputType: SpectraType;
  /** Before rounding; by default noise keeps its level in units of full scale (levels.ts finds a better one). */
  readonly gain?: number;
  /**
   * levels : [a][c], relative to the nominal gain, where inputs and channels have gains of their own; not together with
   * `gain`.
   */
  readonly levels?: Float64Array;
  readonly passbandChannels?: number;
  /** coefficients : [τ][n], a filter of the user instead of a window. */
  readonly coefficients?: Float64Array;
  /** The longest block, where latency matters; a few megabytes by default. */
  readonly blockS?: number;
  /** Where inputs are delayed: the longest delay in whole samples. */
  readonly mostDelaySamples?: number;
  /** The least number of spectra in a block, where they are tested together. */
  readonly leastSpectra?: number;
  /** What a lost polarisation invalidates: itself only (default), or its station, for direct images. */
  readonly gapsCover?: GapsCover;
}

/** Big enough to keep kernels busy, small enough that a few fit in memory whatever the telescope. */
export const BLOCK_BYTES = 32 * 2 ** 20;

/** Plans a channeliser for a source. */
export function planChannels(recording: VoltageSource, settings: ChannelSettings): ChannelisePlan {
  const samplesPerSpectrum = isComplexVoltage(recording.type) ? settings.channels : 2 * settings.channels;
  const spectraPerBlock = Math.max(
    settings.leastSpectra ?? 1,
    Math.floor(
      Math.min(
        BLOCK_BYTES / (recording.inputs * samplesPerSpectrum * 4),
        ((settings.blockS ?? Infinity) * recording.sampleRateHz) / samplesPerSpectrum,
      ),
    ),
  );
  const options: ChanneliseOptions = {
    channels: settings.channels,
    taps: settings.taps,
    window: settings.window,
    coefficients: settings.coefficients,
    gains: settings.gain,
    ...(settings.passbandChannels === undefined ? {} : { passbandChannels: settings.passbandChannels }),
    mostDelaySamples: settings.mostDelaySamples,
    gapsCover: settings.gapsCover,
    ...inputFullScale(recording),
    inputs: recording.inputs,
    polarisations: recording.polarisations,
    inputType: recording.type,
    outputType: settings.outputType,
    // At least the filter's own length, so that the first block already gives a spectrum.
    blockSamples:
      Math.max(spectraPerBlock, settings.taps) * samplesPerSpectrum + 2 * (settings.mostDelaySamples ?? 0),
  };
  const plan = planChannelise(options);
  const { levels } = settings;
  const { gains: nominal } = plan;
  return levels && typeof nominal === 'number'
    ? planChannelise({ ...options, gains: levels.map((level) => level * nominal) })
    : plan;
}

/** Four-bit samples stored in bytes reach 7, not 127. */
function inputFullScale({ type, bits }: VoltageSource): { readonly inputFullScale?: number } {
  const narrow = bits !== undefined && bits > 2 && type !== 'f32' && type !== 'cf32';
  return narrow ? { inputFullScale: 2 ** (bits - 1) - 1 } : {};
}

/** The user's filter: numbers separated by white space or commas; errors name the line. */
export async function readCoefficients(path: string): Promise<Float64Array> {
  const values: number[] = [];
  for (const [n, line] of (await readText(path)).split('\n').entries())
    for (const word of line.split(/[\s,]+/).filter((text) => text !== '')) {
      const value = Number(word);
      if (!Number.isFinite(value))
        refuse(`${path}, line ${n + 1}`, `'${word}' is not a number`, 'give the coefficients one a line');
      values.push(value);
    }
  return Float64Array.from(values);
}

/**
 * Eight bits; floats for a recording of floats, which have no full scale (one and two bits become ±1 and ±3.3,
 * simulations are in √Jy), so that most of their numbers would saturate.
 */
export const nominalSpectra = ({ type }: VoltageSource): SpectraType =>
  type === 'f32' || type === 'cf32' ? 'cf32' : 'ci8';

/** Frequencies and width of the channels of a plan. */
export function channelsOf(
  recording: VoltageSource,
  plan: ChannelisePlan,
): { readonly frequenciesHz: Float64Array; readonly channelWidthHz: number } {
  return {
    frequenciesHz: channelFrequenciesHz(plan, recording.centreFrequencyHz, recording.sampleRateHz),
    channelWidthHz: channelWidthHz(plan, recording.sampleRateHz),
  };
}

/** Whole spectra in a recording; refuses a recording with none. */
export function spectraIn(recording: KnownLength & { readonly path?: string }, plan: ChannelisePlan): number {
  const { mostDelaySamples = 0 } = plan;
  const spectra =
    Math.floor((recording.samples - mostDelaySamples) / plan.samplesPerSpectrum) - plan.taps + 1;
  if (spectra < 1) {
    const needed = plan.taps * plan.samplesPerSpectrum + mostDelaySamples;
    refuse(
      recording.path ?? 'recording',
      `${recording.samples} samples are fewer than one spectrum of ${plan.channels} channels and ${plan.taps} taps needs`,
      `take fewer channels or taps: together they need ${needed} samples`,
    );
  }
  return spectra;
}

/** Half a spectrum before the middle of the first one: where an integration of them begins. */
export const firstSpectrumStart = (
  { start, sampleRateHz }: Pick<VoltageSource, 'start' | 'sampleRateHz'>,
  plan: ChannelisePlan,
): Instant =>
  addSeconds(spectrumTime(plan, start, 0, sampleRateHz), (-0.5 * plan.samplesPerSpectrum) / sampleRateHz);
