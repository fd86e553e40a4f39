/** The F-engine in C++ (channelise.cpp): filter, transform, rounding and corner turn in one pass through the caches. */
import { NULL } from '../../backend/c-arguments.js';
import type { CpuBackend } from '../../backend/cpu/cpu.js';
import { cpuSpectra, spectraTypeNumber } from '../../backend/cpu/spectra.js';
import type { VoltageType } from '../../core/axes.js';
import type { SpectraGap } from '../../core/gaps.js';
import type { Channeliser } from '../channeliser.js';
import { outputFactor, type ChannelisePlan } from '../plan.js';
import { checkFinite } from '../reference.js';
import { checkChanneliseBlocks, openStream } from '../stream.js';

/** The library's numbers (channelise_job.h). */
export const scalarNumbers = { i8: 0, ci8: 0, i16: 1, ci16: 1, f32: 2, cf32: 2 } satisfies Record<
  VoltageType,
  number
>;

export function prepareCpuChanneliser(plan: ChannelisePlan, { native }: CpuBackend): Channeliser {
  const engine = native.open(
    'channelise',
    `int32_t corella_channeliser_open(char *error, void *context, int32_t scalar, int32_t real,
      int32_t output, int64_t channels, int64_t taps, int64_t inputs, const void *tapValues,
      const double *factors /*[factorCount]*/, int64_t factorCount, int64_t mostDelay,
      _Out_ void **channeliser)`,
    scalarNumbers[plan.inputType],
    plan.sampling === 'real' ? 1 : 0,
    spectraTypeNumber(plan.outputType),
    ...([plan.channels, plan.taps, plan.inputs] as const),
    plan.kernel.taps,
    ...factorsOf(plan),
    plan.mostDelaySamples ?? -1,
  );
  const run = native.bind(
    'channelise',
    `int32_t corella_channeliser_run(char *error, void *context, void *channeliser, const void *voltages,
      int64_t samples, int64_t waiting, int64_t spectra, const int64_t *gaps /*[gapCount * 4]*/,
      int64_t gapCount, const int32_t *shifts, const double *turns, void *block, int64_t capacity,
      void *powers, int64_t *passed /*[1]*/, int32_t *flags /*[2]*/)`,
  );
  const stream = openStream(plan);
  const passed = new BigInt64Array(1);
  const flags = new Int32Array(2);
  let saturated = 0;
  return {
    plan,
    run: async (voltages, out, delays) => {
      checkChanneliseBlocks(plan, voltages, out);
      const block = cpuSpectra('channelise', out);
      const step = stream.next(voltages, delays);
      await run(
        engine.address,
        voltages.voltages,
        voltages.samples,
        step.waiting,
        step.spectra,
        packGaps(step.gaps),
        step.gaps.length,
        delays?.shiftSamples ?? noShifts,
        delays?.turns ?? noTurns,
        block.memory.address,
        block.shape.capacity,
        block.powersBuffer?.address ?? NULL,
        passed,
        flags,
      );
      const [allFinite, powersMade] = flags;
      if (allFinite === 0) checkFinite(voltages);
      block.fill(step.spectra, step.gaps, { hasPowers: powersMade === 1 });
      saturated += Number(passed[0]);
      stream.advance(voltages, step);
    },
    sumsPowers: true,
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
    close: () => engine.close(),
  };
}

/** Ignored where nothing is delayed. */
const noShifts = new Int32Array(1);
const noTurns = new Float64Array(1);

/** factors : [a][c], or one for all; and their number. */
function factorsOf(plan: ChannelisePlan): [Float64Array, number] {
  const { inputs, channels } = plan;
  const length = typeof plan.gains === 'number' ? 1 : inputs * channels;
  const factors = Float64Array.from({ length }, (_, n) =>
    outputFactor(plan, Math.floor(n / channels), n % channels),
  );
  return [factors, length];
}

/** [gap][first input, end input, first spectrum, end spectrum]; gaps of spectra cover all channels here. */
const noGaps = new BigInt64Array(0);
function packGaps(gaps: readonly SpectraGap[]): BigInt64Array {
  if (gaps.length === 0) return noGaps;
  return BigInt64Array.from(
    gaps.flatMap((gap) => [gap.firstInput, gap.endInput, gap.firstSample, gap.endSample].map(BigInt)),
  );
}
