import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openCpu } from '../../backend/cpu/cpu.js';
import { levelsUpTo } from '../../backend/cpu/levels.js';
import { loadNative } from '../../backend/cpu/library.js';
import { allocateSpectra } from '../../core/axes.js';
import { kurtosisCases } from '../cases.js';
import { planKurtosis } from '../plan.js';
import { cpuPowers } from './prepare.js';

const library = loadNative();

describe('cpu flagger', { skip: 'what' in library ? library.what : false }, () => {
  for (const isa of levelsUpTo('best' in library ? library.best : 'portable')) {
    describe(`at level ${isa}`, () => {
      kurtosisCases(() => openCpu({ isa, threads: 2 }));
    });
  }

  it('sums are whole numbers at full scale over the longest window', async () => {
    const cpu = await openCpu({ threads: 2 });
    const samples = 65_536;
    const block = cpu.allocateSpectra({ type: 'ci8', channels: 1, inputs: 2, capacity: samples });
    await block.write(allocateSpectra('ci8', 1, 2, samples).fill(127), samples);
    const engine = cpuPowers(planKurtosis({ type: 'ci8', channels: 1, inputs: 2, polarisations: 1 }), cpu);
    const sums = await engine.sums(block, Int32Array.of(0, samples));
    // |127 + 127i|² = 32,258
    const [s1, s2] = [32_258 * samples, 32_258 ** 2 * samples];
    assert.deepEqual([...sums.subarray(0, 4)], [s1, s2, s1, s2]);
    await block.close();
    await cpu.close();
  });
});
