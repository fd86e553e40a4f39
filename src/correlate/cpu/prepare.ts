/** The X-engine in C++ (correlate.cpp): exact 32-bit sums, moved to float64 before they could overflow. */
import type { CpuBackend } from '../../backend/cpu/cpu.js';
import { cpuSpectra, spectraTypeNumber } from '../../backend/cpu/spectra.js';
import { visibilitiesCBPP } from '../../core/axes.js';
import { SampleCounter } from '../../core/presence/sample-counter.js';
import type { Correlator } from '../correlator.js';
import { checkCorrelateBlock, type CorrelatePlan } from '../plan.js';
import { refuseValue } from '../unpack.js';

export function prepareCpuCorrelator(plan: CorrelatePlan, { native }: CpuBackend): Correlator {
  const { stations, polarisations, channels, baselines, flaggedInputs } = plan;
  const engine = native.open(
    'correlate',
    `int32_t corella_correlator_open(char *error, void *context, int32_t type, int64_t channels,
      int64_t stations, int64_t polarisations, _Out_ void **correlator)`,
    ...[spectraTypeNumber(plan.type), channels, stations, polarisations],
  );
  const accumulate = native.bind(
    'correlate',
    `int32_t corella_correlator_accumulate(char *error, void *context, void *correlator,
        const void *block, int64_t capacity, int64_t samples)`,
  );
  const finish = native.bind(
    'correlate',
    `int32_t corella_correlator_finish(char *error, void *context, void *correlator, const uint8_t *flags,
      double *visibilities)`,
  );
  const counter = new SampleCounter(plan, flaggedInputs);
  return {
    plan,
    accumulate: async (given) => {
      const block = cpuSpectra('correlate', given);
      checkCorrelateBlock(plan, block, counter.samples);
      const violation = block.violations.find(({ input }) => flaggedInputs[input] === 0);
      if (violation) refuseValue(plan.type, violation);
      counter.add(block.samples, block.gaps);
      await accumulate(engine.address, block.memory.address, block.shape.capacity, block.samples);
    },
    finish: async () => {
      const values = new Float64Array(channels * baselines * polarisations ** 2 * 2);
      const visibilities = visibilitiesCBPP(values, channels, baselines, polarisations);
      const { samples } = counter;
      const counts = counter.finishProducts();
      await finish(engine.address, flaggedInputs, visibilities);
      return { visibilities, ...counts, samples };
    },
    close: () => engine.close(),
  };
}
