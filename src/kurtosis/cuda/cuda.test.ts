/** The shared cases on a card, and what the card sees by itself; without one all of it is skipped, saying so. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeCuda, openCuda, type CudaBackend } from '../../backend/cuda/cuda.js';
import { CELL_SPECTRA } from '../../backend/cuda/spectra.js';
import { uploadInto } from '../../backend/cuda/transfer.js';
import { allocateSpectra, type SpectraCAT } from '../../core/axes.js';
import type { SpectraShape } from '../../core/blocks.js';
import type { SpectraGap } from '../../core/gaps.js';
import { highNibble, lowNibble } from '../../core/nibbles.js';
import { randomStream } from '../../core/random.js';
import { kurtosisCases } from '../cases.js';
import { prepareFlagger } from '../index.js';
import { Judge } from '../judge.js';
import { planKurtosis, windowEdges } from '../plan.js';
import { allKinds, noisySpectra, without } from '../samples.testing.js';
import { allocateScreened, screen } from '../screen.js';
import { areWholeCells } from './plan.js';
import { cudaPowers } from './prepare.js';

const presence = describeCuda();

if (!presence.present) {
  it('the flagger on a card', { skip: `${presence.reason}; ${presence.fix}` }, () => undefined);
} else {
  describe('cuda flagger', () => {
    kurtosisCases(() => openCuda());
  });
  describe('the first look at sums on a card', onCard);
}

/** cells : [t / 16][a][k low][k high] as powers.cuh packs them, of spectra : [c][a][t]. */
function powerCells(
  spectra: SpectraCAT,
  {
    type,
    channels,
    inputs,
    samples,
  }: Pick<SpectraShape, 'type' | 'channels' | 'inputs'> & { samples: number },
  low: number,
): BigUint64Array {
  const cells = new BigUint64Array(Math.ceil(samples / CELL_SPECTRA) * inputs * channels);
  for (let c = 0; c < channels; c++) {
    for (let a = 0; a < inputs; a++) {
      for (let t = 0; t < samples; t++) {
        const at = (c * inputs + a) * samples + t;
        const [re, im] =
          type === 'ci4'
            ? [highNibble(spectra[at]), lowNibble(spectra[at])]
            : [spectra[2 * at], spectra[2 * at + 1]];
        const power = BigInt(re * re + im * im);
        const place = (c % low) * (channels / low) + Math.floor(c / low);
        cells[(Math.floor(t / CELL_SPECTRA) * inputs + a) * channels + place] +=
          ((power * power) << 20n) + power;
      }
    }
  }
  return cells;
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

    it(`${type}: as the reference does, bit for bit`, async () => {
      const random = randomStream(12, type);
      const judge = new Judge(plan);
      const engine = await cudaPowers(plan, cuda);
      // The second finds the first one's sums where its own go.
      for (const samples of [403, 64, 403, 257, 64]) {
        const block = cuda.allocateSpectra({ ...shape, capacity: 450 });
        await block.write(allocateSpectra(type, 5, 38, 450).fill(85), 450);
        await block.write(noisySpectra({ ...shape, samples }, random, allKinds), samples);
        const edges = windowEdges(plan, samples);
        const fencing = judge.fencing(edges);
        assert.ok(fencing);
        const { sums, screened } = await engine.sums(block, edges, fencing);
        assert.ok(screened);
        const expected = allocateScreened(plan, edges.length - 1);
        screen(plan, fencing, sums, expected);
        for (const key of ['marks', 'groupMarks', 'totals'] as const)
          assert.deepEqual(screened[key], expected[key], `${key} of ${samples}`);
        assert.ok(expected.marks.includes(0) && expected.marks.includes(1));
        await block.close();
      }
      await engine.close();
    });

    if (type !== 'cf32')
      it(`${type}: from powers beside the block as from the block`, async () => {
        const random = randomStream(14, type);
        const wide = { ...shape, channels: 64 };
        const widePlan = planKurtosis({ ...wide, spectraPerWindow: 64 });
        const engine = await cudaPowers(widePlan, cuda);
        const judge = new Judge(widePlan);
        // Windows of whole cells, the last one's not; then of parts of them, which the block alone has.
        for (const [samples, low] of [
          [256, 16],
          [255, 32],
          [250, 16],
          [180, 32],
        ]) {
          const block = cuda.allocateSpectra({ ...wide, capacity: 260, powers: true });
          await block.write(noisySpectra({ ...wide, samples }, random, allKinds), samples);
          const edges = windowEdges(widePlan, samples);
          const fencing = judge.fencing(edges);
          const wanted = (await engine.sums(block, edges, fencing)).sums.slice();
          const cells = powerCells(await block.read(), { ...wide, samples }, low);
          assert.ok(block.powersRoom);
          await uploadInto(cuda.session, block.powersRoom, cells);
          block.doneWriting(cuda.session.streams.compute, samples, [], { powers: { low } });
          assert.deepEqual((await engine.sums(block, edges, fencing)).sums, wanted, `${samples} spectra`);
          // What was looked at is the cells: of other ones come other sums.
          const isWhole = areWholeCells(edges, samples);
          await uploadInto(cuda.session, block.powersRoom, cells.fill(0n));
          const { sums } = await engine.sums(block, edges, fencing);
          if (isWhole) assert.ok(sums.every((sum) => sum === 0));
          else assert.deepEqual(sums, wanted);
          assert.equal(isWhole, samples === 256 || samples === 255);
          // Zeros written over the block since: its cells are no longer its own.
          block.addGaps(cuda.session.streams.compute, []);
          assert.deepEqual((await engine.sums(block, edges, fencing)).sums, wanted);
          await block.close();
        }
        await engine.close();
      });

    it(`${type}: three blocks begun at once are judged as one after the other`, async () => {
      const random = randomStream(13, type);
      const gap: SpectraGap = {
        ...{ firstChannel: 1, endChannel: 4, firstInput: 4, endInput: 30, firstSample: 60, endSample: 131 },
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
          judgement: await flagger.run(block),
          gaps: block.gaps,
          spectra: await block.read(),
        });
      await write();
      const judgements = [];
      for (const [n, block] of blocks.entries()) {
        flagger.begin(block);
        if (n >= 2) judgements.push(await flagger.finish());
      }
      for (let n = 0; n < 2; n++) judgements.push(await flagger.finish());
      for (const [n, block] of blocks.entries()) {
        assert.deepEqual(judgements[n], wanted[n].judgement, `block ${n}`);
        assert.deepEqual(block.gaps, wanted[n].gaps);
        assert.deepEqual(await block.read(), wanted[n].spectra);
      }
      assert.ok(judgements[0].taken.length > 0);
      await flagger.close();
      for (const block of blocks) await block.close();
    });
  }
}
