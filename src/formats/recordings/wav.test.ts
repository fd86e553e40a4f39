import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { formatInstant, parseInstant } from '../../core/instant.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { openFile } from '../registry.js';
import { encodeWav } from '../testing/encode-wav.js';
import { expectRecording, readRecording, writeSample } from '../testing/reading.js';

const shorts = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(2 * values.length);
  values.forEach((value, k) => bytes.writeInt16LE(value, 2 * k));
  return bytes;
};
const IQ = { code: 1, bits: 16, channels: 2, rateHz: 2_000_000 } as const;

describe('WAV recordings', () => {
  it('hold I and Q, and in auxi when they began and at which frequency', async () => {
    const path = writeSample(
      encodeWav({
        ...IQ,
        data: shorts(1, -2, 300, -400, 5, 6),
        auxi: { start: [2026, 6, 0, 21, 9, 5, 7, 45], centreHz: 1_420_400_000 },
      }),
      '.wav',
    );
    const file = expectRecording(await openFile(path));
    assert.ok(file.kind === 'voltages');
    assert.deepEqual(
      [file.type, file.inputs, file.samples, file.sampleRateHz, file.centreFrequencyHz],
      ['ci16', 1, 3, 2e6, 1_420_400_000],
    );
    assert.equal(formatInstant(file.start), '2026-06-21T09:05:07.045Z');
    assert.match(file.assumed?.[0] ?? '', /is UTC/);
    assert.equal(file.unknownFacts, undefined);
    assert.deepEqual((await readRecording(file, 2)).values, [[1, -2, 300, -400, 5, 6]]);
    await assert.rejects(
      openFile(path, { centreFrequencyHz: 1.3e9 }),
      /states that its band is around 1\.4204 GHz/,
    );
  });

  it('without auxi leave start and frequency to the user; bytes are unsigned; further pairs are further inputs', async () => {
    const path = writeSample(
      encodeWav({
        ...IQ,
        bits: 8,
        channels: 4,
        data: Buffer.from([128, 129, 0, 255, 127, 130, 1, 254]),
      }),
      '.wav',
    );
    const file = expectRecording(await openFile(path));
    assert.deepEqual([file.inputs, file.unknownFacts], [2, ['frequency', 'start']]);
    assert.deepEqual((await readRecording(file, 10)).values, [
      [0, 1, -1, 2],
      [-128, 127, -127, 126],
    ]);
    const start = parseInstant('2026-01-01T00:00:00Z');
    const placed = expectRecording(await openFile(path, { start, centreFrequencyHz: 1e8 }));
    assert.deepEqual([placed.start, placed.unknownFacts], [start, undefined]);
    await placed.close();
  });

  it('of one channel, and of pairs by --sample-type, are real; floats stay floats', async () => {
    const data = shorts(1, 2, 3, 4);
    const one = writeSample(encodeWav({ ...IQ, channels: 1, data }), '.wav');
    const file = expectRecording(await openFile(one));
    assert.deepEqual([file.type, file.samples], ['i16', 4]);
    await file.close();
    const two = writeSample(encodeWav({ ...IQ, data }), '.wav');
    const real = expectRecording(await openFile(two, { type: 'i16' }));
    assert.deepEqual((await readRecording(real, 9)).values, [
      [1, 3],
      [2, 4],
    ]);
    await assert.rejects(openFile(two, { type: 'cu8' }), /samples of type cu8 contradict its header/);
    const floats = Buffer.alloc(8);
    floats.writeFloatLE(0.5, 0);
    floats.writeFloatLE(-0.25, 4);
    const path = writeSample(encodeWav({ ...IQ, code: 3, bits: 32, data: floats }), '.wav');
    assert.deepEqual((await readRecording(expectRecording(await openFile(path)), 9)).values, [[0.5, -0.25]]);
  });

  it('cut short report it; other samples are refused', async () => {
    const data = shorts(1, 2, 3, 4);
    const cut = expectRecording(
      await openFile(writeSample(encodeWav({ ...IQ, data, promised: 4000 }), '.wav')),
    );
    assert.deepEqual([cut.samples, cut.endsEarly?.missingSamples], [2, 998]);
    await cut.close();
    // A recorder stopped by a power cut leaves its length at 0 or at all bits set.
    for (const promised of [0, 0xffffffff]) {
      const open = expectRecording(await openFile(writeSample(encodeWav({ ...IQ, data, promised }), '.wav')));
      assert.deepEqual([open.samples, open.endsEarly], [2, undefined]);
      await open.close();
    }
    const wide = writeSample(encodeWav({ ...IQ, bits: 24, data: Buffer.alloc(12) }), '.wav');
    await assert.rejects(openFile(wide), /WAV format 1 with 24 bits/);
  });
});

describe('a folder with a file per input', () => {
  it('is plain binary side by side', async () => {
    const folder = join(temporaryFolder('channels'), 'run');
    mkdirSync(folder);
    for (const k of [0, 1, 2]) writeFileSync(join(folder, `ch${k}.cu8`), Buffer.from([128 + k, 1, 2, 3]));
    const file = expectRecording(
      await openFile(join(folder, '*.cu8'), {
        format: 'raw',
        type: 'cu8',
        inputs: 1,
        sampleRateHz: 1e6,
        centreFrequencyHz: 1e8,
        start: parseInstant('2026-01-01T00:00:00Z'),
      }),
    );
    assert.deepEqual([file.inputs, file.samples], [3, 2]);
    assert.deepEqual(
      (await readRecording(file, 9)).values.map((row) => row[0]),
      [0, 1, 2],
    );
  });
});
