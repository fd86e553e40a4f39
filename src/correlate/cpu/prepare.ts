/** The X-engine in C++ (correlate.cpp): exact 32-bit sums, moved to float64 before they could overflow. */
import type { NativeCall } from '../../backend/cpu/context.js';
import type { CpuBackend } from '../../backend/cpu/cpu.js';
import { cpuSpectra, spectraTypeNumber } from '../../backend/cpu/spectra.js';
import { countsCB, visibilitiesCBPP } from '../../core/axes.js';
import { addSampleCounts, type SpectraGap } from '../../core/gaps.js';
import type { Correlator } from '../correlator.js';
import { checkCorrelateBlock, type CorrelatePlan } from '../plan.js';
import { refuseValue } from '../unpack.js';

export function prepareCpuCorrelator(plan: CorrelatePlan, { native }: CpuBackend): Correlator {
  const { stations, polarisations, channels, baselines, flaggedInputs } = plan;
  const engine = native.open(
    'correlate',
    'int32_t corella_correlator_open(char *error, void *context, int32_t type, int64_t channels, ' +
      'int64_t stations, int64_t polarisations, _Out_ void **correlator)',
    ...[spectraTypeNumber(plan.type), channels, stations, polarisations],
  );
  const accumulate: NativeCall<[correlator: bigint, block: bigint, capacity: number, samples: number]> =
    native.bind(
      'correlate',
      'int32_t corella_correlator_accumulate(char *error, void *context, void *correlator, const void *block, ' +
        'int64_t capacity, int64_t samples)',
    );
  const finish: NativeCall<[correlator: bigint, flags: Uint8Array, visibilities: Float64Array]> = native.bind(
    'correlate',
    'int32_t corella_correlator_finish(char *error, void *context, void *correlator, const uint8_t *flags, ' +
      'double *visibilities)',
  );
  const newCounts = () => countsCB(new Float64Array(channels * baselines), channels, baselines);
  let counts = newCounts();
  let samples = 0;
  /** Samples of blocks without gaps: alike for all baselines, so counted in one go at the end. */
  let whole = 0;
  const count = (length: number, gaps: readonly SpectraGap[]): void => {
    addSampleCounts(counts, { channels, stations, polarisations, samples: length }, gaps, flaggedInputs);
  };
  return {
    plan,
    accumulate: async (given) => {
      const block = cpuSpectra('correlate', given);
      checkCorrelateBlock(plan, block, samples);
      const offence = block.offences.find(({ input }) => flaggedInputs[input] === 0);
      if (offence) refuseValue(plan.type, offence);
      if (block.gaps.length === 0) whole += block.samples;
      else count(block.samples, block.gaps);
      samples += block.samples;
      await accumulate(engine.address, block.memory.address, block.shape.capacity, block.samples);
    },
    finish: async () => {
      count(whole, []);
      const result = {
        visibilities: visibilitiesCBPP(
          new Float64Array(channels * baselines * polarisations ** 2 * 2),
          channels,
          baselines,
          polarisations,
        ),
        counts,
        samples,
      };
      counts = newCounts();
      samples = 0;
      whole = 0;
      await finish(engine.address, flaggedInputs, result.visibilities);
      return result;
    },
    close: () => {
      engine.close();
      return Promise.resolve();
    },
  };
}
