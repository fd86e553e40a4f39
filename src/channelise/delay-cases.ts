/** Shared cases for every channeliser with delays; part of the other shared cases. */
import assert from 'node:assert/strict';
import type { Backend } from '../backend/backend.js';
import { openReference } from '../backend/reference.js';
import { allocateVoltages, type SpectraType, type VoltageType } from '../core/axes.js';
import { instant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { delayModels, type DelayModels } from '../delay/index.js';
import { assertClose, type Channelised } from './compare.testing.js';
import { phaseCases } from './delay-phase-cases.js';
import { channeliseDelayed, delaysOf, RATE_HZ } from './delay-runs.testing.js';
import { prepareChanneliser } from './index.js';
import { planChannelise, type ChanneliseOptions, type ChannelisePlan } from './plan.js';
import { noise, withGaps } from './samples.testing.js';

type Case = (name: string, body: () => Promise<void>) => void;

/**
 * Delays of all sizes, some that cross a whole sample, and a later piece for some inputs. The sky's own rates are far
 * slower, and kernels may assume that neighbouring spectra hardly differ: `mostRate` bounds the rates.
 */
function someDelays(plan: ChannelisePlan, seed: number, mostRate = Infinity): DelayModels {
  const random = randomStream(seed, 'delays');
  const most = ((plan.mostDelaySamples ?? 0) - 1) / RATE_HZ;
  const uniform = (): number => random.below(2 ** 20) / 2 ** 19 - 1;
  const models = delayModels(plan.inputs);
  const later = BigInt(5 * plan.samplesPerSpectrum + 3);
  for (let input = 0; input < plan.inputs; input++) {
    for (const fromTick of input % 3 === 1 ? [0n, later] : [0n]) {
      models.load(input, {
        fromTick,
        delayS: 0.8 * most * uniform(),
        delayRate: input % 2 === 0 ? 0 : Math.min(mostRate, 0.3 / (8 * plan.samplesPerSpectrum)) * uniform(),
        phaseRad: 3 * uniform(),
        phaseRateRadS: (uniform() * RATE_HZ) / plan.samplesPerSpectrum / 10,
      });
    }
  }
  return models;
}

/** Random delays of one shape: compared with the reference, over blocks of every length. */
export function delayShape(
  theCase: Case,
  backend: () => Backend,
  options: ChanneliseOptions,
  spectra: number,
  mostRate?: number,
): void {
  const { channels, taps, inputs, inputType, outputType, mostDelaySamples, gains } = options;
  const details = [
    ...(mostRate === undefined ? [] : [`rates up to ${mostRate}`]),
    ...(gains === undefined ? [] : [typeof gains === 'number' ? `a gain of ${gains}` : 'gains']),
  ];
  const shapeName = `delays: ${channels} channels, ${taps} taps, ${inputs} inputs, ${inputType} to ${outputType}, up to ${mostDelaySamples} samples`;
  const name = [shapeName, ...details].join(', ');
  theCase(name, async () => {
    const plan = planChannelise(options);
    const samples = (spectra + taps - 1) * plan.samplesPerSpectrum + (mostDelaySamples ?? 0) + 1;
    const whole = noise(inputType, inputs, samples, randomStream(51, name));
    const lengths = [1, Math.ceil(samples / 3), 0, ...Array<number>(9).fill(options.blockSamples)];
    const delays = delaysOf(plan, someDelays(plan, channels, mostRate));
    const wanted = await channeliseDelayed(plan, openReference(), whole, lengths, delays);
    assert.equal(wanted.produced, spectra);
    assertClose(plan, await channeliseDelayed(plan, backend(), whole, lengths, delays), wanted);
  });
}

export function delayCases(theCase: Case, backend: () => Backend): void {
  const shape = (options: ChanneliseOptions, spectra: number): void => {
    delayShape(theCase, backend, options, spectra);
  };
  const base = { inputs: 4, polarisations: 2 } as const;
  for (const inputType of ['i8', 'i16', 'f32', 'ci8', 'ci16', 'cf32'] as const satisfies VoltageType[])
    for (const outputType of ['ci8', 'ci4', 'cf32'] as const satisfies SpectraType[])
      shape(
        { ...base, channels: 32, taps: 4, inputType, outputType, blockSamples: 900, mostDelaySamples: 70 },
        40,
      );
  const bytes = { ...base, inputType: 'ci8', outputType: 'ci8' } as const;
  shape({ ...bytes, channels: 97, taps: 3, inputs: 18, blockSamples: 2000, mostDelaySamples: 5 }, 9);
  shape({ ...bytes, channels: 1024, taps: 8, blockSamples: 40_000, mostDelaySamples: 3000 }, 37);
  shape({ ...bytes, channels: 4096, taps: 4, inputs: 2, blockSamples: 90_000, mostDelaySamples: 1 }, 19);
  shape({ ...bytes, channels: 1000, taps: 2, inputs: 2, blockSamples: 20_000, mostDelaySamples: 9 }, 20);
  shape({ ...bytes, channels: 8192, taps: 2, inputs: 2, blockSamples: 99_000, mostDelaySamples: 33 }, 9);
  shape({ ...bytes, channels: 3, taps: 5, inputType: 'i8', blockSamples: 200, mostDelaySamples: 11 }, 60);
  // Rates of the sky, and the largest that a vector of spectra may share; gains one by one, and many saturated values.
  const some = { ...bytes, taps: 2, blockSamples: 9000, mostDelaySamples: 7 } as const;
  for (const mostRate of [5e-9, 1e-7]) {
    for (const outputType of ['ci8', 'cf32'] as const) {
      delayShape(theCase, backend, { ...some, channels: 64, outputType }, 50, mostRate);
      delayShape(theCase, backend, { ...some, channels: 256, outputType }, 21, mostRate);
    }
  }
  for (const outputType of ['ci8', 'cf32'] as const) {
    const gains = Float64Array.from({ length: 4 * 64 }, (_, n) => 0.02 * ((n % 7) - 3));
    delayShape(theCase, backend, { ...some, channels: 64, outputType, gains }, 20, 1e-9);
  }
  delayShape(theCase, backend, { ...some, channels: 64, gains: 0.5 }, 20, 1e-9);
  shape({ ...some, channels: 64, gains: 0.5 }, 20);

  theCase('delays: a tone comes later, by whole samples and a phase', async () => {
    // Bin 2 of 8: a delay of d samples rotates it by −2·d/8, and the zero frequency rotates all by −f0·d.
    const plan = planChannelise({
      channels: 8,
      taps: 1,
      inputs: 3,
      polarisations: 1,
      inputType: 'cf32',
      outputType: 'cf32',
      coefficients: new Float64Array(8).fill(1),
      gains: 12.5,
      blockSamples: 64,
      mostDelaySamples: 4,
    });
    const tone = { ...noise('cf32', 3, 64, randomStream(1)), voltages: allocateVoltages('cf32', 3, 64) };
    for (let n = 0; n < 3 * 64; n++) {
      tone.voltages[2 * n] = Math.cos((2 * Math.PI * 2 * n) / 8);
      tone.voltages[2 * n + 1] = Math.sin((2 * Math.PI * 2 * n) / 8);
    }
    const delayModel = delayModels(3);
    const piece = { fromTick: 0n, delayRate: 0, phaseRad: 0, phaseRateRadS: 0 };
    delayModel.load(0, { ...piece, delayS: 3 }); // −6/8 of a turn: (0, 100)
    delayModel.load(1, { ...piece, delayS: 2.25 }); // −4.5/8: (cos 157.5°, sin 157.5°)
    delayModel.load(2, { ...piece, delayS: -1, phaseRad: Math.PI / 2 }); // 2/8 and a quarter: (−100, 0)
    for (const [zeroHz, turn] of [
      [0, [1, 0]],
      [1 / 3, [NaN, NaN]],
    ] as const) {
      const delays = delaysOf(plan, delayModel, { sampleRateHz: 1, zeroHz });
      const { blocks, produced } = await channeliseDelayed(plan, backend(), tone, [], delays);
      assert.equal(produced, 7); // (64 − 4) / 8, less what the last four samples are kept for
      // Channel 4 + 2, spectrum 1: the first one of inputs 0 and 1 begins before the stream.
      const at = (a: number): number[] => [...blocks[0].spectra].slice(2 * ((6 * 3 + a) * 7 + 1)).slice(0, 2);
      const expected =
        turn[0] === 1
          ? [
              [0, 100],
              [-92.38795, 38.26834],
              [-100, 0],
            ]
          : // −3/3, −2.25/3 and 1/3 of a turn more.
            [
              [0, 100],
              [-38.26834, -92.38795],
              [50, -86.60254],
            ];
      expected.forEach(([re, im], a) => {
        assert.ok(
          Math.hypot(at(a)[0] - re, at(a)[1] - im) < 1e-3,
          `input ${a}: ${at(a).join()} not ${re},${im}`,
        );
      });
      assert.deepEqual(
        blocks[0].gaps.map(({ firstInput, endInput, firstSample, endSample }) => [
          firstInput,
          endInput,
          firstSample,
          endSample,
        ]),
        [
          [0, 1, 0, 1],
          [1, 2, 0, 1],
        ],
      );
    }
  });

  theCase('delays: a stream cut anywhere gives the same', async () => {
    const plan = planChannelise({ ...bytes, channels: 6, taps: 3, blockSamples: 300, mostDelaySamples: 9 });
    const whole = withGaps(noise('ci8', 4, 300, randomStream(52)), [
      { firstInput: 1, endInput: 2, firstSample: 77, endSample: 95 },
    ]);
    const delays = delaysOf(plan, someDelays(plan, 3));
    const inOne = await channeliseDelayed(plan, backend(), whole, [], delays);
    assertClose(plan, inOne, await channeliseDelayed(plan, openReference(), whole, [], delays));
    const rows = ({ blocks }: Channelised): number[][] =>
      Array.from({ length: plan.channels * plan.inputs }, (_, row) =>
        blocks.flatMap(({ samples, spectra }) => [
          ...spectra.subarray(row * samples * 2, (row + 1) * samples * 2),
        ]),
      );
    for (const lengths of [[1, 8, 6, 7, 80, 3], [18], Array.from({ length: 299 }, () => 1)]) {
      const pieces = await channeliseDelayed(plan, backend(), whole, lengths, delays);
      assert.deepEqual(rows(pieces), rows(inOne));
    }
  });

  theCase('delays: given where planned, and only there', async () => {
    const planned = planChannelise({ ...bytes, channels: 4, taps: 2, blockSamples: 16, mostDelaySamples: 2 });
    const plain = planChannelise({ ...bytes, channels: 4, taps: 2, blockSamples: 16 });
    const block = { ...noise('ci8', 4, 16, randomStream(53)), start: instant(0) };
    const { delays } = delaysOf(planned, delayModels(4)).from(0);
    for (const [plan, given, message] of [
      [planned, undefined, /no delays/],
      [plain, delays, /a plan without/],
      [planned, { ...delays, shiftSamples: Int32Array.of(0, 3, 0, 0) }, /a delay in samples is 3/],
      [planned, { ...delays, turns: new Float64Array(3) }, /delays of 4 inputs/],
    ] as const) {
      const channeliser = await prepareChanneliser(plan, backend());
      const out = backend().allocateSpectra(plan.output);
      await assert.rejects(async () => channeliser.run(block, out, given), message);
      await channeliser.close();
      await out.close();
    }
  });

  phaseCases(theCase, backend);
}
