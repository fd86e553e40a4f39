/**
 * Shared cases for every beamformer, registered in each backend's own test file. The oracle is beamsOf (reference.ts);
 * sums of integers must agree to the last bit.
 */
import assert from 'node:assert/strict';
import type { Backend } from '../backend/backend.js';
import { backendCases, type CaseOptions } from '../backend/cases.js';
import { openReference } from '../backend/reference.js';
import { allocateSpectra, type SpectraCAT } from '../core/axes.js';
import { closingAfter } from '../core/closing.js';
import { packNibbles } from '../core/nibbles.js';
import { randomStream, type RandomStream } from '../core/random.js';
import { hostIncoherent } from './incoherent.js';
import { prepareBeamformer, prepareIncoherent } from './index.js';
import {
  detections,
  planBeams,
  powersLength,
  voltagesLength,
  weightsLength,
  type BeamOptions,
  type BeamPlan,
  type Bins,
} from './plan.js';
import { addPowers, beamsOf } from './reference.js';
import { inverseGains, steeredWeights } from './weights.js';

const evenly = (random: RandomStream, rail: number): number => random.below(2 * rail + 1) - rail;

export function randomSpectra(
  { type, channels, inputs }: BeamPlan,
  samples: number,
  random: RandomStream,
): SpectraCAT {
  const element = {
    ci8: () => evenly(random, 127),
    ci4: () => packNibbles(evenly(random, 7), evenly(random, 7)),
    cf32: () => random.gaussian(),
  }[type];
  const spectra = allocateSpectra(type, channels, inputs, samples);
  for (let n = 0; n < spectra.length; n++) spectra[n] = element();
  return spectra;
}

export function randomWeights(plan: BeamPlan, random: RandomStream): Int8Array | Float32Array {
  const length = weightsLength(plan);
  return plan.weights === 'ci8'
    ? Int8Array.from({ length }, () => evenly(random, 127))
    : Float32Array.from({ length }, () => random.gaussian());
}

/** Sizes that only one backend's tiling could get wrong, and the samples of consecutive blocks. */
export type BeamSizes = readonly (readonly [BeamOptions, readonly number[]])[];

export function beamCases(
  open: () => Promise<Backend>,
  options: CaseOptions & { readonly more?: BeamSizes } = {},
): void {
  backendCases('every beamformer', open, options, (theCase, backend) => {
    const agree = (given: BeamOptions, blocks: readonly number[]): void => {
      const { stations, polarisations, channels, type, beams, weights: weightType } = given;
      const name = `${beams} beams of ${stations} stations, ${polarisations} pol, ${channels} channels, ${type} by ${weightType}, blocks of ${blocks.join('+')}`;
      theCase(name, () =>
        closingAfter(async (closers) => {
          const plan = planBeams(given);
          const random = randomStream(21, name);
          const capacity = Math.max(...blocks);
          const { inputs } = plan;
          const block = closers.keep(backend().allocateSpectra({ type, channels, inputs, capacity }));
          const beamformer = closers.keep(await prepareBeamformer(plan, backend()));
          for (const samples of blocks) {
            // Garbage before: in the block, in the output, and in the weights.
            await block.write(randomSpectra(plan, capacity, random), capacity);
            beamformer.setWeights(randomWeights(plan, random));
            const spectra = randomSpectra(plan, samples, random);
            await block.write(spectra, samples);
            const weights = randomWeights(plan, random);
            beamformer.setWeights(weights);
            const wanted = beamsOf(plan, weights, spectra, samples);
            const length = voltagesLength(plan, samples);
            const made =
              plan.sums === 'ci32' ? new Int32Array(length).fill(77) : new Float32Array(length).fill(77);
            await beamformer.voltages(block, made);
            if (plan.sums === 'ci32') assert.deepEqual(Float64Array.from(made), wanted);
            else assertNear(made, wanted, 1e-6 * Math.sqrt(stations));
            for (const bins of binsFor(plan, samples)) {
              // The previous values stay, and are added to.
              const powers = new Float64Array(powersLength(plan, bins)).fill(5);
              const summed = powers.slice();
              await beamformer.powers(block, bins, powers);
              addPowers(plan, wanted, samples, bins, summed);
              assertNear(powers, summed, 1e-6);
            }
          }
        }),
      );
    };
    for (const type of ['ci8', 'ci4', 'cf32'] as const)
      for (const weights of ['ci8', 'cf32'] as const) {
        agree({ stations: 1, polarisations: 1, channels: 1, type, beams: 1, weights }, [1]);
        agree({ stations: 5, polarisations: 2, channels: 3, type, beams: 3, weights }, [64, 7, 130]);
        agree({ stations: 19, polarisations: 1, channels: 2, type, beams: 9, weights }, [65, 200]);
        agree({ stations: 33, polarisations: 2, channels: 2, type, beams: 4, weights }, [33]);
      }
    for (const [size, blocks] of options.more ?? []) agree(size, blocks);

    for (const spacing of ['even', 'uneven'] as const)
      theCase(`weights steered in channels of ${spacing} spacing are those of the host`, () =>
        closingAfter(async (closers) => {
          const plan = planBeams({
            stations: 7,
            polarisations: 2,
            channels: 70,
            type: 'ci8',
            beams: 5,
            weights: 'ci8',
          });
          const { channels, inputs, stations, beams } = plan;
          const random = randomStream(23, spacing);
          const samples = 20;
          const block = closers.keep(
            backend().allocateSpectra({ type: 'ci8', channels, inputs, capacity: samples }),
          );
          const beamformer = closers.keep(await prepareBeamformer(plan, backend()));
          const spectra = randomSpectra(plan, samples, random);
          await block.write(spectra, samples);
          const frequenciesHz = Float64Array.from({ length: channels }, (_, c) =>
            spacing === 'even' ? 50e6 + 25e3 * c : 50e6 + 25e3 * c + 1e3 * (c % 3),
          );
          const delaysS = Float64Array.from({ length: beams * stations }, () => 1e-6 * random.gaussian());
          const gains = inverseGains(
            Float64Array.from({ length: 2 * channels * inputs }, () => random.gaussian()),
            Uint8Array.from({ length: channels * inputs }, () => (random.below(9) === 0 ? 0 : 1)),
          );
          const { weights, scales } = steeredWeights({ ...plan, frequenciesHz }, delaysS, gains);
          assert.deepEqual(beamformer.steer(frequenciesHz, delaysS, gains), scales);
          const made = new Int32Array(voltagesLength(plan, samples)).fill(77);
          await beamformer.voltages(block, made);
          assert.deepEqual(Float64Array.from(made), beamsOf(plan, weights, spectra, samples));
        }),
      );

    for (const type of ['ci8', 'ci4', 'cf32'] as const)
      for (const polarisations of [1, 2] as const)
        theCase(`an incoherent sum of ${polarisations} pol, ${type}`, () =>
          closingAfter(async (closers) => {
            const plan = planBeams({
              stations: 9,
              polarisations,
              channels: 3,
              type,
              beams: 1,
              weights: 'ci8',
            });
            const { inputs, channels } = plan;
            const shape = { type, channels, inputs, capacity: 150 };
            const [block, plain] = [backend(), openReference()].map((one) =>
              closers.keep(one.allocateSpectra(shape)),
            );
            const sum = closers.keep(await prepareIncoherent(plan, backend()));
            for (const samples of [150, 37]) {
              const random = randomStream(22, type, polarisations, samples);
              const spectra = randomSpectra(plan, samples, random);
              await block.write(spectra, samples);
              await plain.write(spectra, samples);
              const squares = Float64Array.from({ length: channels * inputs }, () => random.below(3));
              for (const bins of binsFor(plan, samples)) {
                if (bins.detection === 'IQUV') continue;
                const made = new Float64Array(detections[bins.detection] * bins.bins * channels).fill(5);
                const wanted = made.slice();
                await sum.add(squares, block, bins, made);
                await hostIncoherent(plan).add(squares, plain, bins, wanted);
                assertNear(made, wanted, 1e-6);
              }
            }
          }),
        );

    theCase('full scale of 16,384 inputs stays exact', () =>
      closingAfter(async (closers) => {
        const plan = planBeams({
          stations: 16_384,
          polarisations: 1,
          channels: 1,
          type: 'ci8',
          beams: 2,
          weights: 'ci8',
        });
        const samples = 2;
        const block = closers.keep(
          backend().allocateSpectra({ type: 'ci8', channels: 1, inputs: plan.inputs, capacity: samples }),
        );
        const beamformer = closers.keep(await prepareBeamformer(plan, backend()));
        const spectra = allocateSpectra('ci8', 1, plan.inputs, samples);
        spectra.fill(127);
        await block.write(spectra, samples);
        const weights = new Int8Array(weightsLength(plan)).fill(127);
        // Of the second beam (127 − 127i): 127² + 127² and 127² − 127².
        for (let n = weights.length / 2 + 1; n < weights.length; n += 2) weights[n] = -127;
        beamformer.setWeights(weights);
        const made = new Int32Array(voltagesLength(plan, samples));
        await beamformer.voltages(block, made);
        const most = 16_384 * 2 * 127 ** 2;
        assert.deepEqual([...made], [0, most, 0, most, most, 0, most, 0]);
      }),
    );
  });
}

/** One bin that continues, several that begin within one, and single spectra. */
function binsFor({ polarisations }: BeamPlan, samples: number): readonly Bins[] {
  const kinds = polarisations === 2 ? (['I', 'XX,YY', 'IQUV'] as const) : (['I'] as const);
  return kinds.flatMap((detection) =>
    [
      { spectraPerBin: 1000, offset: 300 },
      { spectraPerBin: 9, offset: 4 },
      { spectraPerBin: 1, offset: 0 },
    ].map((one) => ({ ...one, detection, bins: Math.ceil((one.offset + samples) / one.spectraPerBin) })),
  );
}

function assertNear(made: ArrayLike<number>, wanted: ArrayLike<number>, tolerance: number): void {
  assert.equal(made.length, wanted.length);
  const largest = Array.from(wanted).reduce((most, one) => Math.max(most, Math.abs(one)), 0);
  for (let n = 0; n < wanted.length; n++)
    assert.ok(Math.abs(made[n] - wanted[n]) <= tolerance * largest, `${n}: ${made[n]}, not ${wanted[n]}`);
}
