import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { voltagesAT } from '../core/axes.js';
import { nothingToClose } from '../core/closing.js';
import { secondsBetween, type Instant } from '../core/instant.js';
import type { VoltageSource } from '../core/sources.js';
import { textOf } from '../messages/index.js';
import type { Telescope } from '../telescope/telescope.js';
import { boardsOf, loseSamples, openSimulated } from './simulated.js';

const telescope = {
  title: 'ten stations',
  stations: Array.from({ length: 10 }, (_, n) => ({ name: `s${n}`, eastM: n, northM: 0, upM: 0 })),
  polarisations: 2,
} as unknown as Telescope;

const ones = (inputs: number, samples: number) =>
  voltagesAT(new Int8Array(2 * inputs * samples).fill(1), 'ci8', inputs, samples);

describe('boards of a simulated sky', () => {
  it('have eight stations each, the last the rest, and every input once', () => {
    assert.deepEqual(
      boardsOf(telescope).map(({ name, firstInput, endInput }) => [name, firstInput, endInput]),
      [
        ['board 1', 0, 16],
        ['board 2', 16, 20],
      ],
    );
  });

  it('lose whole slots: zero, listed, and counted', () => {
    const boards = boardsOf(telescope);
    const block = { type: 'ci8', inputs: 20, samples: 25, voltages: ones(20, 25) } as const;
    // Twenty draws, ten per board: the second slot of the first board and the last of the second are lost.
    let draw = 0;
    const gaps = loseSamples(block, boards, { percent: 10, silent: [] }, () =>
      [1, 19].includes(draw++) ? 0.0999 : 0.1,
    );
    assert.deepEqual(gaps, [
      // 25 samples in ten slots: the second from 2.5 to 5, the last from 22.5 to 25, halves rounded up.
      { firstInput: 0, endInput: 16, firstSample: 3, endSample: 5 },
      { firstInput: 16, endInput: 20, firstSample: 23, endSample: 25 },
    ]);
    const lost = (input: number, sample: number): boolean =>
      gaps.some(
        (gap) =>
          input >= gap.firstInput &&
          input < gap.endInput &&
          sample >= gap.firstSample &&
          sample < gap.endSample,
      );
    block.voltages.forEach((value, k) => {
      const [input, sample] = [Math.floor(k / 50), Math.floor((k % 50) / 2)];
      assert.equal(value, lost(input, sample) ? 0 : 1, `input ${input}, sample ${sample}`);
    });
    assert.deepEqual(
      boards.map(({ placed, missing }) => [placed, missing]),
      [
        [9, 1],
        [9, 1],
      ],
    );
  });

  it('that are silent lose everything, the others nothing', () => {
    const boards = boardsOf(telescope);
    const block = { type: 'ci8', inputs: 20, samples: 10, voltages: ones(20, 10) } as const;
    loseSamples(block, boards, { percent: 0, silent: ['board 2'] }, () => 0);
    assert.deepEqual(
      boards.map(({ placed, missing }) => [placed, missing]),
      [
        [10, 0],
        [0, 10],
      ],
    );
    assert.ok(block.voltages.subarray(0, 320).every((value) => value === 1));
    assert.ok(block.voltages.subarray(320).every((value) => value === 0));
  });
});

describe('a simulated input', () => {
  /** Simulated time that advances only by waiting; making samples takes none. */
  function opened(blocks: number) {
    const clock = { seconds: 1000 };
    const said: string[] = [];
    const now = (): Instant => ({
      unixSeconds: Math.floor(clock.seconds),
      fraction: clock.seconds - Math.floor(clock.seconds),
    });
    const from = (start: Instant): VoltageSource => ({
      kind: 'voltages',
      type: 'ci8',
      inputs: 20,
      polarisations: 2,
      start,
      close: nothingToClose,
      sampleRateHz: 1000,
      centreFrequencyHz: 50e6,
      async *blocks(samples) {
        for (let n = 0; n < blocks; n++)
          yield await Promise.resolve({
            type: 'ci8',
            inputs: 20,
            samples,
            voltages: ones(20, samples),
            gaps: [],
            start,
          });
      },
    });
    const input = openSimulated({
      telescope,
      from,
      now,
      seed: 1,
      say: (line) => said.push(textOf(line)),
      losses: { percent: 0, silent: [] },
      wait: (seconds) => {
        clock.seconds += seconds;
        return Promise.resolve();
      },
    });
    return { input, clock, said };
  }

  it('hands samples on when they would have been taken, and counts what is lost on request', async () => {
    const { input, clock, said } = opened(30);
    let taken = 0;
    for await (const source of input.sessions()) {
      assert.equal(source.start.unixSeconds, 1001);
      assert.equal(source.kind, 'voltages');
      for await (const block of source.blocks(1e6)) {
        // A tenth of a second at a thousand samples a second.
        assert.equal(block.samples, 100);
        assert.ok(Math.abs(secondsBetween(source.start, block.start) - taken / 10) < 1e-9);
        taken++;
        assert.ok(Math.abs(clock.seconds - (1001 + taken / 10)) < 1e-6, 'not before its last sample');
        assert.equal(block.gaps.length, taken > 10 && taken <= 20 ? 10 : 0, `block ${taken}`);
        if (taken === 10) input.losses.set({ percent: 0, silent: ['board 1'] });
        if (taken === 20) input.losses.set({ percent: 0, silent: [] });
      }
    }
    assert.equal(taken, 30);
    assert.deepEqual(said, []);
    const { senders, packets, missingCells, blocks } = input.packets?.() ?? {};
    assert.deepEqual([packets, missingCells, blocks], [500, 100, 30]);
    assert.deepEqual(
      senders?.map(({ name, outcomes, missingCells: missing }) => [name, outcomes.placed, missing]),
      [
        ['board 1', 200, 100],
        ['board 2', 300, 0],
      ],
    );
  });

  it('states once that the machine is too slow', async () => {
    const { input, clock, said } = opened(5);
    for await (const source of input.sessions()) {
      if (source.kind !== 'voltages') return;
      for await (const block of source.blocks(1e6)) {
        assert.ok(block.samples > 0);
        clock.seconds += 4;
      }
    }
    assert.equal(said.length, 1);
    assert.match(said[0], /the simulation is 4 s behind the clock/);
  });

  it('refuses losses that cannot be', () => {
    const { input } = opened(1);
    assert.throws(() => {
      input.losses.set({ percent: 101, silent: [] });
    }, /losses\.percent: is 101; give a number from 0 to 100/);
    assert.throws(() => {
      input.losses.set({ percent: 0, silent: ['board 3'] });
    }, /'board 3' is not a board; choose from board 1, board 2/);
    assert.deepEqual(input.losses.now(), { percent: 0, silent: [] });
  });
});
