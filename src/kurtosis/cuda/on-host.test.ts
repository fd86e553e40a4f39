/** The flagger's kernels on the host, a thread for each of a card's: sums against a plain count. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cellsIn } from '../../backend/cuda/power-cells.js';
import { hostCompiler, prepareOnHost } from '../../backend/cuda/testing/on-host.js';
import { cellsOfSpectra, plainSums } from '../../backend/cuda/testing/power-sums.js';
import { closingAfter } from '../../core/closing.js';
import { zeroGaps } from '../../core/gaps.js';
import { randomStream } from '../../core/random.js';
import { packedBoxes } from '../decision.js';
import { planKurtosis, windowEdges } from '../plan.js';
import { allKinds, noisySpectra } from '../samples.testing.js';
import { areWholeCells, cellsLaunch, planPowerSums, sumsLaunch, zerosLaunch } from './plan.js';

const skip = hostCompiler === undefined && 'no compiler of C++20 was found';

describe("the flagger's kernels", { skip }, () => {
  for (const type of ['ci8', 'cf32'] as const)
    it(`${type}: sums of a block and of its powers`, () =>
      closingAfter(async (closers) => {
        const [channels, inputs, samples] = [37, 34, 700];
        const plan = planKurtosis({ type, channels, inputs, polarisations: 2, spectraPerWindow: 300 });
        const edges = windowEdges(plan, samples);
        const windows = edges.length - 1;
        const rows = channels * inputs;
        const spectra = noisySpectra({ type, channels, inputs, samples }, randomStream(3, type), allKinds);
        const expected = plainSums(spectra, plan, edges);
        const agree = (sums: Float64Array, what: string, within: number): void => {
          sums.forEach((sum, n) => {
            const off = Math.abs(sum - expected[n]);
            assert.ok(
              off <= (type === 'cf32' ? within * expected[n] : 0),
              `${what} ${n}: ${sum}, ${expected[n]}`,
            );
          });
        };
        const request = planPowerSums({ type });
        const prepare = async (entry: keyof typeof request.entries) =>
          closers.keep(await prepareOnHost(request, entry));

        const walk = await prepare('sumPowers');
        const sums = new Float64Array(2 * windows * rows).fill(NaN);
        const pitch = samples * (type === 'cf32' ? 8 : 2);
        const onCard = new Uint8Array(rows * pitch + 16);
        onCard.set(new Uint8Array(spectra.buffer, spectra.byteOffset, spectra.byteLength));
        await walk.run({ ...sumsLaunch(plan, windows), grid: [7, 1] }, [
          { memory: onCard },
          { i64: pitch },
          { memory: edges },
          { i32: windows },
          { i32: rows },
          { memory: sums },
        ]);
        agree(sums, 'sum of the block', 1e-12);

        // Channels reversed; floats outside float32's squares are summed again.
        const { cells, perWindow } = cellsIn(type, samples, plan.spectraPerWindow);
        assert.ok(areWholeCells(edges, samples, { cells, perWindow }));
        const places = Int32Array.from({ length: channels }, (_, place) => channels - 1 - place);
        const words = cellsOfSpectra(spectra, plan, samples, cells, places);
        if (type === 'cf32') new Float32Array(words.buffer).fill(Infinity, 0, 2);
        const add = await prepare('sumCells');
        sums.fill(NaN);
        await add.run(cellsLaunch(plan, windows), [
          { memory: words },
          { memory: places },
          { memory: edges },
          { i32: windows },
          { i32: perWindow },
          { i32: channels },
          { i32: inputs },
          { memory: onCard },
          { i64: pitch },
          { memory: sums },
        ]);
        agree(sums, 'sum of cells', 2e-6);
      }));

  for (const type of ['ci8', 'cf32'] as const)
    it(`${type}: boxes become zeros, and nothing else does`, () =>
      closingAfter(async (closers) => {
        const [channels, inputs, samples] = [9, 20, 64];
        const spectra = noisySpectra({ type, channels, inputs, samples }, randomStream(4, type));
        const boxes = [
          { firstChannel: 1, endChannel: 8, firstInput: 2, endInput: 19, firstSample: 16, endSample: 32 },
          { firstChannel: 8, endChannel: 9, firstInput: 19, endInput: 20, firstSample: 48, endSample: 64 },
          { firstChannel: 0, endChannel: 1, firstInput: 0, endInput: 1, firstSample: 0, endSample: 64 },
        ];
        const onCard = new Uint8Array(spectra.buffer.slice(0));
        const zeros = closers.keep(await prepareOnHost(planPowerSums({ type }), 'zeroBoxes'));
        await zeros.run({ ...zerosLaunch(boxes.length), grid: [2, 3] }, [
          { memory: onCard },
          { i64: samples * (type === 'cf32' ? 8 : 2) },
          { i32: inputs },
          { memory: packedBoxes(boxes) },
          { i32: boxes.length },
        ]);
        zeroGaps(spectra, { type, inputs, samples }, boxes);
        assert.deepEqual(onCard, new Uint8Array(spectra.buffer));
      }));
});
