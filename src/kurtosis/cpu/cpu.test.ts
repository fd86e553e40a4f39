import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openCpu } from '../../backend/cpu/cpu.js';
import { compiledLevels } from '../../backend/cpu/compiled.testing.js';
import { loadNative } from '../../backend/cpu/library.js';
import { writePowers } from '../../backend/cpu/powers.testing.js';
import { allocateSpectra } from '../../core/axes.js';
import { zeroGaps } from '../../core/gaps.js';
import { randomStream } from '../../core/random.js';
import { kurtosisCases } from '../cases.js';
import { planKurtosis, windowEdges } from '../plan.js';
import { noisySpectra } from '../samples.testing.js';
import { cpuPowers } from './prepare.js';

const library = loadNative();

describe('cpu flagger', { skip: 'what' in library ? library.what : false }, () => {
  for (const isa of compiledLevels(library)) {
    describe(`at level ${isa}`, () => {
      kurtosisCases(() => openCpu({ isa, threads: 2 }));
    });
  }

  it('sums are whole numbers at full scale over the longest window, four bits and eight', async () => {
    const samples = 65_536;
    // |127 + 127i|² = 32,258; −128 and −8 occur in foreign recordings. Four bits are packed two to a byte.
    for (const [type, byte, power] of [
      ['ci8', 127, 32_258],
      ['ci8', -128, 32_768],
      ['ci4', 0x77, 98],
      ['ci4', 0x88, 128],
    ] as const)
      for (const isa of compiledLevels(library)) {
        const cpu = await openCpu({ isa, threads: 2 });
        const block = cpu.allocateSpectra({ type, channels: 1, inputs: 2, capacity: samples });
        await block.write(allocateSpectra(type, 1, 2, samples).fill(byte), samples);
        const engine = cpuPowers(planKurtosis({ type, channels: 1, inputs: 2, polarisations: 1 }), cpu);
        const sums = await engine.begin(block, Int32Array.of(0, samples))();
        const [s1, s2] = [power * samples, power ** 2 * samples];
        assert.deepEqual([...sums.subarray(0, 4)], [s1, s2, s1, s2], `${type} of ${byte} at ${isa}`);
        await block.close();
        await cpu.close();
      }
  });

  for (const type of ['ci8', 'ci4', 'cf32'] as const)
    it(`${type}: sums from powers beside the block are those of the block itself`, async () => {
      const shape = { type, channels: 7, inputs: 38, polarisations: 2 } as const;
      const random = randomStream(13, type);
      for (const isa of compiledLevels(library))
        for (const threads of [1, 3])
          for (const spectraPerWindow of [24, 60, 256]) {
            const plan = planKurtosis({ ...shape, spectraPerWindow });
            const cpu = await openCpu({ isa, threads });
            const engines = [cpuPowers(plan, cpu), cpuPowers(plan, cpu)];
            for (const samples of [512, 403, 61, 25]) {
              const spectra = noisySpectra({ ...shape, samples }, random, (c, a) => ({
                // A dead input, weak and strong ones, and floats whose squares are outside float32's range.
                noise: a === 5 ? 0 : type === 'cf32' && c === 3 ? 1e-14 * (a + 1) : 0.02 + 0.2 * a,
                carrier: c === 4 && a > 30 ? 0.5 : 0,
              }));
              const plain = cpu.allocateSpectra({ ...shape, capacity: samples + 3 });
              const beside = cpu.allocateSpectra({
                ...shape,
                capacity: samples + 3,
                powers: spectraPerWindow,
              });
              await plain.write(spectra, samples);
              await beside.write(spectra, samples);
              await writePowers(beside);
              const edges = windowEdges(plan, samples);
              const wanted = await engines[0].begin(plain, edges)();
              const made = await engines[1].begin(beside, edges)();
              const length = (edges.length - 1) * shape.channels * shape.inputs * 2;
              if (type === 'cf32') {
                for (let n = 0; n < length; n++)
                  assert.ok(Math.abs(made[n] - wanted[n]) <= 2e-6 * wanted[n], `sum ${n}`);
              } else assert.deepEqual(made.subarray(0, length), wanted.subarray(0, length));
              // Powers are stale after zeroing: of an input alone, two neighbours, two in different tiles, and a last
              // one.
              const cells = length / 2;
              const taken = [39, 41, 42, 53, 54, cells - 1];
              const boxes = taken.map((at) => {
                const [w, c] = [Math.floor(at / 38 / 7), Math.floor(at / 38) % 7];
                return {
                  firstChannel: c,
                  endChannel: c + 1,
                  firstInput: at % 38,
                  endInput: (at % 38) + 1,
                  firstSample: edges[w],
                  endSample: edges[w + 1],
                };
              });
              boxes.push({ ...boxes[0], firstChannel: 3, endChannel: 6, firstInput: 10, endInput: 35 });
              for (const [n, block] of [plain, beside].entries()) await engines[n].take(block, boxes);
              zeroGaps(spectra, { ...shape, samples }, boxes);
              assert.deepEqual(await plain.read(), spectra);
              assert.equal(beside.powers, undefined);
              const again = await engines[1].begin(beside, edges)();
              assert.deepEqual([...again.subarray(78, 80)], [0, 0]);
              assert.deepEqual(await beside.read(), await plain.read());
              await plain.close();
              await beside.close();
            }
            await cpu.close();
          }
    });
});
