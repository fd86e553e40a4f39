/** Direct imaging in C++ (direct.cpp): a vector register of time steps at once. */
import type { CpuBackend } from '../../../backend/cpu/cpu.js';
import { cpuSpectra, spectraTypeNumber } from '../../../backend/cpu/spectra.js';
import { DirectAccount } from '../account.js';
import { powerCount, type DirectImagerOptions } from '../autos.js';
import type { DirectImager } from '../direct.js';
import type { ImagePlan } from '../../plan.js';

const WHERE = 'direct image';

/**
 * A field in float32 is good to about 4e-7 of one antenna's share. Dividing the taper out multiplies that where the
 * taper is small, most in the corners of a square field, and √N antennas average it down. Where the error would be
 * above 1e-5 of the image, everything is done in float64, at less than half the speed.
 */
const MOST_ERROR = 1e-5;
const FLOAT_ERROR = 4e-7;

export function bitsFor({ correction, shown, stations }: ImagePlan): 32 | 64 {
  const largest = correction.reduce((most, power, at) => (shown[at] === 1 ? Math.max(most, power) : most), 1);
  return (FLOAT_ERROR * Math.sqrt(largest)) / Math.sqrt(stations) > MOST_ERROR ? 64 : 32;
}

export function prepareCpuDirectImager(
  plan: ImagePlan,
  { native }: CpuBackend,
  { autos = 'include' }: DirectImagerOptions = {},
): DirectImager {
  const { pixels, channels, stations, polarisations, products, kernelSize } = plan;
  const engine = native.open(
    WHERE,
    `int32_t corella_direct_open(char *error, void *context, int64_t pixels, int64_t channels,
      int64_t stations, int64_t polarisations, int64_t kernelSize,
      const int32_t *corners /*[channels * stations * 2]*/,
      const double *taps /*[channels * stations * kernelSize * kernelSize * 2]*/,
      const uint8_t *shown /*[pixels * pixels]*/, int32_t bits, _Out_ void **imager)`,
    ...([pixels, channels, stations, polarisations, kernelSize] as const),
    ...([plan.corners, plan.taps, plan.shown, bitsFor(plan)] as const),
  );
  const accumulate = native.bind(
    WHERE,
    `int32_t corella_direct_accumulate(char *error, void *context, void *imager, int32_t type,
      const void *block, int64_t capacity, int64_t samples, const double *factors)`,
  );
  const finish = native.bind(
    WHERE,
    'int32_t corella_direct_finish(char *error, void *context, void *imager, double *sums)',
  );
  const addPowers = native.bind(
    WHERE,
    `int32_t corella_direct_powers(char *error, void *context, int32_t type, int64_t channels,
      int64_t stations, int64_t polarisations, const void *block, int64_t capacity, int64_t samples,
      double *powers /*[channels * stations * polarisations * polarisations]*/)`,
  );
  const account = new DirectAccount(plan, autos);
  const powers = new Float64Array(autos === 'leave-out' ? powerCount(plan) : 0);
  const sums = new Float64Array(channels * products * pixels * pixels);
  return {
    plan,
    setGains: (gains, solved) => {
      account.setGains(gains, solved);
    },
    accumulate: async (given) => {
      const block = cpuSpectra(WHERE, given);
      account.add(block);
      const { type, capacity } = block.shape;
      const sizes = [spectraTypeNumber(type), block.memory.address, capacity, block.samples] as const;
      await accumulate(engine.address, ...sizes, account.factors);
      if (autos === 'include') return;
      const [number, address, ...lengths] = sizes;
      await addPowers(number, channels, stations, polarisations, address, ...lengths, powers);
    },
    finish: async (into) => {
      account.checkAny();
      await finish(engine.address, sums);
      const made = account.finish(sums, undefined, into, powers);
      powers.fill(0);
      return made;
    },
    close: () => engine.close(),
  };
}
