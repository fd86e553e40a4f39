import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseInstant } from '../../core/instant.js';
import { raw } from './raw.js';
import { readWhole, writeSample } from '../testing/reading.js';

describe('plain binary', () => {
  const start = parseInstant('2026-06-21T04:00:00');
  const options = { type: 'i16', inputs: 2, sampleRateHz: 8e6, centreFrequencyHz: 6e7, start } as const;
  /** Three arbitrary bytes, then [t][a]: 1, −2, 3, −4, 5, −6, and one surplus byte. */
  const bytes = Buffer.alloc(3 + 12 + 1);
  [1, -2, 3, -4, 5, -6].forEach((value, n) => bytes.writeInt16LE(value, 3 + 2 * n));

  it('is what the user states it is', async () => {
    const { recording, values } = await readWhole(raw, bytes, { ...options, skipBytes: 3 });
    assert.deepEqual(
      values.map((row) => [...row]),
      [
        [1, 3, 5],
        [-2, -4, -6],
      ],
    );
    assert.ok(recording.kind === 'voltages');
    assert.deepEqual(
      [recording.type, recording.samples, recording.sampleRateHz, recording.centreFrequencyHz],
      ['i16', 3, 8e6, 6e7],
    );
    assert.deepEqual([recording.unknownFacts, recording.start], [undefined, start]);
  });

  it('may hold unsigned bytes, as software radios write them', async () => {
    const { recording, values } = await readWhole(raw, Buffer.from([0, 128, 255, 129]), {
      ...options,
      type: 'u8',
    });
    assert.ok(recording.kind === 'voltages' && recording.type === 'i8');
    assert.deepEqual(
      values.map((row) => [...row]),
      [
        [-128, 127],
        [0, 1],
      ],
    );
  });

  it('lacks samples that are no numbers', async () => {
    // [t][a] of two complex inputs: the second sample of the first, and the last of the second.
    const floats = Float32Array.of(1, 2, 3, 4, NaN, 6, 7, 8, 9, 10, 11, Infinity);
    const file = await raw.open(writeSample(Buffer.from(floats.buffer)), { ...options, type: 'cf32' });
    assert.ok(file.kind === 'voltages');
    for await (const { voltages, gaps } of file.blocks(3)) {
      assert.deepEqual([...voltages], [1, 2, 0, 0, 9, 10, 3, 4, 7, 8, 0, 0]);
      assert.deepEqual(gaps, [
        { firstInput: 0, endInput: 1, firstSample: 1, endSample: 2 },
        { firstInput: 1, endInput: 2, firstSample: 2, endSample: 3 },
      ]);
    }
    await file.close();
  });

  it('is at zero frequency and in 1970 by default, with a warning', async () => {
    const { type, inputs, sampleRateHz } = options;
    const real = await raw.open(writeSample(bytes), { type, inputs, sampleRateHz });
    assert.ok(real.kind === 'voltages');
    assert.deepEqual(real.unknownFacts, ['frequency', 'start']);
    // A real band of 8 MHz sampling covers 0 to 4 MHz; a complex one is centred on 0.
    assert.equal(real.centreFrequencyHz, 2e6);
    await real.close();
    const complex = await raw.open(writeSample(bytes), { type: 'ci8', inputs, sampleRateHz });
    assert.ok(complex.kind === 'voltages' && complex.centreFrequencyHz === 0);
    await complex.close();
  });

  it('is refused undescribed, and where it holds no sample', async () => {
    const path = writeSample(bytes);
    await assert.rejects(async () => raw.open(path), /have no header; describe it with source\.sample-type/);
    await assert.rejects(
      async () => raw.open(path, { ...options, inputs: 20 }),
      /no whole sample of 20 inputs/,
    );
    await assert.rejects(async () => raw.open(path, { ...options, skipBytes: 17 }), /bytes to skip is 17/);
  });
});
