import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openCpu } from '../../backend/cpu/cpu.js';
import { levelsUpTo } from '../../backend/cpu/levels.js';
import { loadNative } from '../../backend/cpu/library.js';
import { writePowers } from '../../backend/cpu/powers.testing.js';
import { allocateSpectra } from '../../core/axes.js';
import { randomStream } from '../../core/random.js';
import { kurtosisCases } from '../cases.js';
import { Judge } from '../judge.js';
import { Judgement } from '../judging/judgement.js';
import { planKurtosis, windowEdges, type KurtosisPlan } from '../plan.js';
import { allKinds, noisySpectra } from '../samples.testing.js';
import { allocateScreened, screen } from '../screen.js';
import { cpuPowers } from './prepare.js';

const library = loadNative();

describe('cpu flagger', { skip: 'what' in library ? library.what : false }, () => {
  for (const isa of levelsUpTo('best' in library ? library.best : 'portable')) {
    describe(`at level ${isa}`, () => {
      kurtosisCases(() => openCpu({ isa, threads: 2 }));
    });
  }

  it('sums are whole numbers at full scale over the longest window, four bits and eight', async () => {
    const samples = 65_536;
    // |127 + 127i|² = 32,258; −128 and −8 come in recordings of others. Four bits are packed two to a byte.
    for (const [type, byte, power] of [
      ['ci8', 127, 32_258],
      ['ci8', -128, 32_768],
      ['ci4', 0x77, 98],
      ['ci4', 0x88, 128],
    ] as const)
      for (const isa of levelsUpTo('best' in library ? library.best : 'portable')) {
        const cpu = await openCpu({ isa, threads: 2 });
        const block = cpu.allocateSpectra({ type, channels: 1, inputs: 2, capacity: samples });
        await block.write(allocateSpectra(type, 1, 2, samples).fill(byte), samples);
        const engine = cpuPowers(planKurtosis({ type, channels: 1, inputs: 2, polarisations: 1 }), cpu);
        const { sums } = await engine.sums(block, Int32Array.of(0, samples), undefined);
        const [s1, s2] = [power * samples, power ** 2 * samples];
        assert.deepEqual([...sums.subarray(0, 4)], [s1, s2, s1, s2], `${type} of ${byte} at ${isa}`);
        await block.close();
        await cpu.close();
      }
  });

  for (const type of ['ci8', 'ci4', 'cf32'] as const)
    it(`${type}: sums are screened as the reference does, bit for bit`, async () => {
      const flaggedInputs = new Uint8Array(38);
      flaggedInputs.set([1, 1], 20);
      const shape = { type, channels: 5, inputs: 38, polarisations: 2 } as const;
      const plan = planKurtosis({ ...shape, spectraPerWindow: 64, realChannels: 1, flaggedInputs });
      const random = randomStream(12, type);
      const judge = new Judge(plan);
      const cpu = await openCpu({ threads: 2 });
      const engine = cpuPowers(plan, cpu);
      for (const samples of [403, 64]) {
        const block = cpu.allocateSpectra({ ...shape, capacity: samples });
        await block.write(noisySpectra({ ...shape, samples }, random, allKinds), samples);
        const edges = windowEdges(plan, samples);
        const fencing = judge.fencing(edges);
        assert.ok(fencing);
        const { sums, screened } = await engine.sums(block, edges, fencing);
        assert.ok(screened);
        const expected = allocateScreened(plan, edges.length - 1);
        for (const array of Object.values(expected) as (Uint8Array | Float64Array)[]) array.fill(85);
        screen(plan, fencing, sums, expected);
        for (const key of ['marks', 'groupMarks', 'totals'] as const)
          assert.deepEqual(screened[key].subarray(0, expected[key].length), expected[key], key);
        assert.ok(expected.marks.includes(0) && expected.marks.includes(1));
        await block.close();
      }
      await cpu.close();
    });

  for (const type of ['ci8', 'ci4', 'cf32'] as const)
    it(`${type}: sums from powers beside the block are those of the block itself, and screened alike`, async () => {
      const shape = { type, channels: 7, inputs: 38, polarisations: 2 } as const;
      const random = randomStream(13, type);
      for (const isa of levelsUpTo('best' in library ? library.best : 'portable'))
        for (const threads of [1, 3])
          for (const spectraPerWindow of [24, 60, 256]) {
            const plan = planKurtosis({ ...shape, spectraPerWindow });
            const cpu = await openCpu({ isa, threads });
            const judge = new Judge(plan);
            const engines = [cpuPowers(plan, cpu), cpuPowers(plan, cpu)];
            for (const samples of [512, 403, 61, 25]) {
              const spectra = noisySpectra({ ...shape, samples }, random, (c, a) => ({
                // A dead input, weak and loud ones, and of floats some that float32 cannot square.
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
              const fencing = judge.fencing(edges);
              const wanted = await engines[0].sums(plain, edges, fencing);
              const made = await engines[1].sums(beside, edges, fencing);
              const length = (edges.length - 1) * shape.channels * shape.inputs * 2;
              if (type === 'cf32') {
                for (let n = 0; n < length; n++)
                  assert.ok(Math.abs(made.sums[n] - wanted.sums[n]) <= 2e-6 * wanted.sums[n], `sum ${n}`);
              } else {
                assert.deepEqual(made.sums.subarray(0, length), wanted.sums.subarray(0, length));
                assert.ok(made.screened && wanted.screened);
                const used = allocateScreened(plan, edges.length - 1);
                for (const key of ['marks', 'groupMarks', 'totals'] as const) {
                  const { length: end } = used[key];
                  assert.deepEqual(
                    made.screened[key].subarray(0, end),
                    wanted.screened[key].subarray(0, end),
                    key,
                  );
                }
              }
              // What is zeroed leaves the powers behind: an input alone, two neighbours, two in different tiles, and a last one.
              const cells = length / 2;
              const taken = Int32Array.of(39, 41, 42, 53, 54, cells - 1);
              for (const [n, block] of [plain, beside].entries())
                await engines[n].take(block, judgementOf(plan, edges, taken), []);
              for (const at of taken) {
                const w = Math.floor(at / shape.inputs / shape.channels);
                const row = (at % (shape.inputs * shape.channels)) * samples;
                const width = type === 'ci4' ? 1 : 2;
                spectra.fill(0, (row + edges[w]) * width, (row + edges[w + 1]) * width);
              }
              assert.deepEqual(await plain.read(), spectra);
              assert.equal(beside.powers, undefined);
              const again = await engines[1].sums(beside, edges, undefined);
              assert.deepEqual([...again.sums.subarray(78, 80)], [0, 0]);
              assert.deepEqual(await beside.read(), await plain.read());
              await plain.close();
              await beside.close();
            }
            await cpu.close();
          }
    });
});

/** Only what a backend looks at. */
const judgementOf = (plan: KurtosisPlan, edges: Int32Array, taken: Int32Array): Judgement =>
  new Judgement(plan, {
    ...{ edges, taken, offending: new Int32Array(0), codes: new Uint8Array(0), presence: undefined },
    ...{ everywhere: [], common: new Int32Array(0), unjudged: 0 },
  });
