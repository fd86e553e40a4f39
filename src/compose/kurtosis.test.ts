/** Flagged samples are out of the sums and of the counts, exactly: compared with plain loops over the rest. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Backend } from '../backend/backend.js';
import { openCpu } from '../backend/cpu/cpu.js';
import { loadNative } from '../backend/cpu/library.js';
import { cpuSpectra } from '../backend/cpu/spectra.js';
import { openReference } from '../backend/reference.js';
import { allocateVoltages, baselineIndex, type SpectraCAT } from '../core/axes.js';
import type { Integration, VoltageBlock } from '../core/blocks.js';
import type { SpectraGap } from '../core/gaps.js';
import { instant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { planChannelise, prepareChanneliser } from '../channelise/index.js';
import { planKurtosis, prepareFlagger, type KurtosisTally } from '../kurtosis/index.js';
import { prepareVoltageCorrelation } from './index.js';
import { prepareChannelise, prepareKurtosis, type TimedSpectra } from '../stages/index.js';

const INPUTS = 6;
const RATE_HZ = 1e6;
const channels = 8;
const SPECTRA = 700;

/** Noise of two polarisations and three stations, with a hole in one of them, and pulses at one frequency in one input. */
function voltages(): VoltageBlock {
  const samples = SPECTRA * channels;
  const made = allocateVoltages('ci8', INPUTS, samples);
  const random = randomStream(3, 'pulses');
  for (let a = 0; a < INPUTS; a++)
    for (let t = 0; t < samples; t++) {
      const pulse = a === 3 && t % 800 < 80 ? 60 : 0;
      const angle = (2 * Math.PI * t) / 8;
      made[2 * (a * samples + t)] = Math.round(20 * random.gaussian() + pulse * Math.cos(angle));
      made[2 * (a * samples + t) + 1] = Math.round(20 * random.gaussian() + pulse * Math.sin(angle));
    }
  const gap = { firstInput: 1, endInput: 2, firstSample: 1000, endSample: 1400 };
  made.fill(0, 2 * (samples + 1000), 2 * (samples + 1400));
  return { type: 'ci8', inputs: INPUTS, samples, voltages: made, gaps: [gap], start: instant(0) };
}

async function check(backend: Backend): Promise<void> {
  const block = voltages();
  const plan = planChannelise({
    channels,
    taps: 4,
    inputs: INPUTS,
    polarisations: 2,
    inputType: 'ci8',
    outputType: 'ci8',
    blockSamples: block.samples,
  });
  const source = {
    kind: 'voltages',
    type: 'ci8',
    inputs: INPUTS,
    polarisations: 2,
    sampleRateHz: RATE_HZ,
    centreFrequencyHz: 50e6,
    start: instant(0),
    blocks: () => [block],
  } as unknown as Parameters<typeof prepareVoltageCorrelation>[0];
  let tally: KurtosisTally | undefined;
  const stage = await prepareVoltageCorrelation(source, plan, {
    backend,
    align: 'first-sample',
    kurtosis: {
      spectraPerWindow: 64,
      onPlan: (_, made) => {
        tally = made;
      },
    },
  });
  const integrations: Integration[] = [];
  const keep = (one: Integration): Promise<void> => {
    integrations.push(one);
    return Promise.resolve();
  };
  await stage.push(block, keep);
  await stage.flush(keep);
  await stage.close();
  const [integration] = integrations;
  const { visibilities, counts, productCounts } = integration;
  assert.ok(productCounts);

  // The same spectra, and the mask alone; then products one by one.
  const reference = openReference();
  const spectra = reference.allocateSpectra(plan.output);
  const channeliser = await prepareChanneliser(plan, reference);
  await channeliser.run(block, spectra);
  const whole = await spectra.read();
  const missing = spectra.gaps;
  const flagger = await prepareFlagger(
    planKurtosis({ type: 'ci8', channels, inputs: INPUTS, polarisations: 2, spectraPerWindow: 64 }),
    reference,
  );
  const { mask, edges } = await flagger.run(spectra);
  assert.ok(mask.includes(1));
  const { samples } = spectra;
  const gone = (a: number, t: number): boolean =>
    missing.some(
      ({ firstInput, endInput, firstSample, endSample }) =>
        a >= firstInput && a < endInput && t >= firstSample && t < endSample,
    );
  const isMasked = (c: number, a: number, t: number): boolean => {
    const w = edges.findIndex((edge, n) => n + 1 < edges.length && t >= edge && t < edges[n + 1]);
    return mask[(w * channels + c) * INPUTS + a] === 1;
  };
  let taken = 0;
  let halves = 0;
  for (let c = 0; c < channels; c++) {
    const there = Array.from({ length: INPUTS }, (_, a) =>
      Array.from({ length: samples }, (__, t) => !isMasked(c, a, t) && !gone(a, t)),
    );
    for (let a = 0; a < INPUTS; a++)
      for (let t = 0; t < samples; t++) if (isMasked(c, a, t) && !gone(a, t)) taken++;
    for (let i = 0; i < 3; i++)
      for (let j = 0; j <= i; j++) {
        const b = c * 6 + baselineIndex(i, j);
        const own = [0, 0, 0, 0];
        const sums = new Float64Array(8);
        for (let product = 0; product < 4; product++) {
          const [a, a2] = [2 * i + (product >> 1), 2 * j + (product & 1)];
          for (let t = 0; t < samples; t++) {
            if (!there[a][t] || !there[a2][t]) continue;
            own[product]++;
            const x = ((c * INPUTS + a) * samples + t) * 2;
            const y = ((c * INPUTS + a2) * samples + t) * 2;
            sums[2 * product] += whole[x] * whole[y] + whole[x + 1] * whole[y + 1];
            sums[2 * product + 1] += whole[x + 1] * whole[y] - whole[x] * whole[y + 1];
          }
        }
        if (own.some((count) => count !== own[0])) halves++;
        const where = `channel ${c}, pair ${i} ${j}`;
        assert.deepEqual([...productCounts.subarray(4 * b, 4 * b + 4)], own, where);
        assert.equal(counts[b], Math.max(...own), where);
        if (backend.kind === 'reference')
          assert.deepEqual([...visibilities.subarray(8 * b, 8 * b + 8)], [...sums], where);
      }
  }
  // The hole is in one polarisation: X loses nothing by it.
  assert.ok(halves > 0);
  // Counted apart from missing samples.
  assert.equal(tally?.account().flagged, taken);
}

describe('spectral kurtosis before the correlator', () => {
  it('reference: sums and counts of what is left, as plain loops have them', () => check(openReference()));

  const library = loadNative();
  it('cpu: the same counts', { skip: 'what' in library ? library.what : false }, async () => {
    const cpu = await openCpu({ threads: 2 });
    await check(cpu);
    await cpu.close();
  });

  it('cpu: floats are summed on their way, and tested as by a walk over the block', async (t) => {
    if ('what' in library) {
      t.skip(library.what);
      return;
    }
    const cpu = await openCpu({ threads: 2 });
    const block = voltages();
    const plan = planChannelise({
      channels,
      taps: 4,
      inputs: INPUTS,
      polarisations: 2,
      inputType: 'ci8',
      outputType: 'cf32',
      blockSamples: block.samples,
    });
    const source = { start: instant(0), sampleRateHz: RATE_HZ, polarisations: 2 } as const;
    const made: [gaps: readonly SpectraGap[], spectra: SpectraCAT][] = [];
    for (const powers of [undefined, 60]) {
      const channelise = await prepareChannelise({
        backend: cpu,
        plan,
        source,
        clock: { cutAfter: () => Infinity },
        ...(powers && { powers }),
      });
      const flagger = await prepareKurtosis(
        { ...plan.output, polarisations: 2 },
        { backend: cpu, kurtosis: { spectraPerWindow: 60 }, flaggedInputs: undefined },
      );
      const keep = async ({ block: flagged }: TimedSpectra): Promise<void> => {
        made.push([flagged.gaps, await flagged.read()]);
      };
      await channelise.push(block, async (timed) => {
        assert.equal(cpuSpectra('test', timed.block).powers !== undefined, powers !== undefined);
        await flagger.push(timed, keep);
      });
      await flagger.flush(keep);
      await flagger.close();
      await channelise.close();
    }
    assert.ok(made[0][0].length > 1);
    assert.deepEqual(made[1], made[0]);
    await cpu.close();
  });
});
