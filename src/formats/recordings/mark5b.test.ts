import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatInstant, parseInstant } from '../../core/instant.js';
import { HIGH_LEVEL } from '../../core/units.js';
import { mark5b } from './mark5b.js';
import { encodeMark5b, type Mark5bSample } from '../testing/encoders.js';
import { readWhole, writeSample } from '../testing/reading.js';

const HIGH = Math.fround(HIGH_LEVEL);
const sample: Mark5bSample = {
  inputs: 8,
  frames: [6398, 6399, 6400, 6402],
  framesPerSecond: 6400,
  day: 821,
  second: 19_801,
  code: (_sender, input, t) => (input + t) % 4,
};
const options = { inputs: 8, near: parseInstant('2014-01-01') };

describe('Mark 5B', () => {
  it('decodes sign and magnitude, finds the rate in the time stamps, and lists the lost frame', async () => {
    const { recording, values, gaps } = await readWhole(mark5b, encodeMark5b(sample), options);
    assert.equal(recording.kind === 'voltages' && recording.sampleRateHz, 32e6);
    // MJD 56821 is 2014-06-13; 19801 s is 05:30:01; frame 6398 of 6400 is 0.9996875 s.
    assert.equal(formatInstant(recording.start, 7), '2014-06-13T05:30:01.9996875Z');
    // Code bit 0 is the sign, bit 1 the magnitude: 0 → −high, 1 → +1, 2 → −1, 3 → +high.
    const level = [-HIGH, 1, -1, HIGH];
    const first = 6398 * 5000;
    for (let a = 0; a < 8; a++) assert.equal(values[a][2], level[(a + first + 2) % 4], `input ${a}`);
    assert.deepEqual(
      gaps.map((gap) => [gap.firstInput, gap.endInput, gap.firstSample, gap.endSample]),
      Array.from({ length: 5 }, (_, k) => [0, 8, 15_000 + 1000 * k, 16_000 + 1000 * k]),
    );
    assert.equal(recording.samples, 25_000);
  });

  it('runs through a leap second, 86 401 seconds a day, and knows no such second on other days', async () => {
    // MJD 57753 is 2016-12-31. The last frame of its last but one second, its leap second, the first of 2017.
    const frames = Array.from({ length: 26 }, (_, k) => 24 + k);
    const over = { ...sample, framesPerSecond: 25, second: 86_399, frames };
    const bytes = (day: number): Buffer =>
      Buffer.concat([
        encodeMark5b({ ...over, day }),
        encodeMark5b({ ...over, day: day + 1, second: 0, frames: [0] }),
      ]);
    const options2016 = { inputs: 8, near: parseInstant('2016-12-01') };
    const { recording, gaps } = await readWhole(mark5b, bytes(753), options2016);
    assert.equal(formatInstant(recording.start), '2016-12-31T23:59:59.960Z');
    assert.deepEqual([recording.samples, gaps.length], [27 * 5000, 0]);
    const other = await readWhole(mark5b, bytes(752), options2016);
    assert.deepEqual([other.recording.samples, other.recording.tally?.invalid], [2 * 5000, 25]);
  });

  it('finds its feet again after spare bytes, and leaves out what has lost its sync word', async () => {
    const bytes = encodeMark5b({ ...sample, frames: [0, 1, 2, 3] });
    bytes[10_016] = 0;
    const { recording, gaps } = await readWhole(mark5b, Buffer.concat([Buffer.alloc(7), bytes]), options);
    assert.equal(recording.tally?.frames, 3);
    assert.equal(recording.tally.spareBytes, 7 + 10_016);
    assert.equal(gaps.length, 5);
  });

  it('asks for what its headers do not hold', async () => {
    const path = writeSample(encodeMark5b(sample));
    await assert.rejects(
      mark5b.open(path),
      /states neither the number of channels.*give source\.inputs, and source\.near/,
    );
    await assert.rejects(mark5b.open(path, { ...options, bits: 4 }), /Mark 5B holds 1 or 2/);
    await assert.rejects(mark5b.open(writeSample(Buffer.alloc(20_000)), options), /no Mark 5B frame/);
  });
});
