import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { parseInstant } from '../core/instant.js';
import { openFile } from '../formats/index.js';
import { trio } from '../formats/testing/trio.js';
import { skyFrame } from '../sky/frame.js';
import { simulate } from '../sky/simulate.js';
import { planSimulation } from '../sky/simulation-plan.js';
import { sourceAt } from '../sky/source.js';
import { recordSimulation } from './record.js';

it('a simulated sky is recorded sample by sample, with the truth beside it', async () => {
  const folder = temporaryFolder('record');
  try {
    const start = parseInstant('2026-06-21T04:00:00');
    const source = sourceAt(skyFrame(trio.site, start), 60, 90, 500, 'spot');
    const plan = planSimulation({
      telescope: trio,
      start,
      samples: 5000,
      sampleRateHz: 1e6,
      centreFrequencyHz: 160e6,
      type: 'ci8',
      sources: [source],
      systemFluxJy: 100,
      seed: 11,
      dropFraction: 0.2,
    });
    const path = join(folder, 'sky.sigmf-meta');
    const progress: number[] = [];
    const facts = await recordSimulation(plan, path, {
      history: ['a test'],
      onProgress: ({ done, of = NaN }) => void progress.push(done / of),
    });
    assert.equal(progress.at(-1), 1);
    const opened = await openFile(path);
    assert.ok(opened.kind === 'voltages');
    let missing = 0;
    for await (const wanted of simulate(plan, 5000)) {
      for await (const { voltages, gaps } of opened.blocks(5000)) {
        assert.deepEqual(voltages, wanted.voltages);
        for (const gap of gaps)
          missing += (gap.endInput - gap.firstInput) * (gap.endSample - gap.firstSample);
      }
    }
    await opened.close();
    assert.ok(missing > 0);
    assert.equal(facts.missingSamples, missing);
    const { simulation } = opened.details.corella as { simulation: Record<string, unknown> };
    assert.deepEqual(simulation, {
      seed: 11,
      systemFluxJy: 100,
      countsPerRootJy: plan.countsPerRootJy,
      sources: [
        {
          name: 'spot',
          ...source.position(skyFrame(trio.site, start)),
          fluxJy: 500,
          stokes: { q: 0, u: 0, v: 0 },
        },
      ],
      inputGains: plan.inputGains,
    });
    assert.deepEqual([opened.telescope, opened.history], [trio, ['a test']]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
