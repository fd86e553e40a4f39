/** The shared cases on a card, and tests of its own kernels; without one all of it is skipped, with a message. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeCuda, openCuda, type CudaBackend } from '../../backend/cuda/cuda.js';
import { cellsIn } from '../../backend/cuda/power-cells.js';
import { cellsOfSpectra, plainSums } from '../../backend/cuda/testing/power-sums.js';
import { uploadArray, uploadInto } from '../../backend/cuda/transfer.js';
import { allocateSpectra } from '../../core/axes.js';
import type { SpectraGap } from '../../core/gaps.js';
import { randomStream } from '../../core/random.js';
import { kurtosisCases } from '../cases.js';
import { prepareFlagger } from '../index.js';
import { planKurtosis, windowEdges } from '../plan.js';
import { allKinds, noisySpectra, without } from '../samples.testing.js';
import { areWholeCells } from './plan.js';
import { cudaPowers } from './prepare.js';

const presence = describeCuda();

if (!presence.present) {
  it('the flagger on a card', { skip: `${presence.reason}; ${presence.fix}` }, () => undefined);
} else {
  describe('cuda flagger', () => {
    kurtosisCases(() => openCuda());
  });
  describe('sums on a card', onCard);
}

function onCard(): void {
  let cuda: CudaBackend;
  before(async () => {
    cuda = await openCuda();
  });
  after(() => cuda.close());

  for (const type of ['ci8', 'ci4', 'cf32'] as const) {
    const flaggedInputs = new Uint8Array(38);
    flaggedInputs.set([1, 1], 20);
    const shape = { type, channels: 5, inputs: 38, polarisations: 2 } as const;
    const plan = planKurtosis({ ...shape, spectraPerWindow: 64, realChannels: 1, flaggedInputs });

    it(`${type}: as plain loops have them`, async () => {
      const random = randomStream(12, type);
      const engine = await cudaPowers(plan, cuda);
      // The second block finds the first one's sums in the same memory.
      for (const samples of [403, 64, 403, 257, 64]) {
        const block = cuda.allocateSpectra({ ...shape, capacity: 450 });
        await block.write(allocateSpectra(type, 5, 38, 450).fill(85), 450);
        const spectra = noisySpectra({ ...shape, samples }, random, allKinds);
        await block.write(spectra, samples);
        const edges = windowEdges(plan, samples);
        const sums = await engine.begin(block, edges)();
        const wanted = plainSums(spectra, plan, edges);
        assert.equal(sums.length, wanted.length);
        sums.forEach((sum, n) => {
          assert.ok(Math.abs(sum - wanted[n]) <= (type === 'cf32' ? 1e-12 : 0) * wanted[n], `sum ${n}`);
        });
        await block.close();
      }
      await engine.close();
    });

    it(`${type}: from powers beside the block as from the block`, async () => {
      const random = randomStream(14, type);
      const wide = { ...shape, channels: 71 };
      // Reversed, to distinguish places from channels.
      const channelsAt = Int32Array.from({ length: wide.channels }, (_, place) => wide.channels - 1 - place);
      const channels = await uploadArray(cuda.session, 'channels', channelsAt);
      // Windows of one cell each, or three, or of floats eight times as many; the last sixteen spectra are incomplete.
      for (const [spectraPerWindow, samples] of [
        [128, 512],
        [128, 505],
        [800, 1200],
      ]) {
        const widePlan = planKurtosis({ ...wide, spectraPerWindow });
        const engine = await cudaPowers(widePlan, cuda);
        const powers = { ...cellsIn(type, samples, spectraPerWindow), channels };
        const block = cuda.allocateSpectra({ ...wide, capacity: samples + 4, powers: spectraPerWindow });
        // Some floats are too weak to square their powers in float32.
        const spectra = noisySpectra({ ...wide, samples }, random, (c, a, t) => ({
          ...allKinds(c, a, t),
          ...(type === 'cf32' && c === 3 && { noise: 1e-14 * (a + 1) }),
        }));
        await block.write(spectra, samples);
        const edges = windowEdges(widePlan, samples);
        const wanted = (await engine.begin(block, edges)()).slice();
        const cells = cellsOfSpectra(await block.read(), wide, samples, powers.cells, channelsAt);
        assert.ok(block.powersBuffer);
        await uploadInto(cuda.session, block.powersBuffer, cells);
        block.doneWriting(cuda.session.streams.compute, samples, [], { powers });
        const sums = await engine.begin(block, edges)();
        if (type === 'cf32') {
          assert.equal(sums.length, wanted.length);
          sums.forEach((sum, n) => {
            assert.ok(Math.abs(sum - wanted[n]) <= 2e-6 * wanted[n], `sum ${n}: ${sum}, ${wanted[n]}`);
          });
        } else assert.deepEqual(sums, wanted, `${samples} spectra`);
        // The sums come from the power cells: other cells give other sums. Windows that begin inside a cell are summed
        // from the block.
        await uploadInto(cuda.session, block.powersBuffer, cells.fill(0n));
        assert.ok((await engine.begin(block, edges)()).every((sum) => sum === 0));
        const others = Int32Array.of(0, 24, samples);
        assert.ok(!areWholeCells(others, samples, powers));
        const two = (await engine.begin(block, others)()).slice();
        // Zeros were written over the block since: its cells are stale.
        block.addGaps(cuda.session.streams.compute, []);
        assert.deepEqual(await engine.begin(block, others)(), two);
        assert.deepEqual(await engine.begin(block, edges)(), wanted);
        await block.close();
        await engine.close();
      }
      await channels.close();
    });

    it(`${type}: three blocks begun at once are decided as one after the other`, async () => {
      const random = randomStream(13, type);
      const gap: SpectraGap = {
        firstChannel: 1,
        endChannel: 4,
        firstInput: 4,
        endInput: 30,
        firstSample: 60,
        endSample: 131,
      };
      const rounds = Array.from({ length: 5 }, (_, n) => {
        const samples = [403, 23, 320][n % 3];
        const gaps = n === 2 ? [gap] : [];
        const spectra = noisySpectra({ ...shape, samples }, random, (c, a, t) => ({
          noise: c === n && a % 3 === 0 && t % 40 < 4 ? 4 : 1,
          carrier: 0,
        }));
        return { samples, gaps, spectra: without(spectra, { ...shape, samples }, gaps) };
      });
      const blocks = rounds.map(() => cuda.allocateSpectra({ ...shape, capacity: 410 }));
      const write = async (): Promise<void> => {
        for (const [n, { spectra, samples, gaps }] of rounds.entries())
          await blocks[n].write(spectra, samples, gaps);
      };
      const flagger = await prepareFlagger(plan, cuda, { blocks: 3 });
      await write();
      const wanted = [];
      for (const block of blocks)
        wanted.push({
          decision: await flagger.run(block),
          gaps: block.gaps,
          spectra: await block.read(),
        });
      await write();
      const decisions = [];
      for (const [n, block] of blocks.entries()) {
        flagger.begin(block);
        if (n >= 2) decisions.push(await flagger.finish());
      }
      for (let n = 0; n < 2; n++) decisions.push(await flagger.finish());
      for (const [n, block] of blocks.entries()) {
        assert.deepEqual(decisions[n], wanted[n].decision, `block ${n}`);
        assert.deepEqual(block.gaps, wanted[n].gaps);
        assert.deepEqual(await block.read(), wanted[n].spectra);
      }
      assert.ok(decisions[0].boxes.length > 0);
      await flagger.close();
      for (const block of blocks) await block.close();
    });
  }
}
