/** Sums of powers in C++ (kurtosis.cpp), over the block in place, or from sums that exist already. */
import { NULL } from '../../backend/c-arguments.js';
import type { CpuBackend } from '../../backend/cpu/cpu.js';
import { cpuSpectra, spectraTypeNumber } from '../../backend/cpu/spectra.js';
import { nothingToClose } from '../../core/closing.js';
import type { PowerEngine } from '../flagger.js';
import { packedBoxes } from '../decision.js';
import type { KurtosisPlan } from '../plan.js';

/** Blocks whose sums may exist at once: two that are to be tested, and one that is being made. */
const MOST_BEGUN = 3;

export function cpuPowers(plan: KurtosisPlan, { native }: CpuBackend): PowerEngine {
  const { channels, inputs } = plan;
  const type = spectraTypeNumber(plan.type);
  const sum = native.bind(
    'kurtosis',
    `int32_t corella_kurtosis_sums(char *error, void *context, int32_t type, int64_t channels,
      int64_t inputs, int64_t capacity, const void *block, const void *powers,
      const int32_t *edges /*[windows + 1]*/, int64_t windows,
      double *sums /*[windows * channels * inputs * 2]*/)`,
  );
  const zero = native.bind(
    'kurtosis',
    `int32_t corella_kurtosis_zero(char *error, void *context, int32_t type, int64_t channels,
      int64_t inputs, int64_t capacity, void *block, const int32_t *boxes /*[count * 6]*/,
      int64_t count)`,
  );
  const rooms = Array.from({ length: MOST_BEGUN }, () => new Float64Array(0));
  let begun = 0;
  return {
    mostBegun: MOST_BEGUN,
    begin: (given, edges) => {
      const block = cpuSpectra('kurtosis', given);
      const windows = edges.length - 1;
      const at = begun++ % MOST_BEGUN;
      if (rooms[at].length < 2 * windows * channels * inputs)
        rooms[at] = new Float64Array(2 * windows * channels * inputs);
      const sums = rooms[at];
      // Powers that the channeliser summed, where there are any; they extend to the block's end.
      const powers = (edges[windows] === block.samples ? block.powers?.address : undefined) ?? NULL;
      const summed = sum(
        ...([type, channels, inputs, block.shape.capacity, block.memory.address] as const),
        ...([powers, edges, windows, sums] as const),
      );
      // The error is reported where the sums are used; it is ignored for a block that was given up.
      summed.catch(() => undefined);
      return async () => {
        await summed;
        return sums;
      };
    },
    take: async (given, gaps) => {
      const block = cpuSpectra('kurtosis', given);
      const boxes = packedBoxes(gaps);
      await zero(
        ...([type, channels, inputs, block.shape.capacity] as const),
        ...([block.memory.address, boxes, gaps.length] as const),
      );
      block.addGaps(gaps);
    },
    close: nothingToClose,
  };
}
