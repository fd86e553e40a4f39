/** The beamformer in C++ (beamform.cpp): 32-bit sums of 8-bit weights, or floats. */
import type { CpuBackend } from '../../backend/cpu/cpu.js';
import { cpuSpectra, spectraTypeNumber } from '../../backend/cpu/spectra.js';
import { steerOnHost, type Beamformer } from '../beamformer.js';
import {
  checkBeamBlock,
  checkBins,
  checkVoltages,
  checkWeights,
  detections,
  type BeamPlan,
} from '../plan.js';

export function prepareCpuBeamformer(plan: BeamPlan, { native }: CpuBackend): Beamformer {
  const { stations, polarisations, channels, beams } = plan;
  const engine = native.open(
    'beams',
    `int32_t corella_beamformer_open(char *error, void *context, int32_t type, int64_t channels,
      int64_t stations, int64_t polarisations, int64_t beams, int32_t floatWeights, _Out_ void **beamformer)`,
    ...[spectraTypeNumber(plan.type), channels, stations, polarisations, beams],
    plan.weights === 'cf32' ? 1 : 0,
  );
  const weigh = native.bind(
    'beams',
    `int32_t corella_beamformer_weights(char *error, void *context, void *beamformer, const void *weights)`,
  );
  const voltages = native.bind(
    'beams',
    `int32_t corella_beamformer_voltages(char *error, void *context, void *beamformer, const void *block,
      int64_t capacity, int64_t samples, void *out)`,
  );
  const powers = native.bind(
    'beams',
    `int32_t corella_beamformer_powers(char *error, void *context, void *beamformer, const void *block,
      int64_t capacity, int64_t samples, int64_t detection, int64_t perBin, int64_t offset, int64_t bins,
      double *powers)`,
  );
  /** Queued calls, in order. */
  let weighed: Promise<void> = Promise.resolve();
  const setWeights = (given: Int8Array | Float32Array): void => {
    checkWeights(plan, given);
    const own = given.slice();
    // Calls run on threads: a later one must not finish first.
    weighed = weighed.then(() => weigh(engine.address, own));
  };
  return {
    plan,
    setWeights,
    steer: steerOnHost(plan, setWeights),
    voltages: async (given, into) => {
      const block = cpuSpectra('beams', given);
      checkBeamBlock(plan, block);
      checkVoltages(plan, block.samples, into);
      await weighed;
      await voltages(engine.address, block.memory.address, block.shape.capacity, block.samples, into);
    },
    powers: async (given, bins, into) => {
      const block = cpuSpectra('beams', given);
      checkBeamBlock(plan, block);
      checkBins(plan, block, bins, into);
      const { detection, spectraPerBin, offset, bins: many } = bins;
      await weighed;
      await powers(
        ...([engine.address, block.memory.address, block.shape.capacity, block.samples] as const),
        ...([detections[detection], spectraPerBin, offset, many, into] as const),
      );
    },
    close: () => engine.close(),
  };
}
