/** Inverted bands: a tone from the sky, compared with the samples of an upright band. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { openFile, type OpenFileOptions } from '../registry.js';

const folder = temporaryFolder('sideband');
const RATE_HZ = 8e6;
const CENTRE_HZ = 60e6;
const INPUTS = 2;
const SAMPLES = 512;
/** 32 cycles in 128 samples are 2 MHz; this is bin 20 of 64 above the lower edge. */
const TONE_HZ = CENTRE_HZ - RATE_HZ / 4 + (20 * RATE_HZ) / 128;
/** Input 1 is delayed by this: x ∝ e^(−2πi f d), a phase that depends on the sky frequency. */
const PHASES = [0.4, -1.1];

/** [t][a], 16 bits: high-side mixing, so that ν = f_high − f, and phases are negated. */
function inverted(first: number, count: number): Buffer {
  const bytes = Buffer.alloc(2 * INPUTS * count);
  const highHz = CENTRE_HZ + RATE_HZ / 4;
  for (let t = 0; t < count; t++)
    for (let a = 0; a < INPUTS; a++) {
      const phase = (2 * Math.PI * (highHz - TONE_HZ) * (first + t)) / RATE_HZ - PHASES[a];
      bytes.writeInt16LE(Math.round(10_000 * Math.cos(phase)), 2 * (t * INPUTS + a));
    }
  return bytes;
}

const raw: OpenFileOptions = {
  format: 'raw',
  type: 'i16',
  inputs: INPUTS,
  polarisations: 1,
  sampleRateHz: RATE_HZ,
  centreFrequencyHz: CENTRE_HZ,
  start: { unixSeconds: 1_700_000_000, fraction: 0 },
};

let files = 0;
const written = (bytes: Buffer): string => {
  const path = join(folder, `${files++}.dat`);
  writeFileSync(path, bytes);
  return path;
};

/** All samples, [a][t], in blocks of `length`. */
async function samplesOf(path: string, options: OpenFileOptions, length: number) {
  const file = await openFile(path, options);
  assert.ok(file.kind === 'voltages');
  const rows: number[][] = Array.from({ length: INPUTS }, () => []);
  for await (const { voltages, samples } of file.blocks(length))
    rows.forEach((row, a) => row.push(...voltages.subarray(a * samples, (a + 1) * samples)));
  await file.close();
  return { file, rows };
}

/** Σ x(t) e^(−2πi k t/128) over the first 128 samples, as amplitude and angle. */
function bin(row: readonly number[], k: number): { readonly amplitude: number; readonly angle: number } {
  let [re, im] = [0, 0];
  for (let t = 0; t < 128; t++) {
    const phase = (-2 * Math.PI * k * t) / 128;
    re += row[t] * Math.cos(phase);
    im += row[t] * Math.sin(phase);
  }
  return { amplitude: Math.hypot(re, im) / 64, angle: Math.atan2(im, re) };
}

describe('a recording of the lower sideband', () => {
  it('has a tone of the sky where it is, with its own phase, by a direct Fourier sum', async () => {
    const path = written(inverted(0, SAMPLES));
    const { rows, file } = await samplesOf(path, { ...raw, sideband: 'lower' }, SAMPLES);
    assert.equal(file.centreFrequencyHz, CENTRE_HZ);
    rows.forEach((row, a) => {
      const there = bin(row, 20);
      assert.ok(Math.abs(there.amplitude - 10_000) < 1, `input ${a}: ${there.amplitude}`);
      assert.ok(Math.abs(there.angle - PHASES[a]) < 1e-4, `input ${a}: ${there.angle}`);
      assert.ok(bin(row, 44).amplitude < 1);
    });
    assert.deepEqual(file.history, ['lower sideband: the band was recorded inverted, and is turned upright']);
    assert.equal(file.details.sideband, 'lower');
    // Upright by default.
    assert.ok(bin((await samplesOf(path, raw, SAMPLES)).rows[0], 20).amplitude < 1);
    assert.deepEqual(
      (await samplesOf(path, { ...raw, sideband: 'upper' }, SAMPLES)).rows,
      (await samplesOf(path, raw, SAMPLES)).rows,
    );
  });

  it('is the same in blocks of odd lengths, in a part of it, and of files that follow each other', async () => {
    const lower = { ...raw, sideband: 'lower' } as const;
    const path = written(inverted(0, SAMPLES));
    const { rows } = await samplesOf(path, lower, SAMPLES);
    assert.deepEqual((await samplesOf(path, lower, 37)).rows, rows);
    const file = await openFile(path, lower);
    assert.ok(file.kind === 'voltages');
    for await (const { voltages, start, samples } of file.blocks(37, { first: 100, end: 120 })) {
      const first = Math.round(start.fraction * RATE_HZ);
      assert.deepEqual([...voltages.subarray(0, samples)], rows[0].slice(first, first + samples));
    }
    await file.close();
  });

  it('conjugates complex samples, and moves the lowest integer to the highest, counted', async () => {
    const path = written(Buffer.from(Int8Array.of(1, 2, 3, -128, -5, 6, 7, -8).buffer));
    const complex = { ...raw, type: 'ci8', inputs: 1, sideband: 'lower' } as const;
    const file = await openFile(path, complex);
    assert.ok(file.kind === 'voltages');
    for await (const { voltages } of file.blocks(4))
      assert.deepEqual([...voltages], [1, -2, 3, 127, -5, -6, 7, 8]);
    assert.equal(file.tally?.saturated, 1);
    await file.close();
  });
});
