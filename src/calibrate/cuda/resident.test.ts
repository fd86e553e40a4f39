/** Calibration that stays on the card: the shared cases, and what only it has. Without a card all of it is skipped, saying so. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeCuda, openCuda, type CudaBackend } from '../../backend/cuda/cuda.js';
import { openReference } from '../../backend/reference.js';
import { downloadInto, uploadArray } from '../../backend/cuda/transfer.js';
import { baselineCount, baselineIndex } from '../../core/axes.js';
import { calibrateCases, calibrationSample, type CalibrationSample, type PrepareCase } from '../cases.js';
import {
  modelVisibilities,
  planCalibration,
  prepareCalibrator,
  type Calibration,
  type CalibrationOptions,
  type CalibrationPlan,
  type ModelComponent,
  type SolveBatch,
} from '../index.js';
import { prepareResidentCalibrator, type ResidentOptions } from './resident.js';
import { solveCalibration } from '../solve.js';

const presence = describeCuda();
if (!presence.present) {
  it('calibration that stays on a card', { skip: `${presence.reason}; ${presence.fix}` }, () => undefined);
} else {
  describe('cuda, resident', () => {
    calibrateCases(() => openCuda(), {
      prepare: (plan, backend, sample) => prepareOnCard(plan, backend as CudaBackend, sample),
      refusesEmptyChannels: 'a live chain has data in every channel: one without any is a fault to be told',
    });
    whatOnlyItHas();
  });
}

async function prepareOnCard(
  plan: CalibrationPlan,
  backend: CudaBackend,
  { sky, input }: Pick<CalibrationSample, 'sky' | 'input'>,
  options: Partial<ResidentOptions> = {},
): ReturnType<PrepareCase> {
  const { session } = backend;
  const { flaggedInputs } = input;
  const calibrator = await prepareResidentCalibrator(plan, backend, { ...sky, flaggedInputs, ...options });
  await calibrator.setSky(sky.components);
  return {
    close: () => calibrator.close(),
    solve: async ({ visibilities, counts }) => {
      const sums = await uploadArray(session, 'visibilities', visibilities);
      const samples = await uploadArray(session, 'counts', counts);
      calibrator.solve({ visibilities: sums.pointer, counts: samples.pointer });
      try {
        return await calibrator.read();
      } finally {
        await sums.close();
        await samples.close();
      }
    },
  };
}

const until = { kind: 'until', tolerance: 1e-6, most: 500 } as const;

function whatOnlyItHas(): void {
  let backend: CudaBackend;
  before(async () => {
    backend = await openCuda();
  });
  after(() => backend.close());

  const shape = { stations: 21, polarisations: 2, channels: 5 } as const;
  const sampleOf = (change: (sample: CalibrationSample) => void = () => undefined): CalibrationSample => {
    const sample = calibrationSample({ seed: 9, noiseJy: 0.1, ...shape });
    change(sample);
    return sample;
  };
  const onCard = async (
    sample: CalibrationSample,
    options: Partial<CalibrationOptions> = {},
    resident: Partial<ResidentOptions> = {},
  ): Promise<Calibration> => {
    const plan = planCalibration({ ...shape, iterations: until, ...options });
    const calibrator = await prepareOnCard(plan, backend, sample, resident);
    try {
      return await calibrator.solve(sample.input);
    } finally {
      await calibrator.close();
    }
  };
  const onHost = async (
    { input }: CalibrationSample,
    options: Partial<CalibrationOptions> = {},
  ): Promise<Calibration> =>
    (
      await prepareCalibrator(planCalibration({ ...shape, iterations: until, ...options }), openReference())
    ).solve(input);
  const assertAlike = (found: Calibration, wanted: Calibration): void => {
    assert.deepEqual(found.solved, wanted.solved);
    assert.equal(found.referenceStation, wanted.referenceStation);
    for (const [n, value] of wanted.gains.entries()) {
      if (Number.isNaN(value)) assert.ok(Number.isNaN(found.gains[n]));
      else assert.ok(Math.abs(found.gains[n] - value) < 1e-5, `gain element ${n}`);
    }
    for (const [k, solution] of wanted.solutions.entries()) {
      assert.deepEqual(found.solutions[k].leftOut, solution.leftOut);
      assert.ok(Math.abs(found.solutions[k].residual - solution.residual) < 1e-5);
      assert.equal(found.solutions[k].converged, solution.converged);
    }
  };
  /** No samples between the stations of these pairs. */
  const cut = ({ input }: CalibrationSample, keeps: (c: number, i: number, j: number) => boolean): void => {
    for (let c = 0; c < shape.channels; c++) {
      for (let i = 0; i < shape.stations; i++) {
        for (let j = 0; j < i; j++) {
          if (!keeps(c, i, j)) input.counts[c * baselineCount(shape.stations) + baselineIndex(i, j)] = 0;
        }
      }
    }
  };

  it('makes the same R, M and weights as the host', async () => {
    // More sources than a tile holds, a short baseline left out, autocorrelations in.
    const components = Array.from({ length: 19 }, (_, q): ModelComponent => {
      const [x, y] = [0.7 * Math.cos(q), 0.6 * Math.sin(1.7 * q)];
      return {
        directionEnu: { x, y, z: Math.sqrt(1 - x * x - y * y) },
        fluxJy: Float64Array.from({ length: shape.channels }, (_, c) => 1 + ((q * 7 + c) % 5)),
        beam: 0.5 + q / 40,
        fractionQ: q / 50,
      };
    });
    const { input, sky } = sampleOf();
    const options = { autos: 'include', shortest: { stationsM: sky.stationsM, minimumM: 60 } } as const;
    const plan = planCalibration({ ...shape, iterations: until, ...options });
    input.flaggedInputs[5] = 1;
    const whole = { ...sky, components };
    let wanted: SolveBatch | undefined;
    await solveCalibration(
      plan,
      (batch) => {
        wanted = batch;
        return Promise.resolve();
      },
      { ...input, model: modelVisibilities(whole) },
    );
    assert.ok(wanted);
    const { session } = backend;
    const calibrator = await prepareResidentCalibrator(plan, backend, {
      ...sky,
      flaggedInputs: input.flaggedInputs,
    });
    await calibrator.setSky(components);
    const sums = await uploadArray(session, 'visibilities', input.visibilities);
    const counts = await uploadArray(session, 'counts', input.counts);
    calibrator.solve({ visibilities: sums.pointer, counts: counts.pointer });
    for (const name of ['data', 'model', 'weights'] as const) {
      const found = new Float64Array(wanted[name].length).fill(Number.NaN);
      await downloadInto(session, calibrator.batch[name], found);
      const largest = wanted[name].reduce((most, value) => Math.max(most, Math.abs(value)), 0);
      // phases of some thousand radians, each right to 1e-16 of itself
      for (const [n, value] of wanted[name].entries()) {
        assert.ok(Math.abs(found[n] - value) <= 1e-11 * largest, `${name} ${n}: ${found[n]}, not ${value}`);
      }
    }
    await calibrator.close();
    await sums.close();
    await counts.close();
  });

  it('a few channels at a time give the same as all at once', async () => {
    const sample = sampleOf(({ input }) => {
      input.flaggedInputs.set([1], 8);
    });
    assertAlike(await onCard(sample, {}, { channelsAtOnce: 2 }), await onHost(sample));
  });

  it('leaves out what nothing determines, one after the other, for the same reasons', async () => {
    // In channel 1, 4 has samples with 3 alone, and 3 with 2 and 4; 2 is flagged, and 3 and 4 say nothing together: out goes
    // 3, and 4 has nobody left. Station 7 is silent.
    const sample = sampleOf((made) => {
      made.input.flaggedInputs.set([1, 1], 2 * 2);
      const partners = new Map([
        [3, [2, 4]],
        [4, [3]],
      ]);
      const isPartner = (i: number, j: number): boolean => partners.get(i)?.includes(j) ?? true;
      cut(made, (c, i, j) => c !== 1 || (isPartner(i, j) && isPartner(j, i)));
      const silence = (i: number, j: number): void => {
        const b = baselineCount(shape.stations) + baselineIndex(Math.max(i, j), Math.min(i, j));
        made.input.visibilities.fill(0, 8 * b, 8 * (b + 1));
      };
      silence(4, 3);
      for (let s = 0; s < shape.stations; s++) if (s !== 7) silence(7, s);
    });
    const wanted = await onHost(sample, { referenceStation: 9 });
    const reasons = wanted.solutions[2].leftOut.map(({ station, reason }) => [station, reason]);
    assert.deepEqual(reasons, [
      [2, 'flagged'],
      [3, 'no signal'],
      [4, 'no baselines'],
      [7, 'no signal'],
    ]);
    assertAlike(await onCard(sample, { referenceStation: 9 }), wanted);
  });

  it('hands over 1 / gain, and 0 for what is not known', async () => {
    const { input, sky } = sampleOf(({ input: made }) => {
      made.flaggedInputs.set([1], 6);
    });
    const plan = planCalibration({ ...shape, iterations: { kind: 'fixed', count: 20 } });
    const { session } = backend;
    const calibrator = await prepareResidentCalibrator(plan, backend, {
      ...sky,
      flaggedInputs: input.flaggedInputs,
    });
    await calibrator.setSky(sky.components);
    const sums = await uploadArray(session, 'visibilities', input.visibilities);
    const counts = await uploadArray(session, 'counts', input.counts);
    calibrator.solve({ visibilities: sums.pointer, counts: counts.pointer });
    const inputs = 2 * shape.stations * shape.channels;
    const [gains, factors] = [new Float64Array(2 * inputs), new Float64Array(2 * inputs)];
    const solved = new Uint8Array(inputs);
    await downloadInto(session, calibrator.gains, gains);
    await downloadInto(session, calibrator.factors, factors);
    await downloadInto(session, calibrator.solved, solved);
    for (let a = 0; a < inputs; a++) {
      const [re, im] = gains.subarray(2 * a, 2 * a + 2);
      const [x, y] = factors.subarray(2 * a, 2 * a + 2);
      const isFlagged = a % (2 * shape.stations) === 6;
      assert.equal(solved[a], isFlagged ? 0 : 1);
      if (isFlagged) assert.deepEqual([re, im, x, y], [0, 0, 0, 0]);
      else assert.ok(Math.abs(re * x - im * y - 1) < 1e-12 && Math.abs(re * y + im * x) < 1e-12);
    }
    await calibrator.close();
    await sums.close();
    await counts.close();
  });

  it('refuses what the host refuses', async () => {
    const cases: [Parameters<typeof sampleOf>[0], RegExp][] = [
      [
        ({ input }) =>
          input.visibilities.fill(Number.NaN, 8 * baselineIndex(12, 3), 8 * baselineIndex(12, 3) + 1),
        /polarisation X: the visibility of stations 12 and 3 is not a finite number/,
      ],
      [({ input }) => input.counts.fill(-1, 17, 18), /the sample count of stations 5 and 2 is/],
      [
        (made) => {
          cut(made, (c, i, j) => (c === 0 ? i < 8 : j > 10));
        },
        /no station is good in every channel and polarisation/,
      ],
    ];
    for (const [change, message] of cases) {
      const sample = sampleOf(change);
      await assert.rejects(onHost(sample), message);
      await assert.rejects(onCard(sample), message);
    }
  });

  it('refuses a channel of too few stations, which the host leaves unsolved', async () => {
    const sample = sampleOf((made) => {
      cut(made, (c, i) => c !== 3 || i < 2);
    });
    await onHost(sample);
    await assert.rejects(onCard(sample), /channel 3.*: 2 of 21 stations/);
  });

  it('refuses what it cannot do', async () => {
    const sample = sampleOf();
    await assert.rejects(
      onCard(sample, { iterations: { kind: 'until', tolerance: 1e-8, most: 100 } }),
      /finer than float32/,
    );
    await assert.rejects(onCard(sample, {}, { mostSources: 1 }), /2 sources/);
    await assert.rejects(onCard(sample, {}, { stationsM: [] }), /0 positions where the plan has 21/);
    const dark = {
      ...sample,
      sky: { ...sample.sky, components: sample.sky.components.map((one) => ({ ...one, beam: 0 })) },
    };
    await assert.rejects(onCard(dark), /the model is zero on every baseline/);
  });
}
