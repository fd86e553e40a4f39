/** Threads go on from a block's filling to its sums by themselves: what is judged is what is judged of a block that waits. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openCpu } from '../../backend/cpu/cpu.js';
import { loadNative } from '../../backend/cpu/library.js';
import { cpuSpectra, type CpuSpectraBlock } from '../../backend/cpu/spectra.js';
import { planChannelise, prepareChanneliser } from '../../channelise/index.js';
import { allocateVoltages, type SpectraType } from '../../core/axes.js';
import type { VoltageBlock } from '../../core/blocks.js';
import { instant } from '../../core/instant.js';
import { randomStream } from '../../core/random.js';
import { planKurtosis, prepareFlagger, type Judgement } from '../../kurtosis/index.js';

const library = loadNative();
const CHANNELS = 8;
const TAPS = 2;
const INPUTS = 20;
const WINDOW = 128;
const SPECTRA = 640;
/** Whole blocks, a shorter one, one too short for any window, and whole ones again. */
const LENGTHS = [SPECTRA, SPECTRA, SPECTRA, SPECTRA, 400, 5, SPECTRA, SPECTRA];

/** Noise, and in one input and another pulses that come and go with the blocks. */
function voltagesOf(n: number, spectra: number): VoltageBlock {
  // The filter's first window takes more.
  const samples = (spectra + (n === 0 ? TAPS - 1 : 0)) * CHANNELS;
  const made = allocateVoltages('ci8', INPUTS, samples);
  const random = randomStream(n, 'follower');
  for (let a = 0; a < INPUTS; a++)
    for (let t = 0; t < samples; t++) {
      const rms = a % 7 === n % 7 && t % 900 < 90 ? 50 : 12;
      for (let part = 0; part < 2; part++)
        made[2 * (a * samples + t) + part] = Math.max(-127, Math.min(127, rms * random.gaussian()));
    }
  return { type: 'ci8', inputs: INPUTS, samples, voltages: made, gaps: [], start: instant(0) };
}

async function prepare(outputType: SpectraType, threads: number) {
  const cpu = await openCpu({ threads });
  const plan = planChannelise({
    ...{ channels: CHANNELS, taps: TAPS, inputs: INPUTS, polarisations: 2, inputType: 'ci8', outputType },
    blockSamples: (SPECTRA + TAPS - 1) * CHANNELS,
  });
  const judging = planKurtosis({
    ...{ type: outputType, channels: CHANNELS, inputs: INPUTS, polarisations: 2, spectraPerWindow: WINDOW },
  });
  const allocate = (): CpuSpectraBlock =>
    cpuSpectra('test', cpu.allocateSpectra({ ...plan.output, powers: WINDOW }));
  return {
    cpu,
    allocate,
    channeliser: () => prepareChanneliser(plan, cpu),
    flagger: () => prepareFlagger(judging, cpu),
  };
}

describe(
  'threads that follow a block',
  { skip: 'what' in library ? library.what : false, concurrency: 1 },
  () => {
    for (const outputType of ['ci8', 'ci4', 'cf32'] as const)
      for (const threads of [1, 3, 6])
        it(`judge the same of ${outputType}, ${threads} of them`, async () => {
          const { cpu, allocate, ...made } = await prepare(outputType, threads);
          const [again, once] = [await made.channeliser(), await made.channeliser()];
          const [flagger, other] = [await made.flagger(), await made.flagger()];
          const block = allocate();
          const followed: boolean[] = [];
          let taken = 0;
          for (const [n, spectra] of LENGTHS.entries()) {
            const voltages = voltagesOf(n, spectra);
            await again.run(voltages, block);
            assert.equal(block.samples, spectra);
            followed.push(block.followedBy !== undefined);
            const fresh = allocate();
            await once.run(voltages, fresh);
            const [got, wanted]: Judgement[] = [await flagger.run(block), await other.run(fresh)];
            assert.equal(fresh.followedBy, undefined);
            assert.deepEqual(got.taken, wanted.taken);
            assert.deepEqual(block.gaps, fresh.gaps);
            assert.deepEqual(await block.read(), await fresh.read());
            taken += got.taken.length;
            await fresh.close();
          }
          // From the second time on it has a room of its own; what is shorter is summed when asked for, and so is what follows.
          assert.deepEqual(followed, [false, false, true, true, false, false, false, true]);
          assert.ok(taken > 0);
          for (const one of [again, once, flagger, other, block]) await one.close();
          await cpu.close();
        });

    it('are let go by whoever closes first', async () => {
      for (let n = 0; n < 12; n++) {
        const { cpu, allocate, ...made } = await prepare('ci8', 1 + (n % 6));
        const [channeliser, flagger] = [await made.channeliser(), await made.flagger()];
        const block = allocate();
        for (let turn = 0; turn < 3; turn++) {
          await channeliser.run(voltagesOf(turn, SPECTRA), block);
          if (turn < 2) await flagger.run(block);
        }
        // They are at work on the last, which nobody asks for.
        const { followedBy } = block;
        assert.ok(followedBy);
        const waiting = [followedBy.settled(), followedBy.settled()];
        const closing = [block, flagger, channeliser];
        for (const one of n % 2 === 0 ? closing : closing.reverse()) if (n % 3 < 2) await one.close();
        await Promise.all(waiting);
        await cpu.close();
      }
    });

    it('have nothing to do with what is written otherwise', async () => {
      const { cpu, allocate, ...made } = await prepare('ci8', 3);
      const [channeliser, flagger, other] = [
        ...[await made.channeliser(), await made.flagger(), await made.flagger()],
      ] as const;
      const block = allocate();
      for (let turn = 0; turn < 3; turn++) {
        await channeliser.run(voltagesOf(turn, SPECTRA), block);
        if (turn < 2) await flagger.run(block);
      }
      const follower = block.followedBy;
      assert.ok(follower);
      // Someone else judges the block, twice: it is not theirs.
      for (let turn = 0; turn < 2; turn++) {
        assert.ok((await other.run(block)).taken.length > 0 || turn > 0);
        assert.equal(block.follower, follower);
      }
      const fresh = allocate();
      await channeliser.run(voltagesOf(6, SPECTRA), fresh);
      await block.write(await fresh.read(), SPECTRA);
      assert.equal(block.followedBy, undefined);
      const [got, wanted] = [await flagger.run(block), await other.run(fresh)];
      assert.ok(wanted.taken.length > 0);
      assert.deepEqual(got.taken, wanted.taken);
      await fresh.close();
      for (const one of [channeliser, flagger, other, block]) await one.close();
      assert.equal(block.follower, undefined);
      await cpu.close();
    });
  },
);
