/** The general kernels on the host, a thread for each of a card's: spectra against the reference, powers against a plain count. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { cellNumbers, cellsIn, POWER_CELLS } from '../../backend/cuda/power-cells.js';
import { hostCompiler, prepareOnHost } from '../../backend/cuda/testing/on-host.js';
import { plainSums, sumsOfCells } from '../../backend/cuda/testing/power-sums.js';
import { openReference } from '../../backend/reference.js';
import { spectraCAT, spectraSizeBytes, voltageSizeBytes, type SpectraCAT } from '../../core/axes.js';
import { closingAfter } from '../../core/closing.js';
import { randomStream } from '../../core/random.js';
import { roundUp } from '../../core/round-up.js';
import { cutEvenly, SUMMED_AT_ONCE } from '../../core/windows.js';
import { channeliseBlocks } from '../cases.js';
import { planChannelise, type ChanneliseOptions, type ChannelisePlan } from '../plan.js';
import { noise, withGaps } from '../samples.testing.js';
import { planFused, WORK, type FusedPlan } from './plan.js';
import { factorTable, levelTwiddles, powerPlaces, tapTable, twiddleTable } from './tables.js';

const WINDOW = 128;
/** Blocks of a grid, fewer than there are tiles. */
const BLOCKS = 3;

interface Made {
  /** spectra : [c][a][t], integers a byte a part. */
  readonly out: SpectraCAT;
  readonly cells: BigUint64Array;
  readonly perWindow: number;
}

/** All passes of a plan over one block. */
async function channelise(
  plan: ChannelisePlan,
  { passes, span, scratchBytes, columns, sumsPowers }: FusedPlan,
  voltages: Uint8Array,
  missing: Uint8Array,
  spectra: number,
): Promise<Made> {
  const { channels, inputs, outputType } = plan;
  const rowBytes = voltages.length / inputs;
  const pitchBytes = roundUp(rowBytes + 16, 128);
  const rows = new Uint8Array(inputs * pitchBytes);
  for (let a = 0; a < inputs; a++)
    rows.set(voltages.subarray(a * rowBytes, (a + 1) * rowBytes), a * pitchBytes);
  const isFloat = outputType === 'cf32';
  const sampleBytes = spectraSizeBytes(isFloat ? 'cf32' : 'ci8');
  const outPitchBytes = roundUp(spectra * sampleBytes, 128);
  const outBytes = new Uint8Array(channels * inputs * outPitchBytes).fill(0x55);
  const { cells, perWindow } = cellsIn(outputType, spectra, WINDOW);
  // Integers are added to the existing values, floats overwrite them.
  const words = new BigUint64Array(cells * inputs * channels).fill(isFloat ? 0x5555555555555555n : 0n);
  const items = inputs * Math.ceil(spectra / span);
  const scratch = new Uint8Array(Math.max(8, scratchBytes * items));
  const memories = {
    taps: tapTable(plan),
    longTwiddles: passes.length === 1 ? twiddleTable(2 * channels, channels) : twiddleTable(columns),
    factors: factorTable(plan),
    voltages: rows,
    saturated: new BigUint64Array(1),
    out: outBytes,
    missing,
    scratch,
  };
  const numbers = cellNumbers(spectra, cells);
  for (const pass of passes) {
    const bytes = new Uint8Array(WORK.bytes);
    const view = new DataView(bytes.buffer);
    view.setBigInt64(WORK.pitchBytes, BigInt(pitchBytes), true);
    view.setBigInt64(WORK.outPitchBytes, BigInt(outPitchBytes), true);
    view.setInt32(WORK.inputs, inputs, true);
    view.setInt32(WORK.spectra, spectra, true);
    view.setInt32(WORK.items, items, true);
    view.setBigUint64(WORK.powers + POWER_CELLS.inverse, numbers.inverse, true);
    view.setInt32(WORK.powers + POWER_CELLS.eights, numbers.eights, true);
    view.setInt32(WORK.powers + POWER_CELLS.last, numbers.last, true);
    const twiddles = pass.radices ? levelTwiddles(pass.radices) : twiddleTable(pass.points);
    const given = {
      bytes,
      pointers: [
        ...Object.entries(memories).map(([name, memory]) => ({
          at: WORK[name as keyof typeof memories],
          memory,
        })),
        { at: WORK.twiddles, memory: twiddles },
        ...(sumsPowers ? [{ at: WORK.powers + POWER_CELLS.sums, memory: words }] : []),
      ],
    };
    await closingAfter(async (closers) => {
      const kernel = closers.keep(await prepareOnHost(pass.request, pass.entry, pass.sharedBytes));
      await kernel.run({ grid: [BLOCKS, 1], threads: pass.threads }, [given]);
    });
  }
  const outRowBytes = spectra * sampleBytes;
  const packed = new Uint8Array(channels * inputs * outRowBytes);
  for (let row = 0; row < channels * inputs; row++)
    packed.set(outBytes.subarray(row * outPitchBytes).subarray(0, outRowBytes), row * outRowBytes);
  const elements = isFloat ? new Float32Array(packed.buffer) : new Int8Array(packed.buffer);
  return {
    out: spectraCAT(elements, isFloat ? 'cf32' : 'ci8', channels, inputs, spectra),
    cells: words,
    perWindow,
  };
}

const one = {
  inputs: 2,
  polarisations: 1,
  taps: 4,
  inputType: 'ci8',
  outputType: 'ci8',
  spectra: 150,
} as const;
const shapes: readonly (Omit<ChanneliseOptions, 'blockSamples'> & {
  readonly spectra: number;
  readonly sharedBytes?: number;
  readonly isSummed?: false;
})[] = [
  { ...one, channels: 256 },
  { ...one, channels: 300, inputType: 'i8', taps: 3 },
  // Two passes, for so small a card.
  { ...one, channels: 2048, sharedBytes: 49_152, spectra: 40 },
  { ...one, channels: 64, isSummed: false },
  { ...one, channels: 256, outputType: 'cf32', spectra: 330 },
  { ...one, channels: 567, inputType: 'cf32', outputType: 'cf32', spectra: 70 },
];

for (const { spectra, sharedBytes = 232_448, isSummed = true, ...shape } of shapes) {
  const { channels, taps, inputs, inputType, outputType } = shape;
  const passes = sharedBytes < 50_000 ? ', in two passes' : '';
  const title = `${channels} channels of ${inputType} to ${outputType}${passes}`;
  const skip = hostCompiler === undefined && 'no compiler of C++20 was found';
  it(`general kernels, ${title}`, { skip }, async () => {
    const perSpectrum = channels * (inputType === 'i8' ? 2 : 1);
    const samples = (spectra + taps - 1) * perSpectrum;
    const plan = planChannelise({ ...shape, blockSamples: samples });
    const gap = { firstInput: 1, endInput: 2, firstSample: 20 * perSpectrum, endSample: 22 * perSpectrum };
    const block = withGaps(noise(inputType, inputs, samples, randomStream(7, title)), [gap]);
    const { blocks } = await channeliseBlocks(plan, openReference(), [block]);
    assert.equal(blocks[0].samples, spectra);
    const missing = new Uint8Array(inputs * spectra);
    for (const { firstInput, endInput, firstSample, endSample } of blocks[0].gaps)
      for (let a = firstInput; a < endInput; a++)
        missing.fill(1, a * spectra + firstSample, a * spectra + endSample);
    assert.ok(missing.includes(1) && missing.includes(0));

    const fused = planFused(plan, { sharedBytesPerBlock: sharedBytes }, { powers: true });
    assert.deepEqual([fused.sumsPowers, fused.passes.length], [isSummed, passes === '' ? 1 : 2]);
    const bytes = new Uint8Array(block.voltages.buffer, block.voltages.byteOffset, block.voltages.byteLength);
    assert.equal(bytes.length, inputs * samples * voltageSizeBytes(inputType));
    const { out, cells, perWindow } = await channelise(plan, fused, bytes, missing, spectra);

    const expected = blocks[0].spectra;
    const rms = Math.sqrt(Float64Array.from(expected).reduce((sum, x) => sum + x * x, 0) / expected.length);
    assert.equal(out.length, expected.length);
    let others = 0;
    out.forEach((value, n) => {
      const off = Math.abs(value - expected[n]);
      // A value at half a level may be rounded either way.
      assert.ok(off <= (outputType === 'cf32' ? 1e-4 * rms : 1), `${n}: off by ${off} at ${rms} rms`);
      if (off > 1e-4 * rms) others++;
    });
    assert.ok(others <= 1e-3 * expected.length, `${others} of ${expected.length} differ`);
    if (!isSummed) return;

    const places = powerPlaces(plan, fused.passes[0].radices ?? []);
    const windows = cells.length / perWindow / inputs / channels;
    const edges = cutEvenly(spectra, windows, SUMMED_AT_ONCE);
    const rows = { type: outputType, channels, inputs };
    const sums = plainSums(out, rows, edges);
    const made = sumsOfCells(cells, rows, { perWindow }, places);
    assert.equal(made.length, sums.length);
    made.forEach((sum, n) => {
      const off = Math.abs(sum - sums[n]);
      assert.ok(off <= (outputType === 'cf32' ? 2e-6 * sums[n] : 0), `sum ${n}: ${sum} of ${sums[n]}`);
    });
  });
}
