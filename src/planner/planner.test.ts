/** The planner against hand calculations: every number is derived next to it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { loadTelescope } from '../telescope/load.js';
import type { Telescope } from '../telescope/telescope.js';
import { cardCosts, cardMachine, cards, findCard, interpolate } from './cards.js';
import { choosePiece, runPlan } from './run.js';
import { machineOf, measureCosts } from './measure-costs.js';
import { planImaging, workPerSecond, type KernelCosts, type Machine } from './planner.js';
import { workloadOf, type Workload, type WorkloadOptions } from './workload.js';

/** Four stations in a square of 10 m. */
const square: Telescope = {
  name: 'square',
  title: 'a square',
  site: { latitudeDeg: 0, longitudeDeg: 0, heightM: 0 },
  stations: [
    [0, 0],
    [10, 0],
    [0, 10],
    [10, 10],
  ].map(([eastM, northM], n) => ({ name: `s${n}`, eastM, northM, upM: 0 })),
  polarisations: 2,
  band: { lowHz: 1e6, highHz: 1e9 },
  recording: { centreFrequencyHz: 29.5e6, sampleRateHz: 1e6, channels: 10, bits: 8 },
  beamExponent: 0,
};

const asked = (options: Partial<WorkloadOptions> = {}): Workload =>
  workloadOf({
    telescope: square,
    input: 'voltages',
    taps: 8,
    cadenceS: 0.1,
    calibrateEveryS: 10,
    pixels: 64,
    field: { kind: 'all-sky' },
    kernelSize: 5,
    ...options,
  });

const cost = (secondsPerUnit: number) => ({ secondsPerUnit, basis: 'measured' }) as const;
const costs: KernelCosts = {
  channelise: cost(1e-8),
  correlate: cost(2e-7),
  calibrate: cost(1e-2),
  image: cost(1e-3),
  'direct image': cost(1e-6),
  finish: cost(1e-4),
  beams: cost(1e-9),
};
const machine: Machine = {
  title: 'a machine',
  countedAs: 'card',
  memoryBytes: 1e9,
  bus: { upBytesPerS: 1e9, downBytesPerS: 1e8 },
};

describe('a workload', () => {
  it('takes the stations and band of the telescope by default', () => {
    const workload = asked();
    assert.equal(workload.channelWidthHz, 1e5);
    assert.equal(workload.highestHz, 30e6); // 29.5 + 10 × 0.1 / 2
    // 10 m at 30 MHz (λ = 9.993 m) is 1.0007 wavelengths; cells are 1/2.3 wavelength: ⌈2.3016⌉ + 5
    assert.equal(workload.apertureCells, 8);
    assert.equal(asked({ channels: 4, channelWidthHz: 5e4 }).highestHz, 29.6e6);
  });
  it('leaves out an outrigger that alone spoils the fit, and reports which', () => {
    const outrigger = { name: 'far', eastM: 2000, northM: 0, upM: 0 };
    const many = Array.from({ length: 99 }, (_, n) => ({ ...square.stations[n % 4], name: `s${n}` }));
    const workload = asked({ telescope: { ...square, stations: [...many, outrigger] } });
    assert.deepEqual(workload.leftOut, ['far']);
    assert.equal(workload.stations, 100);
    assert.equal(workload.imagedM.length, 99);
  });
  it('refuses an array that fits no grid, with a size that would do', () => {
    const wide = { ...square, stations: square.stations.map((s) => ({ ...s, eastM: 50 * s.eastM })) };
    // 500 m: 115.1 cells + 5 + 2 → 128; 64 pixels hold 57 / 115.1 of them, 2 · asin 0.495 = 59.4°, and a little less
    assert.throws(
      () => asked({ telescope: wide }),
      /needs 123 grid cells .*; take products\.images\.pixels: 124 or products\.images\.field: 59\.1$/,
    );
    assert.ok(asked({ telescope: wide, field: { kind: 'field', widthDeg: 59.1 } }).apertureCells + 2 <= 64);
    // 30° on either side is half of the sky's cosines: 121 cells less 5 for the kernel become 58, plus 5 again.
    assert.equal(asked({ telescope: wide, pixels: 128 }).apertureCells, 121);
    const half = { kind: 'field', widthDeg: 60 } as const;
    assert.equal(asked({ telescope: wide, pixels: 128, field: half }).apertureCells, 63);
  });
  it('refuses images faster than spectra', () => {
    assert.throws(() => asked({ cadenceS: 1e-6 }), /cadence in seconds is 0.000001/);
  });
});

describe('loads', () => {
  it('count the units of each kernel by hand', () => {
    const work = Object.fromEntries(workPerSecond('visibilities', asked()));
    assert.equal(work.channelise, 8e6); // 10 channels × 10⁵ spectra/s × 8 inputs
    assert.equal(work.correlate, 1e6); // 10 × 10⁵
    assert.equal(work.image, 100); // 10 channels / 0.1 s
    assert.equal(work.calibrate, 2); // 10 × 2 solves / 10 s
    const direct = Object.fromEntries(workPerSecond('direct', asked({ input: 'spectra' })));
    assert.equal(direct.channelise, undefined);
    assert.equal(direct['direct image'], 1e6);
    assert.equal(direct.correlate, 1e4); // 0.1 s of every 10 s, for the gains
    assert.equal(direct.finish, 100);
    assert.equal(direct.beams, undefined);
    const beside = Object.fromEntries(workPerSecond('direct', asked({ beams: 6 })));
    assert.equal(beside.beams, 6e6); // 6 × 10 × 10⁵
  });
  it('add up, and decide how many machines and which method', () => {
    const plan = planImaging(asked(), costs, machine);
    const { visibilities, direct } = plan.methods;
    // channelise 8e6 × 1e-8 = 0.08; correlate 1e6 × 2e-7 = 0.2; image 100 × 1e-3 = 0.1; calibrate 2 × 1e-2 = 0.02
    assert.ok(Math.abs(visibilities.load - 0.4) < 1e-12);
    // channelise 0.08; correlate 1e4 × 2e-7 = 0.002; direct 1e6 × 1e-6 = 1; finish 100 × 1e-4 = 0.01; calibrate 0.02
    assert.ok(Math.abs(direct.load - 1.112) < 1e-12);
    assert.equal(visibilities.machines, 1);
    assert.equal(direct.machines, 2);
    assert.equal(direct.boundBy, 'kernels');
    assert.equal(plan.cheaper, 'visibilities');
    // up 8e6 samples × 2 bytes; down 10 channels × 4 products × 64² × 8 bytes / 0.1 s = 13.1072 MB/s of 100
    assert.equal(visibilities.bus.upBytesPerS, 16e6);
    assert.equal(visibilities.bus.downBytesPerS, 13_107_200);
    assert.ok(Math.abs(visibilities.bus.load - 0.131072) < 1e-12);
    // 10 (1e-3 − 1e-4) / (1e6 (1e-6 − 2e-7)) = 0.009 / 0.8
    assert.ok(Math.abs((plan.crossoverCadenceS ?? 0) - 0.01125) < 1e-12);
  });
  it('cross over where both methods cost the same', () => {
    const cadenceS = planImaging(asked(), costs, machine).crossoverCadenceS ?? 0;
    // without the solver's share of correlation, which the crossing leaves out
    const rare = { calibrateEveryS: 1e9 };
    const near = (factor: number) =>
      planImaging(asked({ cadenceS: cadenceS * factor, ...rare }), costs, machine);
    assert.equal(near(0.99).cheaper, 'direct');
    assert.equal(near(1.01).cheaper, 'visibilities');
  });
  it('let the bus decide where it is the narrowest', () => {
    const narrow = { ...machine, bus: { upBytesPerS: 4e6, downBytesPerS: 1e9 } };
    const { visibilities } = planImaging(asked(), costs, narrow).methods;
    assert.equal(visibilities.boundBy, 'bus');
    assert.equal(visibilities.machines, 5); // 16 / 4 = 4 buses' worth at 95 %: 4.2
    const bare: Machine = { title: 'no bus', countedAs: 'machine', memoryBytes: 1e9 };
    assert.equal(planImaging(asked(), costs, bare).methods.visibilities.bus.load, 0);
  });
  it('let memory decide where it is short', () => {
    const { visibilities } = planImaging(asked(), costs, { ...machine, memoryBytes: 1e6 }).methods;
    assert.equal(visibilities.boundBy, 'memory');
  });
});

describe('cards', () => {
  it('interpolate between measured sizes', () => {
    const points = [
      [1, 10],
      [4, 30],
    ] as const;
    assert.equal(interpolate(points, 2), 20); // halfway in log
    assert.equal(interpolate(points, 0.5), 10);
    assert.equal(interpolate(points, 9), 30);
  });
  it('hold all of LWA-SV on one H200 by both methods, correlating far cheaper at an image in ten seconds', async () => {
    const workload = asked({
      telescope: await loadTelescope('lwasv'),
      channels: 792,
      channelWidthHz: 25e3,
      centreFrequencyHz: 35e6,
      cadenceS: 10,
      pixels: 128,
      input: 'spectra',
    });
    assert.equal(workload.leftOut.length, 1); // the outrigger
    const card = cards.h200;
    const plan = planImaging(workload, cardCosts(card, workload), cardMachine(card));
    const { visibilities, direct } = plan.methods;
    assert.equal(visibilities.machines, 1);
    assert.equal(direct.machines, 1);
    assert.equal(plan.cheaper, 'visibilities');
    assert.ok(visibilities.load < direct.load / 4);
    // correlate: 8 · 512 · 513 / 2 operations per channel and spectrum, 19.8e6 of them, at 1188e12 per second
    const correlate = visibilities.kernels.find(({ kernel }) => kernel === 'correlate');
    assert.ok(Math.abs((correlate?.load ?? 0) - (19.8e6 * 1_050_624) / 1188e12) < 1e-6);
    assert.ok(plan.crossoverCadenceS !== undefined && plan.crossoverCadenceS < 1);
  });
  it('predict LWA-SV on an H200 as it ran there, within a fifth', async () => {
    const card = cards.h200;
    const telescope = await loadTelescope('lwasv');
    const lwasv = { telescope, channels: 132, channelWidthHz: 25e3, cadenceS: 0.04, pixels: 128 };
    // milliseconds per image
    for (const [input, method, measuredMs] of [
      ['voltages', 'visibilities', 5.67],
      ['voltages', 'direct', 4.75],
      ['spectra', 'direct', 4.86],
    ] as const) {
      const workload = asked({ ...lwasv, input });
      const plan = planImaging(workload, cardCosts(card, workload), cardMachine(card));
      const { load, bus } = plan.methods[method];
      const predictedMs = 40 * Math.max(load, bus.load);
      assert.ok(Math.abs(predictedMs / measuredMs - 1) < 0.2, `${method}, ${input}: ${predictedMs} ms`);
    }
  });
  it('channelise as they were measured: kernels of their own by channels and taps', () => {
    for (const [channels, taps, samplesPerS] of [
      [1024, 8, 371e9],
      [1024, 16, 310e9],
      [4096, 8, 298e9],
      [4096, 16, 228e9],
    ] as const) {
      const { channelise } = cardCosts(cards.h200, asked({ channels, taps }));
      assert.ok(Math.abs(channelise.secondsPerUnit * samplesPerS - 1) < 0.01, `${channels}, ${taps}`);
      assert.equal(channelise.basis, 'measured');
    }
    const { channelise } = cardCosts(cards.h200, asked({ channels: 1024, taps: 18 }));
    assert.equal(channelise.basis, 'scaled');
  });
  it('refuse a name that has not been measured', () => {
    assert.throws(() => findCard('abacus'), /'abacus' has not been measured; choose h200/);
  });
});

describe('this machine', () => {
  it('is timed, planned for and run by both methods on the reference', async () => {
    const backend = openReference();
    const workload = asked({ pixels: 16, cadenceS: 1e-4, channels: 4, beams: 2 });
    const measured = await measureCosts(backend, workload, { secondsPerKernel: 0.002 });
    for (const [kernel, one] of Object.entries(measured)) assert.ok(one.secondsPerUnit > 0, kernel);
    const plan = planImaging(workload, measured, machineOf(backend));
    assert.ok(plan.methods.direct.load > 0);
    for (const method of ['visibilities', 'direct'] as const) {
      const run = await runPlan(method, backend, square, { plan, costs: measured, dataS: 1 });
      assert.ok(run.measuredS > 0 && run.predictedS > 0);
      assert.deepEqual(
        { channels: run.channels, spectra: run.spectra, images: run.images },
        choosePiece(method, workload, measured),
      );
    }
  });
});
