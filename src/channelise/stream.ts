/**
 * The state of a stream cut into blocks, the same on every backend: how many samples wait, which spectra a new block
 * completes, and which of those are missing. Samples wait from the first one that the next spectrum needs, so sample 0
 * of the waiting ones and the new block together opens the next spectrum's window.
 *
 * Where inputs are delayed, by up to D samples, windows open at sample D less the input's own delay; a stream begins
 * with D missing samples, and a spectrum waits until D samples beyond its window have arrived.
 */
import { elementsPerVoltage } from '../core/axes.js';
import type { SpectraBlock, VoltageBlock } from '../core/blocks.js';
import { refuse, wholeNumber } from '../core/errors.js';
import { checkGap, wholeStations, type SpectraGap, type VoltageGap } from '../core/gaps.js';
import { TURN_NUMBERS, type RunDelays } from '../delay/index.js';
import type { ChannelisePlan } from './plan.js';

/** The effect of a block on the stream; times are samples from the first waiting one. */
export interface StreamStep {
  /** Samples that waited before this block: the place of the block's first one. */
  readonly waiting: number;
  /** Spectra now complete: number k uses samples kP … (k+T)P − 1. */
  readonly spectra: number;
  /** Samples consumed: the next window opens at this one. */
  readonly consumed: number;
  /** Missing spectra, over all channels; they are written as zeros. */
  readonly gaps: readonly SpectraGap[];
}

export interface Stream {
  /** Computes the step without making it, so that a refused block leaves the stream unchanged. */
  next(voltages: VoltageBlock, delays?: RunDelays): StreamStep;
  /** Advances past a processed block. */
  advance(voltages: VoltageBlock, step: StreamStep): void;
  readonly produced: number;
  reset(): void;
}

export function openStream(plan: ChannelisePlan): Stream {
  const { samplesPerSpectrum, taps, inputs } = plan;
  const most = plan.mostDelaySamples ?? 0;
  const before: readonly VoltageGap[] =
    most === 0 ? [] : [{ firstInput: 0, endInput: inputs, firstSample: 0, endSample: most }];
  let waiting = most;
  let produced = 0;
  let gaps = before;
  const withNew = (voltages: VoltageBlock): VoltageGap[] => [
    ...gaps,
    ...voltages.gaps.map((gap) => shifted(gap, waiting)),
  ];
  return {
    next: (voltages, delays) => {
      checkDelays(plan, delays);
      const complete = waiting + voltages.samples - 2 * most;
      const spectra = Math.max(0, Math.floor(complete / samplesPerSpectrum) - taps + 1);
      return {
        waiting,
        spectra,
        consumed: spectra * samplesPerSpectrum,
        gaps: missingSpectra(
          plan,
          delays ? asDelayed(withNew(voltages), delays, most) : withNew(voltages),
          spectra,
        ),
      };
    },
    advance: (voltages, step) => {
      gaps = withNew(voltages)
        .filter((gap) => gap.endSample > step.consumed)
        .map((gap) => shifted(gap, -step.consumed));
      waiting += voltages.samples - step.consumed;
      produced += step.spectra;
    },
    get produced() {
      return produced;
    },
    reset: () => {
      waiting = most;
      produced = 0;
      gaps = before;
    },
  };
}

/** A gap may begin before sample 0 once part of it has passed. */
const shifted = (gap: VoltageGap, samples: number): VoltageGap => ({
  ...gap,
  firstSample: gap.firstSample + samples,
  endSample: gap.endSample + samples,
});

/** Gaps input by input, counted from where each one's first window opens. */
const asDelayed = (gaps: readonly VoltageGap[], { shiftSamples }: RunDelays, most: number): VoltageGap[] =>
  gaps.flatMap((gap) =>
    Array.from({ length: gap.endInput - gap.firstInput }, (_, n) => {
      const firstInput = gap.firstInput + n;
      return { ...shifted(gap, shiftSamples[firstInput] - most), firstInput, endInput: firstInput + 1 };
    }),
  );

/** Spectrum k uses [kP, (k+T)P): it is missing if that meets a gap [f, e), that is ⌊f/P⌋ − T < k < ⌈e/P⌉. */
export function missingSpectra(
  plan: ChannelisePlan,
  gaps: readonly VoltageGap[],
  spectra: number,
): SpectraGap[] {
  const { samplesPerSpectrum, taps, channels, polarisations, gapsCover } = plan;
  const some = gaps.filter((gap) => gap.firstSample < gap.endSample && gap.firstInput < gap.endInput);
  const missing = wholeStations(some, gapsCover === 'stations' ? polarisations : 1)
    .map((gap) => ({
      firstChannel: 0,
      endChannel: channels,
      firstInput: gap.firstInput,
      endInput: gap.endInput,
      firstSample: Math.max(0, Math.floor(gap.firstSample / samplesPerSpectrum) - taps + 1),
      endSample: Math.min(spectra, Math.ceil(gap.endSample / samplesPerSpectrum)),
    }))
    .filter((gap) => gap.firstSample < gap.endSample)
    .sort((x, y) => x.firstInput - y.firstInput || x.endInput - y.endInput || x.firstSample - y.firstSample);
  return joined(missing);
}

/** Scattered losses overlap once the filter has widened them: one range is as good as many. */
function joined(sorted: readonly SpectraGap[]): SpectraGap[] {
  const gapList: SpectraGap[] = [];
  for (const gap of sorted) {
    const last = gapList.at(-1);
    if (
      last?.firstInput === gap.firstInput &&
      last.endInput === gap.endInput &&
      gap.firstSample <= last.endSample
    ) {
      gapList[gapList.length - 1] = { ...last, endSample: Math.max(last.endSample, gap.endSample) };
    } else {
      gapList.push(gap);
    }
  }
  return gapList;
}

function checkDelays({ mostDelaySamples, inputs }: ChannelisePlan, delays: RunDelays | undefined): void {
  if (mostDelaySamples === undefined) {
    if (delays) refuse('channelise', 'delays were given to a plan without', 'plan with mostDelaySamples');
    return;
  }
  if (!delays) return refuse('channelise', 'no delays were given to a plan with', 'give them with every run');
  const { shiftSamples, turns } = delays;
  if (shiftSamples.length !== inputs || turns.length !== TURN_NUMBERS * inputs)
    refuse(
      'channelise',
      `delays of ${shiftSamples.length} inputs were given for ${inputs}`,
      'give all of them',
    );
  for (const shift of shiftSamples)
    wholeNumber('channelise', 'a delay in samples', shift, -mostDelaySamples, mostDelaySamples);
  if (!turns.every(Number.isFinite)) refuse('channelise', 'a delay is not a number', 'give finite numbers');
}

/** Refuses blocks that do not fit the plan, before anything is changed. */
export function checkChanneliseBlocks(plan: ChannelisePlan, voltages: VoltageBlock, out: SpectraBlock): void {
  checkVoltageBlock(plan, voltages);
  const { shape } = out;
  if (shape.type !== plan.outputType || shape.channels !== plan.channels || shape.inputs !== plan.inputs) {
    refuse(
      'channelise',
      `the output block holds ${shape.channels} channels of ${shape.inputs} inputs as ${shape.type}, ` +
        `the plan makes ${plan.channels} of ${plan.inputs} as ${plan.outputType}`,
      'allocate it from plan.output',
    );
  }
}

function checkVoltageBlock(plan: ChannelisePlan, voltages: VoltageBlock): void {
  if (voltages.type !== plan.inputType || voltages.inputs !== plan.inputs) {
    refuse(
      'channelise',
      `the block has ${voltages.inputs} inputs of ${voltages.type}, the plan ${plan.inputs} of ${plan.inputType}`,
      'plan for the recording at hand',
    );
  }
  wholeNumber('channelise', 'samples in the block', voltages.samples, 0, plan.blockSamples);
  const elements = voltages.inputs * voltages.samples * elementsPerVoltage(voltages.type);
  if (voltages.voltages.length !== elements) {
    refuse(
      'channelise',
      `the block holds ${voltages.voltages.length} elements where its axes make ${elements}`,
    );
  }
  for (const gap of voltages.gaps) checkGap('channelise', gap, voltages.inputs, voltages.samples);
}
