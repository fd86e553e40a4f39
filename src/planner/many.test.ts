import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manyMachines } from './many.js';
import { planImaging, type KernelCosts } from './planner.js';
import { workloadOf } from './workload.js';

const cost = (secondsPerUnit: number) => ({ secondsPerUnit, basis: 'measured' }) as const;
const costsTimes = (times: number): KernelCosts => ({
  channelise: cost(1e-8 * times),
  correlate: cost(2e-7 * times),
  calibrate: cost(0),
  image: cost(0),
  'direct image': cost(1),
  finish: cost(0),
  beams: cost(0),
});

describe('many machines', () => {
  const stations = [0, 1, 2, 3].map((n) => ({
    name: `s${n}`,
    eastM: 10 * (n % 2),
    northM: 10 * (n >> 1),
    upM: 0,
  }));
  const workload = workloadOf({
    telescope: {
      name: 'square',
      title: 'a square',
      stations,
      polarisations: 2,
      beamExponent: 0,
      site: { latitudeDeg: 0, longitudeDeg: 0, heightM: 0 },
      band: { lowHz: 1e6, highHz: 1e9 },
      recording: { centreFrequencyHz: 29.5e6, sampleRateHz: 1e6, channels: 10, bits: 4 },
    },
    input: 'voltages',
    taps: 8,
    cadenceS: 0.1,
    calibrateEveryS: 10,
    pixels: 64,
    field: { kind: 'all-sky' },
    kernelSize: 5,
  });
  const machine = { title: 'a machine', countedAs: 'machine', memoryBytes: 1e12 } as const;

  it('one where it is enough: rates by hand', () => {
    // A channel of 100 kHz, 8 inputs, two numbers of 4 bits: 6.4 Mb/s. Recorded with 8 bits: 1e6 · 8 · 2 bytes per
    // second. An integration: 10 channels, 10 baselines, 4 complex products and a count of 8 bytes each, every 10 s.
    assert.deepEqual(manyMachines(planImaging(workload, costsTimes(1), machine)), {
      telescope: { machines: 1, channels: 10, toEachBitsPerS: 6.4e7, toAllBitsPerS: 6.4e7 },
      recordings: { workers: 1, readBytesPerS: 1.6e7, resultBytesPerS: 720 },
    });
  });

  it('as many as the load asks for, the channels shared', () => {
    // 0.28 of a machine, ten times: 2.8, at most 95 % each.
    const { telescope, recordings } = manyMachines(planImaging(workload, costsTimes(10), machine));
    assert.deepEqual([telescope.machines, telescope.channels, recordings.workers], [3, 4, 3]);
    assert.equal(telescope.toEachBitsPerS, 4 * 6.4e6);
  });
});
