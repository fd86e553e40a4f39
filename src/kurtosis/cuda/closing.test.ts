/** Memory on a simulated card: all of it is closed, and only the first block allocates. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Kernel, KernelShop } from '../../backend/cuda/kernels.js';
import type { CudaSession, Stream } from '../../backend/cuda/session.js';
import { assertClosesAll, openPaper } from '../../backend/cuda/testing.js';
import { Closers } from '../../core/closing.js';
import type { SpectraGap } from '../../core/gaps.js';
import { prepareFlagger } from '../index.js';
import { planKurtosis, windowEdges } from '../plan.js';
import { sumsBytes, sumsLaunch } from './plan.js';
import { cudaPowers } from './prepare.js';
import { Zeros } from './prepare.js';

const shape = { type: 'ci8', channels: 3, inputs: 34, polarisations: 2 } as const;
const plan = planKurtosis({ ...shape, spectraPerWindow: 64 });

describe('the flagger on a card of paper', () => {
  it('closes all it opened, also where it cannot be prepared', async () => {
    assert.ok((await assertClosesAll((backend) => prepareFlagger(plan, backend))) > 5);
  });

  it('asks for memory with its first blocks alone, and shorter ones lie in it', async () => {
    const { backend, asked, held } = await openPaper('hopper');
    const blocks = 3;
    const engine = await cudaPowers(plan, backend, blocks);
    assert.equal(engine.mostBegun, blocks);
    const block = backend.allocateSpectra({ ...shape, capacity: 640 });
    const begin = (samples: number): void => {
      engine.begin(block, windowEdges(plan, samples));
    };
    for (let n = 0; n < blocks; n++) begin(640);
    const after = asked();
    for (const samples of [64, 64, 300, 640, 640, 64]) begin(samples);
    assert.equal(asked(), after);
    await engine.close();
    await block.close();
    assert.equal(held(), 0);
    await backend.close();
  });

  it('zeros, and reports it, in one stream: whoever reads the block afterwards waits for that', async () => {
    const { backend } = await openPaper('hopper');
    const seen: [string, Stream][] = [];
    const seeing =
      (what: string) =>
      (stream: Stream): void => {
        seen.push([what, stream]);
      };
    const shop: KernelShop = {
      ...backend.shop,
      prepare: async (request) => {
        const kernels = await backend.shop.prepare(request);
        for (const kernel of Object.values<Kernel>(kernels)) {
          const see = seeing(kernel.name);
          kernel.launch = (_, stream) => {
            see(stream);
          };
        }
        return kernels;
      },
    };
    const engine = await cudaPowers(plan, { ...backend, shop });
    const block = backend.allocateSpectra({ ...shape, capacity: 640 });
    const watched = { ...block, writing: seeing('writing'), addGaps: seeing('gaps') };
    const gap = { firstChannel: 0, endChannel: 1, firstInput: 0, endInput: 1, firstSample: 0, endSample: 64 };
    await engine.take(watched, [gap]);
    assert.deepEqual(
      seen.map(([what]) => what),
      ['writing', 'zeroBoxes', 'gaps'],
    );
    assert.equal(new Set(seen.map(([, stream]) => stream)).size, 1);
    await engine.close();
    await block.close();
    await backend.close();
  });

  it('keeps so much on the card', () => {
    // 10 windows × 3 channels: 34 inputs of 16 bytes.
    assert.equal(sumsBytes(plan, 10), 10 * 3 * 34 * 16);
    // 102 rows, 32 at a time.
    assert.deepEqual(sumsLaunch(plan, 10), { grid: [4 * 10, 1], threads: 256 });
  });

  it('zeros all of its boxes and nothing else, in as many lists as it takes', async () => {
    const box = (c: number, endC: number, a: number, endA: number, t: number): SpectraGap => ({
      firstChannel: c,
      endChannel: endC,
      firstInput: a,
      endInput: endA,
      firstSample: t,
      endSample: t + 64,
    });
    const boxes = [box(0, 1, 3, 4, 0), box(1, 5, 0, 70, 64), box(7, 8, 69, 70, 0), box(0, 130, 5, 6, 128)];
    const covered = (all: readonly SpectraGap[]): Map<string, number> => {
      const cells = new Map<string, number>();
      for (const one of all)
        for (let c = one.firstChannel; c < one.endChannel; c++)
          for (let a = one.firstInput; a < one.endInput; a++) {
            const key = `${c} ${a} ${one.firstSample} ${one.endSample}`;
            cells.set(key, (cells.get(key) ?? 0) + 1);
          }
      return cells;
    };
    for (const [most, launches] of [
      [2, 2],
      [4, 1],
      [1, 4],
      [100, 1],
    ]) {
      const { backend } = await openPaper('hopper');
      const { session } = backend;
      const closers = new Closers();
      const pieces: SpectraGap[] = [];
      let launched = 0;
      let given: readonly (number | bigint | null)[] = [];
      const lists = new Map<bigint, Int32Array>();
      const watched = Object.create(session) as CudaSession;
      watched.allocatePinned = (what, bytes) => {
        const memory = session.allocatePinned(what, bytes);
        lists.set(memory.pointer, memory.view(Int32Array, bytes / 4));
        return memory;
      };
      const kernel: Kernel = {
        name: 'zeroBoxes',
        argument: () => assert.fail('no structures'),
        set: (values) => {
          given = values;
        },
        launch: () => {
          launched++;
          const numbers = lists.get(given[3] as bigint) ?? new Int32Array(0);
          for (let n = 0; n < Number(given[4]); n++) {
            const [c, endC, a, endA, t, end] = numbers.subarray(6 * n, 6 * n + 6);
            assert.equal(end, t + 64);
            pieces.push(box(c, endC, a, endA, t));
          }
        },
      };
      const block = backend.allocateSpectra({ type: 'ci8', channels: 130, inputs: 70, capacity: 192 });
      await new Zeros(kernel, watched, session.streams.compute, closers, most).write(block, boxes);
      assert.deepEqual(covered(pieces), covered(boxes));
      assert.equal(launched, launches);
      await closers.close();
      await block.close();
      await backend.close();
    }
  });
});
