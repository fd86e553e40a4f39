import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertClosesAll } from '../backend/cuda/testing.js';
import { openReference } from '../backend/reference.js';
import { countsCB, visibilitiesCBPP, voltagesAT } from '../core/axes.js';
import type { Integration, VoltageBlock } from '../core/blocks.js';
import { addSamples, instant, secondsBetween } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import type { VoltageRecording } from '../formats/index.js';
import { planChannels, type Account } from '../stages/index.js';
import { correlateVoltages, prepareVoltageCorrelation } from './correlate.js';
import { voltagesInMemory } from '../stages/testing.js';

const RATE_HZ = 1000;
const SAMPLES = 205;

/** Two stations of one polarisation; five samples of the second are missing. */
function recording(): VoltageRecording {
  const random = randomStream(3, 'correlate test');
  const values = Int8Array.from({ length: 2 * SAMPLES * 2 }, () => random.below(201) - 100);
  values.fill(0, 2 * (SAMPLES + 100), 2 * (SAMPLES + 105));
  const whole: VoltageBlock = {
    type: 'ci8',
    inputs: 2,
    samples: SAMPLES,
    voltages: voltagesAT(values, 'ci8', 2, SAMPLES),
    gaps: [{ firstInput: 1, endInput: 2, firstSample: 100, endSample: 105 }],
    start: instant(50),
  };
  return voltagesInMemory(whole, { polarisations: 1, sampleRateHz: RATE_HZ, centreFrequencyHz: 1e6 });
}

async function run(integrationS?: number): Promise<{ all: Integration[]; tally: Account }> {
  const source = recording();
  const plan = planChannels(source, { channels: 4, taps: 3, outputType: 'ci8' });
  const backend = openReference();
  const all: Integration[] = [];
  const settings = { backend, integrationS };
  const tally = await correlateVoltages(source, plan, settings, (one) => {
    all.push(one);
    return Promise.resolve();
  });
  return { all, tally };
}

describe('from a recording to integrations', () => {
  it('uses every whole spectrum once, and counts what was missing', async () => {
    const { all, tally } = await run();
    // 205 samples are 51 spectra of 4, less 2 under the filter's first window: 49.
    assert.equal(tally.spectra, 49);
    assert.equal(tally.samplesIn, SAMPLES);
    assert.equal(tally.missingSamples, 5);
    assert.equal(all.length, 1);
    // Samples 100…104 are in windows of 12 samples that start at 92, 96, 100 and 104: four spectra.
    assert.deepEqual([...all[0].counts.subarray(0, 3)], [49, 45, 45]);
    // The first spectrum's middle is 5.5 samples in, and the integration begins half a spectrum before it.
    assert.ok(Math.abs(secondsBetween(addSamples(instant(50), 3.5, RATE_HZ), all[0].start)) < 1e-12);
    assert.ok(Math.abs(all[0].durationS - (49 * 4) / RATE_HZ) < 1e-12);
  });

  it('ends integrations where asked; their sums are the sum of one long one', async () => {
    const inOne = await run();
    const whole = inOne.all[0];
    // 40 ms are 10 spectra: four whole integrations and one of 9.
    const { all, tally } = await run(0.04);
    assert.deepEqual(
      all.map(({ durationS }) => Math.round((durationS * RATE_HZ) / 4)),
      [10, 10, 10, 10, 9],
    );
    assert.equal(tally.spectra, 49);
    assert.ok(tally.saturated > 0, 'voltages this loud are meant to hit the rails');
    assert.equal(tally.saturated, inOne.tally.saturated);
    const sums = visibilitiesCBPP(new Float64Array(whole.visibilities.length), 4, 3, 1);
    const counts = countsCB(new Float64Array(whole.counts.length), 4, 3);
    for (const one of all) {
      one.visibilities.forEach((value, k) => (sums[k] += value));
      one.counts.forEach((value, k) => (counts[k] += value));
    }
    assert.deepEqual(sums, whole.visibilities);
    assert.deepEqual(counts, whole.counts);
    assert.ok(Math.abs(secondsBetween(all[0].start, all[1].start) - 0.04) < 1e-12);
  });

  it('refuses integrations shorter than a spectrum and recordings shorter than the filter', async () => {
    await assert.rejects(run(0.001), /shorter than one spectrum/);
    const source = recording();
    const plan = planChannels(source, { channels: 64, taps: 8, outputType: 'ci8' });
    const refused = correlateVoltages(source, plan, { backend: openReference() }, () => Promise.resolve());
    await assert.rejects(refused, /fewer than one spectrum of 64 channels and 8 taps/);
  });

  it('prepared on a card, closes all it opened, also where it cannot be prepared', async () => {
    const source = recording();
    const plan = planChannels(source, { channels: 4, taps: 3, outputType: 'ci8' });
    const places = await assertClosesAll((backend) => prepareVoltageCorrelation(source, plan, { backend }));
    assert.ok(places > 20);
  });
});
