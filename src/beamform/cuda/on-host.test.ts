/** Kernels of the beamformer on the host, a thread for each of a card's, against the plain reference. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hostCompiler, prepareOnHost } from '../../backend/cuda/testing/on-host.js';
import { closingAfter } from '../../core/closing.js';
import { randomStream } from '../../core/random.js';
import { randomSpectra, randomWeights } from '../cases.js';
import { planBeams, powersLength, type BeamOptions, type Bins } from '../plan.js';
import { addPowers, beamsOf } from '../reference.js';
import { inverseGains, steeredWeights, steeringPhases, weightScale } from '../weights.js';
import { BEAM_WORK, beamLaunchShape, partialsOf, planBeamFinish, planBeamKernel, STEERING } from './plan.js';

const skip = hostCompiler === undefined && 'no compiler of C++20 was found';

describe("the beamformer's kernels", { skip }, () => {
  const shape = { stations: 5, polarisations: 2, channels: 2, beams: 9 } as const;
  const kinds: readonly Pick<BeamOptions, 'type' | 'weights'>[] = [
    { type: 'ci8', weights: 'ci8' },
    { type: 'cf32', weights: 'cf32' },
  ];
  for (const kind of kinds)
    it(`${kind.type} by ${kind.weights}: voltages, and powers in bins of any length`, () =>
      closingAfter(async (closers) => {
        const plan = planBeams({ ...shape, ...kind });
        const { channels, inputs, beams } = plan;
        const samples = 150;
        const random = randomStream(31, kind.type);
        const spectra = randomSpectra(plan, samples, random);
        const weights = randomWeights(plan, random);
        const wanted = beamsOf(plan, weights, spectra, samples);
        const near = (made: ArrayLike<number>, expected: ArrayLike<number>): void => {
          const most = Array.from(expected).reduce((high, one) => Math.max(high, Math.abs(one)), 0);
          const isExact = made instanceof Int32Array;
          for (let n = 0; n < expected.length; n++)
            assert.ok(
              Math.abs(made[n] - expected[n]) <= (isExact ? 0 : 1e-6 * most),
              `${n}: ${made[n]}, not ${expected[n]}`,
            );
        };
        const launch = planBeamKernel(plan, 'dp4a');
        const beamform = closers.keep(await prepareOnHost(launch.request, launch.entry));
        const add = closers.keep(await prepareOnHost(planBeamFinish(plan), 'addPartials'));
        const { items, ...launched } = beamLaunchShape(launch, plan, samples, 4);
        const work = (
          settings: { detection: number; firstEnd: number; perBin: number; rows: number },
          out: ArrayBufferView,
        ) => {
          const bytes = new Uint8Array(BEAM_WORK.bytes);
          const view = new DataView(bytes.buffer);
          view.setInt32(BEAM_WORK.samples, samples, true);
          for (const name of ['detection', 'firstEnd', 'perBin', 'rows'] as const)
            view.setInt32(BEAM_WORK[name], settings[name], true);
          view.setInt32(BEAM_WORK.items, items, true);
          view.setBigInt64(BEAM_WORK.pitchBytes, BigInt(spectra.byteLength / (channels * inputs)), true);
          const pointers = [
            { at: BEAM_WORK.out, memory: out },
            { at: BEAM_WORK.spectra, memory: spectra },
            { at: BEAM_WORK.weights, memory: weights },
          ];
          return { bytes, pointers };
        };
        const voltages = new (plan.sums === 'ci32' ? Int32Array : Float32Array)(wanted.length).fill(77);
        await beamform.run(launched, [work({ detection: 0, firstEnd: 0, perBin: 1, rows: 0 }, voltages)]);
        near(voltages, wanted);
        for (const bins of [
          { detection: 'IQUV', spectraPerBin: 1000, offset: 900, bins: 2 },
          { detection: 'XX,YY', spectraPerBin: 17, offset: 5, bins: 10 },
          { detection: 'I', spectraPerBin: 16, offset: 0, bins: 10 },
          { detection: 'I', spectraPerBin: 15, offset: 14, bins: 11 },
        ] satisfies Bins[]) {
          const settings = partialsOf(bins, samples);
          const partials = new Float32Array(channels * settings.rows * settings.detection * beams).fill(NaN);
          await beamform.run(launched, [work(settings, partials)]);
          const made = new Float64Array(powersLength(plan, bins)).fill(NaN);
          await add.run({ grid: [3, 1], threads: 64 }, [
            work(settings, partials),
            { memory: made },
            { i32: bins.bins },
            { i32: channels },
          ]);
          const summed = new Float64Array(made.length);
          addPowers(plan, wanted, samples, bins, summed);
          near(made, summed);
        }
      }));

  for (const weights of ['ci8', 'cf32'] as const)
    it(`weights, ${weights}: the bits of the host's`, () =>
      closingAfter(async (closers) => {
        const plan = planBeams({ ...shape, channels: 70, type: 'ci8', weights });
        const { channels, inputs, beams, stations } = plan;
        const random = randomStream(32, weights);
        const gains = inverseGains(
          Float64Array.from({ length: 2 * channels * inputs }, () => random.gaussian()),
          new Uint8Array(channels * inputs).fill(1),
        );
        const delaysS = Float64Array.from({ length: beams * stations }, () => 1e-6 * random.gaussian());
        const steer = closers.keep(await prepareOnHost(planBeamFinish(plan), 'steerWeights'));
        for (const uneven of [0, 1e3]) {
          const frequenciesHz = Float64Array.from(
            { length: channels },
            (_, c) => 50e6 + 25e3 * c + uneven * (c % 3),
          );
          const wanted = steeredWeights({ ...plan, frequenciesHz }, delaysS, gains).weights;
          const made = wanted.slice().fill(77);
          const { every, anchors, steps } = steeringPhases(frequenciesHz, delaysS);
          const bytes = new Uint8Array(STEERING.bytes);
          const view = new DataView(bytes.buffer);
          view.setFloat64(STEERING.scale, weightScale(weights, gains), true);
          view.setInt32(STEERING.channels, channels, true);
          view.setInt32(STEERING.every, every, true);
          await steer.run({ grid: [2, 1], threads: 64 }, [
            { memory: anchors },
            { memory: steps },
            { memory: gains.inverse },
            { memory: made },
            { bytes, pointers: [] },
          ]);
          assert.deepEqual(made, wanted);
        }
      }));
});
