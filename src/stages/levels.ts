/**
 * How strong spectra should be before rounding: found from the recording's first samples, so that a weak one is not
 * rounded to zeros and a strong one not clipped.
 */
import { outputRail, rounding } from '../channelise/index.js';
import { elementsPerVoltage, isComplexVoltage, type ImageCPML, type SpectraType } from '../core/axes.js';
import type { Integration, VoltageBlock } from '../core/blocks.js';
import { median } from '../core/median.js';
import type { VoltageSource } from '../core/sources.js';
import { planChannels, type ChannelSettings } from './channels.js';

export interface Level {
  /** Rms of a real or imaginary part of a voltage, median input. */
  readonly inputRms: number;
  /** The same of a spectrum, in levels, and of the weakest input that has any signal. */
  readonly outputRms: number;
  readonly weakestRms: number;
  /** Signal-to-noise that rounding keeps of a weak correlation: median and worst input. */
  readonly efficiency: number;
  readonly worstEfficiency: number;
  /** Inputs without any signal where the level was measured; if all of them, there was no signal. */
  readonly silentInputs: number;
  /** Samples of every input before the first that is not 0: left out of the measurement. */
  readonly silentSamples: number;
  /** What the spectra are multiplied by, and whether that is the nominal gain, which keeps the level. */
  readonly gain: number;
  readonly follows: 'nominal' | 'measured' | 'given';
  /**
   * Relative to the nominal gain, where it was measured: powers are divided by its square afterwards, so that gains
   * solved from one recording apply to the next, whatever its level.
   */
  readonly gainRatio: number;
}

/** Enough that the rms is good to a thousandth; fewer of many inputs. */
const SAMPLES = 2 ** 18;
const SAMPLES_OF_ALL = 2 ** 26;
/** Of a silent beginning so many numbers are skipped, a second's work or two. */
export const MOST_SILENT_NUMBERS = 2 ** 28;
/** Fewer numbers (from a part's first block, next to a gap or after a silent beginning) wait for the next block. */
const ENOUGH = 4096;
/** For 15 levels: 98.6 % of the signal is kept, and the power is right to half a per cent. */
const FOUR_BIT_RMS = 2.5;
/** For 8 bits: within this range less than half a per cent is lost, and the nominal gain is used. */
const EIGHT_BIT = { least: 4, most: 40, wanted: 16 } as const;

/** Undefined for floats, which have no levels. */
export async function chooseLevel(
  source: VoltageSource,
  settings: ChannelSettings,
): Promise<Level | undefined> {
  const { outputType, gain: given } = settings;
  if (outputType === 'cf32') return undefined;
  const { powers, silentSamples } = await firstPowers(source);
  const received = powers.filter((power) => power > 0);
  const nominal = nominalGain(source, settings);
  if (received.length === 0) {
    const nothing = { inputRms: 0, outputRms: 0, weakestRms: 0, efficiency: 0, worstEfficiency: 0 };
    const follows = given === undefined ? 'nominal' : 'given';
    return {
      ...nothing,
      silentInputs: source.inputs,
      silentSamples,
      gain: given ?? nominal,
      follows,
      gainRatio: 1,
    };
  }
  // The output rms of noise of rms 1 in each number with a gain of 1; a real sample has one number for two.
  const unit =
    nominalGain(source, { ...settings, outputType: 'cf32' }) *
    (isComplexVoltage(source.type) ? 1 : Math.SQRT2);
  const inputRms = Math.sqrt(median(received));
  const { gain, follows } =
    given === undefined
      ? follow(outputType, { nominal, nominalRms: (inputRms * nominal) / unit, perLevel: unit / inputRms })
      : { gain: given, follows: 'given' as const };
  const rail = outputRail[outputType];
  const outputs = received.map((power) => (Math.sqrt(power) * Math.abs(gain)) / unit);
  const efficiencies = outputs.map((rms) => rounding(rms, rail).efficiency);
  return {
    inputRms,
    outputRms: (inputRms * Math.abs(gain)) / unit,
    weakestRms: outputs.reduce((least, rms) => Math.min(least, rms), Infinity),
    efficiency: rounding((inputRms * Math.abs(gain)) / unit, rail).efficiency,
    worstEfficiency: efficiencies.reduce((least, one) => Math.min(least, one), 1),
    silentInputs: powers.length - received.length,
    silentSamples,
    gain,
    follows,
    gainRatio: follows === 'measured' ? gain / nominal : 1,
  };
}

/** `perLevel`: the gain that gives the median input an rms of one level. */
function follow(
  type: Exclude<SpectraType, 'cf32'>,
  {
    nominal,
    nominalRms,
    perLevel,
  }: { readonly nominal: number; readonly nominalRms: number; readonly perLevel: number },
): Pick<Level, 'gain' | 'follows'> {
  if (type === 'ci4') return { gain: FOUR_BIT_RMS * perLevel, follows: 'measured' };
  return nominalRms >= EIGHT_BIT.least && nominalRms <= EIGHT_BIT.most
    ? { gain: nominal, follows: 'nominal' }
    : { gain: EIGHT_BIT.wanted * perLevel, follows: 'measured' };
}

/** One number for all inputs and channels: noise keeps its level in units of full scale. */
export function nominalGain(source: VoltageSource, settings: ChannelSettings): number {
  const { gains } = planChannels(source, { ...settings, gain: undefined, levels: undefined });
  if (typeof gains !== 'number') throw new Error('one gain was expected for all inputs');
  return gains;
}

interface FirstPowers {
  readonly powers: readonly number[];
  readonly silentSamples: number;
}

/** Mean square of the numbers of each input over the first samples, from the first signal on. */
async function firstPowers(source: VoltageSource): Promise<FirstPowers> {
  const { inputs } = source;
  const most = Math.max(1024, Math.min(SAMPLES, Math.floor(SAMPLES_OF_ALL / inputs)));
  const [sums, counts] = [new Float64Array(inputs), new Float64Array(inputs)];
  let silentSamples = 0;
  let looked = 0;
  for await (const block of source.blocks(most)) {
    try {
      const from = counts.some((count) => count > 0) ? 0 : firstWithSignal(block);
      if (from < block.samples) addPowers(block, from, sums, counts);
      if (looked === silentSamples) silentSamples += from;
      looked += block.samples;
    } finally {
      block.release?.();
    }
    if (counts.some((count) => count >= ENOUGH) || looked * inputs > MOST_SILENT_NUMBERS) break;
  }
  return { powers: Array.from(sums, (sum, a) => (counts[a] > 0 ? sum / counts[a] : 0)), silentSamples };
}

/** The first sample that is not 0 in every input. */
function firstWithSignal({ voltages, inputs, samples, type }: VoltageBlock): number {
  const row = samples * elementsPerVoltage(type);
  let first = row;
  for (let a = 0; a < inputs && first > 0; a++) {
    const at = voltages.subarray(a * row, a * row + first).findIndex((value) => value !== 0);
    if (at >= 0) first = at;
  }
  return Math.floor(first / elementsPerVoltage(type));
}

/** Squares of an input's numbers, and how many arrived. */
function addPowers(
  { voltages, inputs, samples, gaps, type }: VoltageBlock,
  from: number,
  sums: Float64Array,
  counts: Float64Array,
): void {
  const parts = elementsPerVoltage(type);
  for (let a = 0; a < inputs; a++) {
    let sum = 0;
    for (let n = (a * samples + from) * parts; n < (a + 1) * samples * parts; n++)
      sum += voltages[n] * voltages[n];
    const missing = gaps
      .filter(({ firstInput, endInput }) => a >= firstInput && a < endInput)
      .reduce(
        (total, { firstSample, endSample }) => total + Math.max(0, endSample - Math.max(from, firstSample)),
        0,
      );
    sums[a] += sum;
    counts[a] += Math.max(0, samples - from - missing) * parts;
  }
}

/** An integration in the unit of the nominal gain. */
export function atNominalGain(
  integration: Integration,
  { gainRatio }: Pick<Level, 'gainRatio'>,
): Integration {
  if (gainRatio === 1) return integration;
  scale(integration.visibilities, 1 / gainRatio ** 2);
  return integration;
}

/** The same of an image, in its own memory. */
export function brightnessAtNominalGain(image: ImageCPML, { gainRatio }: Pick<Level, 'gainRatio'>): void {
  if (gainRatio !== 1) scale(image, 1 / gainRatio ** 2);
}

function scale(values: Float64Array, by: number): void {
  for (let n = 0; n < values.length; n++) values[n] *= by;
}
