/** The X-engine for channelised recordings with delay tracking; the peer is the same without phase rotation. */
import type { HostBackend } from '../../backend/backend.js';
import { planTurning, prepareTurner } from '../../channelise/index.js';
import type { SpectraType } from '../../core/axes.js';
import type { Closers } from '../../core/closing.js';
import { planCorrelation, prepareCorrelator } from '../../correlate/index.js';
import { threadsOf, type BenchCase, type KernelBench, type PreparedCase } from '../bench.js';
import { hostCeiling } from '../ceiling.js';
import { noiseSpectra } from '../noise.js';
import { movingDelayModel } from './delays.js';

interface Size {
  readonly stations: number;
  readonly type: SpectraType;
}

const sizes: readonly Size[] = [
  ...[8, 32, 128].map((stations) => ({ stations, type: 'ci8' as const })),
  ...(['ci4', 'cf32'] as const).map((type) => ({ stations: 32, type })),
];

const POLARISATIONS = 2;
/** As in blocks of a recording of some hundred channels. */
const SAMPLES = 256;
const SPECTRUM_RATE_HZ = 25_600;
/** A few milliseconds of work for a thread. */
const samplesPerThread = { reference: 2 ** 15, cpu: 2 ** 21 } satisfies Record<HostBackend['kind'], number>;

export const turnBench: KernelBench = {
  kernel: 'turn',
  // A GPU works concurrently with the host: this would measure waiting instead of the cost.
  cases: (backend) =>
    backend.kind === 'cuda'
      ? []
      : sizes
          .filter(({ stations }) => backend.kind === 'cpu' || stations === 8)
          .map((size): BenchCase => {
            const each = size.stations * POLARISATIONS * SAMPLES;
            const channels = Math.ceil((samplesPerThread[backend.kind] * threadsOf(backend)) / each);
            return {
              parameters: { ...size, polarisations: POLARISATIONS, samples: SAMPLES, channels },
              unit: 'Gsamples/s',
              scale: 1e9,
              prepare: (closers) => prepare(size, channels, backend, closers),
            };
          }),
};

async function prepare(
  { stations, type }: Size,
  channels: number,
  backend: HostBackend,
  closers: Closers,
): Promise<PreparedCase> {
  const inputs = stations * POLARISATIONS;
  const shape = { type, channels, inputs, capacity: SAMPLES };
  const { block: given } = await noiseSpectra(backend, shape, closers);
  const out = closers.keep(backend.allocateSpectra({ ...shape, type: 'cf32' }));
  const frequenciesHz = Float64Array.from({ length: channels }, (_, c) => 1.4e9 + SPECTRUM_RATE_HZ * c);
  const plan = planTurning({ type, channels, inputs, spectrumRateHz: SPECTRUM_RATE_HZ, frequenciesHz });
  const turner = closers.keep(await prepareTurner(plan, backend));
  const delayModel = movingDelayModel(inputs);
  await turner.run(given, out, delayModel, 0);
  const correlation = planCorrelation({ stations, polarisations: POLARISATIONS, channels, type: 'cf32' });
  const correlator = closers.keep(await prepareCorrelator(correlation, backend));
  const work = channels * inputs * SAMPLES;
  return {
    ours: {
      run: async () => {
        await turner.run(given, out, delayModel, 0);
        await correlator.accumulate(out);
        return work;
      },
    },
    // A complex multiply-add is 8 operations, with half of all inputs.
    ceiling: hostCeiling(backend, 4 * (inputs + 1)),
    peer: {
      name: 'the same without turning, of floats',
      run: async () => {
        await correlator.accumulate(out);
        return work;
      },
    },
  };
}
