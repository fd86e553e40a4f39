/** Spectra phase-rotated in C++ (turn_spectra.cpp), from block to block. */
import type { CpuBackend } from '../../../backend/cpu/cpu.js';
import { cpuSpectra, spectraTypeNumber } from '../../../backend/cpu/spectra.js';
import { nothingToClose } from '../../../core/closing.js';
import { checkTurning, type Turner, type TurningPlan } from '../plan.js';
import { turningRuns } from '../runs.js';

export function cpuTurner(plan: TurningPlan, { native }: CpuBackend): Turner {
  const { channels, inputs, frequenciesHz } = plan;
  const type = spectraTypeNumber(plan.type);
  const turn = native.bind(
    'turning',
    `int32_t corella_turn_spectra(char *error, void *context, int32_t type, int64_t channels,
      int64_t inputs, int64_t capacity, int64_t outCapacity, const void *block,
      const double *frequenciesHz /*[channels]*/, const int32_t *edges /*[runs + 1]*/, int64_t runs,
      const double *coefficients /*[runs * inputs * 4]*/, void *out)`,
  );
  return {
    run: async (given, made, delayModel, first) => {
      checkTurning(plan, given, made);
      const block = cpuSpectra('turning', given);
      const out = cpuSpectra('turning', made);
      const { edges, coefficients } = turningRuns(plan, delayModel, first, block.samples);
      if (block.samples > 0) {
        await turn(
          ...([type, channels, inputs, block.shape.capacity, out.shape.capacity] as const),
          ...([block.memory.address, frequenciesHz, edges, edges.length - 1, coefficients] as const),
          out.memory.address,
        );
      }
      // Integers are always finite floats; invalid input values stay invalid.
      out.fill(block.samples, block.gaps, { violations: plan.type === 'cf32' ? block.violations : [] });
    },
    close: nothingToClose,
  };
}
