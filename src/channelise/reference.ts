/** FIR, transform, requantise, corner-turn, one spectrum at a time: float64, and exact integers for 8-bit input. */
import { hostSpectra } from '../backend/host-spectra.js';
import {
  allocateVoltages,
  elementsPerVoltage,
  type SpectraCAT,
  type SpectraElements,
  type SpectraType,
} from '../core/axes.js';
import type { VoltageBlock } from '../core/blocks.js';
import { nothingToClose } from '../core/closing.js';
import { refuse } from '../core/errors.js';
import { planFft } from '../core/fft.js';
import { zeroGaps } from '../core/gaps.js';
import { halfToEven } from '../core/round-up.js';
import { packNibbles } from '../core/nibbles.js';
import type { Channeliser } from './channeliser.js';
import { TURN_NUMBERS, type RunDelays } from '../delay/index.js';
import { binOfChannel, mostWaiting, outputFactor, zeroChannel, type ChannelisePlan } from './plan.js';
import { checkChanneliseBlocks, openStream, type StreamStep } from './stream.js';

export function prepareReferenceChanneliser(plan: ChannelisePlan): Channeliser {
  const { channels, taps, inputs, samplesPerSpectrum } = plan;
  const parts = elementsPerVoltage(plan.inputType);
  // Memory for the waiting samples and the longest block.
  const rowSamples = mostWaiting(plan) + plan.blockSamples;
  const rowElements = rowSamples * parts;
  /** waiting : [a][t], the samples not yet used, followed by the current block. */
  const waiting = allocateVoltages(plan.inputType, inputs, rowSamples);
  const filtered = new Float64Array(2 * samplesPerSpectrum);
  const fft = planFft(samplesPerSpectrum);
  const bins = Int32Array.from({ length: channels }, (_, c) => binOfChannel(plan, c));
  const put = writers[plan.outputType];
  const stream = openStream(plan);
  const most = plan.mostDelaySamples ?? 0;
  let saturated = 0;

  /** y[n] = Σ_τ h[τP + n]·x[first + (k+τ)P + n], as complex numbers. */
  function filter(input: number, spectrum: number, first: number): void {
    const h = plan.kernel.taps;
    for (let n = 0; n < samplesPerSpectrum; n++) {
      let re = 0;
      let im = 0;
      for (let tap = 0; tap < taps; tap++) {
        const at = input * rowElements + parts * (first + (spectrum + tap) * samplesPerSpectrum + n);
        const weight = h[tap * samplesPerSpectrum + n];
        re += weight * waiting[at];
        if (parts === 2) im += weight * waiting[at + 1];
      }
      filtered[2 * n] = re;
      filtered[2 * n + 1] = im;
    }
  }

  function transform(
    input: number,
    spectrum: number,
    step: StreamStep,
    spectra: SpectraCAT,
    delays: RunDelays | undefined,
  ): void {
    filter(input, spectrum, delays ? most - delays.shiftSamples[input] : 0);
    fft.forward(filtered);
    if (delays) turn(input, spectrum, delays);
    for (let channel = 0; channel < channels; channel++) {
      const factor = outputFactor(plan, input, channel);
      const bin = bins[channel];
      const at = (channel * inputs + input) * step.spectra + spectrum;
      saturated += put(spectra, at, filtered[2 * bin] * factor, filtered[2 * bin + 1] * factor);
    }
  }

  /** The part of the delay beyond whole samples. */
  function turn(input: number, spectrum: number, { turns }: RunDelays): void {
    const [phase, phaseStep, slope, slopeStep] = turns.subarray(TURN_NUMBERS * input);
    for (let channel = 0; channel < channels; channel++) {
      const angle =
        2 *
        Math.PI *
        (phase + spectrum * phaseStep + (channel - zeroChannel(plan)) * (slope + spectrum * slopeStep));
      const at = 2 * bins[channel];
      const [re, im, cos, sin] = [filtered[at], filtered[at + 1], Math.cos(angle), Math.sin(angle)];
      filtered[at] = re * cos - im * sin;
      filtered[at + 1] = re * sin + im * cos;
    }
  }

  /** Copies the block after the waiting samples. */
  function append(voltages: VoltageBlock, at: number): void {
    const length = voltages.samples * parts;
    for (let a = 0; a < inputs; a++) {
      const row = voltages.voltages.subarray(a * length, (a + 1) * length);
      waiting.set(row, a * rowElements + at * parts);
    }
  }

  function forget(samples: number, inAll: number): void {
    for (let a = 0; a < inputs; a++) {
      const row = a * rowElements;
      waiting.copyWithin(row, row + samples * parts, row + inAll * parts);
    }
  }

  return {
    plan,
    // eslint-disable-next-line @typescript-eslint/require-await -- an async function turns refusals into rejections
    run: async (voltages, out, delays) => {
      checkChanneliseBlocks(plan, voltages, out);
      checkFinite(voltages);
      const host = hostSpectra('channelise', out);
      const step = stream.next(voltages, delays);
      const spectra = host.fill(step.spectra, step.gaps);
      append(voltages, step.waiting);
      for (let input = 0; input < inputs; input++) {
        const missing = missingOf(input, step);
        for (let spectrum = 0; spectrum < step.spectra; spectrum++) {
          if (missing[spectrum] === 0) transform(input, spectrum, step, spectra, delays);
        }
      }
      const made = { type: plan.outputType, inputs, samples: step.spectra };
      zeroGaps(spectra, made, step.gaps);
      forget(step.consumed, step.waiting + voltages.samples);
      stream.advance(voltages, step);
    },
    sumsPowers: false,
    get saturated() {
      return saturated;
    },
    get produced() {
      return stream.produced;
    },
    reset: () => {
      stream.reset();
      saturated = 0;
    },
    close: nothingToClose,
  };
}

/** Writes a complex value at a complex index; returns how many of its two parts saturated. */
type Writer = (spectra: SpectraElements, at: number, re: number, im: number) => number;

const writers = {
  ci8: (spectra, at, re, im) => {
    const [r, i] = [halfToEven(re), halfToEven(im)];
    spectra[2 * at] = within(r, 127);
    spectra[2 * at + 1] = within(i, 127);
    return Number(Math.abs(r) > 127) + Number(Math.abs(i) > 127);
  },
  ci4: (spectra, at, re, im) => {
    const [r, i] = [halfToEven(re), halfToEven(im)];
    spectra[at] = packNibbles(within(r, 7), within(i, 7));
    return Number(Math.abs(r) > 7) + Number(Math.abs(i) > 7);
  },
  cf32: (spectra, at, re, im) => {
    spectra[2 * at] = re;
    spectra[2 * at + 1] = im;
    return 0;
  },
} satisfies Record<SpectraType, Writer>;

const within = (value: number, rail: number): number => Math.max(-rail, Math.min(rail, value));

/** One byte a spectrum: 1 where it is missing for this input. */
function missingOf(input: number, step: StreamStep): Uint8Array {
  const missing = new Uint8Array(step.spectra);
  for (const gap of step.gaps) {
    if (input >= gap.firstInput && input < gap.endInput) missing.fill(1, gap.firstSample, gap.endSample);
  }
  return missing;
}

export function checkFinite(voltages: VoltageBlock): void {
  if (voltages.type !== 'f32' && voltages.type !== 'cf32') return;
  const bad = voltages.voltages.findIndex((value) => !Number.isFinite(value));
  if (bad < 0) return;
  const sample = Math.floor(bad / elementsPerVoltage(voltages.type));
  const place = `input ${Math.floor(sample / voltages.samples)}, sample ${sample % voltages.samples}`;
  refuse(
    'channelise',
    `${place} of the block is ${voltages.voltages[bad]}`,
    'mark what is missing as a gap and write zeros there',
  );
}
