import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatInstant } from '../../core/instant.js';
import { sampleRateOf } from '../../core/sources.js';
import { HIGH_LEVEL } from '../../core/units.js';
import { encodeVdif, type VdifSample } from '../testing/encoders.js';
import { readWhole, writeSample } from '../testing/reading.js';
import { vdif } from './vdif.js';

const HIGH = Math.fround(HIGH_LEVEL);
/** Two threads of 2-bit real samples, 16 per frame, 1000 frames per second: 16 kHz. */
const plain: VdifSample = {
  bits: 2,
  parts: 1,
  threads: [5, 3],
  channels: 1,
  samplesPerFrame: 32,
  framesPerSecond: 1000,
  frames: 6,
  epoch: 28,
  seconds: 14_363_767,
  firstFrame: 998,
  extension: 3,
  code: (sender, _input, sample) => (sample + sender) % 4,
};
const numbered = (bits: number) => (sender: number, input: number, sample: number, part: number) =>
  (sender * 7 + input * 3 + sample * 5 + part) % 2 ** bits;

describe('VDIF', () => {
  it('orders threads, decodes two bits, and keeps time across the second', async () => {
    const { recording, values, gaps, starts } = await readWhole(vdif, encodeVdif(plain), {
      blockSamples: 50,
    });
    assert.equal(recording.kind, 'voltages');
    // 2014-01-01 + 14363767 s = 166 days 05:56:07; frame 998 of 1000.
    assert.equal(formatInstant(recording.start, 6), '2014-06-16T05:56:07.998000Z');
    assert.equal(recording.samples, 192);
    // 0x544b: 'T' in the high byte.
    assert.equal(recording.details.station, 'TK');
    assert.deepEqual(gaps, []);
    const level = [-HIGH, -1, 1, HIGH];
    // Thread 3 is input 0: it was encoded second.
    assert.deepEqual(
      values[0],
      Array.from({ length: 192 }, (_, t) => level[(t + 1) % 4]),
    );
    assert.deepEqual(
      values[1],
      Array.from({ length: 192 }, (_, t) => level[t % 4]),
    );
    // Block 2 starts 100 samples of 1/32000 s later: .998 + .003125 crosses the second.
    assert.equal(formatInstant(starts[2], 6), '2014-06-16T05:56:08.001125Z');
  });

  it('counts leap seconds since its epoch', async () => {
    // Epoch 32 is 2016-01-01, a leap year: 366 days + the leap second give 2017-01-01T00:00:00.
    const seconds = 366 * 86_400 + 1;
    const at = async (second: number): Promise<string> =>
      formatInstant(
        (await readWhole(vdif, encodeVdif({ ...plain, epoch: 32, seconds: second, firstFrame: 0 }))).recording
          .start,
        0,
      );
    assert.equal(await at(seconds), '2017-01-01T00:00:00Z');
    assert.equal(await at(seconds - 2), '2016-12-31T23:59:59Z');
  });

  for (const [bits, type, offset] of [
    [4, 'i8', 8],
    [8, 'i8', 128],
    [16, 'i16', 32_768],
  ] as const) {
    for (const parts of [1, 2] as const) {
      it(`decodes ${bits} bits, ${parts === 2 ? 'complex' : 'real'}, several channels`, async () => {
        const code = numbered(bits);
        const bytes = encodeVdif({ ...plain, bits, parts, channels: 4, threads: [0], extension: 1, code });
        const { recording, values } = await readWhole(vdif, bytes, { extension: '.vdif' });
        assert.equal(recording.type, parts === 2 ? `c${type}` : type);
        assert.equal(recording.inputs, 4);
        for (let a = 0; a < 4; a++) {
          for (const t of [0, 1, 31, 32, 191]) {
            for (let part = 0; part < parts; part++) {
              assert.equal(values[a][t * parts + part], code(0, a, t, part) - offset);
            }
          }
        }
      });
    }
  }

  it('decodes one bit and reads legacy headers, at a rate given by the user', async () => {
    const bytes = encodeVdif({
      ...plain,
      bits: 1,
      samplesPerFrame: 64,
      extension: 'legacy',
      code: (_l, _i, t) => t % 2,
    });
    const { recording, values } = await readWhole(vdif, bytes, { sampleRateHz: 64_000 });
    assert.deepEqual(values[0].slice(0, 4), [-1, 1, -1, 1]);
    assert.equal(recording.details.extension, 'legacy');
  });

  it('learns the rate from frame numbers that turn over, and asks where they do not', async () => {
    const silent = { ...plain, extension: 0, framesPerSecond: 4, firstFrame: 2 } as const;
    const { recording } = await readWhole(vdif, encodeVdif(silent));
    assert.equal(recording.details.framesPerSecond, 4);
    await assert.rejects(
      readWhole(vdif, encodeVdif({ ...plain, extension: 0, firstFrame: 0 })),
      /its sample rate is unknown.*give the sample rate/,
    );
  });

  it('finds a rate that only the end of one second gives, and refuses numbers that contradict it', async () => {
    const silent = { ...plain, threads: [0], extension: 0, framesPerSecond: 10, firstFrame: 5 } as const;
    // The last frame before the only end of a second is lost, so ten frames cannot be distinguished from nine.
    const once = {
      ...silent,
      frames: 12,
      drop: (_: number, k: number) => (k === 4 ? 'drop' : 'keep'),
    } as const;
    const { recording } = await readWhole(vdif, encodeVdif(once));
    assert.equal(sampleRateOf(recording), 288);
    assert.match(
      recording.assumed?.[0] ?? '',
      /the sample rate is 288 Hz, by .* one second alone.*source\.rate/,
    );
    const said = await readWhole(vdif, encodeVdif(once), { sampleRateHz: 320 });
    assert.deepEqual([said.recording.assumed, said.gaps.length], [undefined, 1]);
    // Any second that ends with it shows the true number; two are sufficient evidence.
    const twice = await readWhole(vdif, encodeVdif({ ...once, frames: 30 }));
    assert.deepEqual([sampleRateOf(twice.recording), twice.recording.assumed], [320, undefined]);
    assert.deepEqual(
      twice.gaps.map(({ firstSample }) => firstSample),
      [128],
    );
    // Frame 9 is in the middle of a file of which only the ends are examined.
    const far = encodeVdif({
      ...once,
      samplesPerFrame: 32_000,
      bits: 8,
      frames: 500,
      code: () => 0,
      drop: (_, k) => (k % 10 === 4 && k !== 254 ? 'drop' : 'keep'),
    });
    await assert.rejects(
      readWhole(vdif, far, { blockSamples: 32_000 }),
      /holds frame number 9 where a second was seen to have 9 frames; give .*source\.rate/,
    );
  });

  it('counts lost and invalid frames as gaps, zero and never stale', async () => {
    const bytes = encodeVdif({
      ...plain,
      threads: [0, 1],
      drop: (thread, k) => (thread === 1 && k === 2 ? 'drop' : k === 4 ? 'invalid' : 'keep'),
    });
    const { recording, values, gaps } = await readWhole(vdif, bytes, { blockSamples: 64 });
    assert.deepEqual(gaps, [
      { firstInput: 1, endInput: 2, firstSample: 64, endSample: 96 },
      { firstInput: 0, endInput: 2, firstSample: 128, endSample: 160 },
    ]);
    assert.deepEqual(values[1].slice(64, 96), new Array(32).fill(0));
    assert.ok(values[1].slice(96, 128).every((x) => x !== 0));
    // The same gap at the end of a block.
    const longer = await readWhole(vdif, bytes, { blockSamples: 96 });
    assert.deepEqual(longer.gaps[0], gaps[0]);
    assert.equal(recording.tally?.invalid, 2);
    assert.equal(recording.tally.frames, 9);
  });

  it('takes the first of two frames of one time, and counts the other', async () => {
    const right = encodeVdif({ ...plain, threads: [0] });
    const frame = right.length / 6;
    const again = Buffer.from(right.subarray(2 * frame, 3 * frame)).fill(0, 32);
    const bytes = Buffer.concat([right.subarray(0, 4 * frame), again, right.subarray(4 * frame)]);
    const straight = await readWhole(vdif, right, { blockSamples: 40 });
    for (const blockSamples of [40, 192]) {
      const doubled = await readWhole(vdif, bytes, { blockSamples });
      assert.deepEqual(doubled.values, straight.values);
      assert.deepEqual([doubled.recording.tally?.doubled, doubled.recording.tally?.frames], [1, 6]);
    }
  });

  it('refuses two stations in one thread, and takes them in threads of their own', async () => {
    const bytes = encodeVdif({ ...plain, threads: [0, 1] });
    const frame = bytes.length / 12;
    // In every second frame the station is BB instead of TK.
    for (let k = 1; k < 12; k += 2) bytes.writeUInt16LE(0x4242, k * frame + 12);
    assert.equal((await readWhole(vdif, bytes)).recording.inputs, 2);
    for (let k = 1; k < 12; k += 2)
      bytes.writeUInt16LE(bytes.readUInt16LE(k * frame + 14) & ~0x3ff, k * frame + 14);
    await assert.rejects(
      vdif.open(writeSample(bytes)),
      /its thread 0 is of stations BB and TK; give each station its own file/,
    );
  });

  it('puts frames that overtook each other in their places', async () => {
    const bytes = encodeVdif(plain);
    const frame = bytes.length / 12;
    const order = [3, 0, 2, 1, 7, 5, 4, 6, 11, 8, 10, 9];
    const shuffled = Buffer.concat(order.map((k) => bytes.subarray(k * frame, (k + 1) * frame)));
    const straight = await readWhole(vdif, bytes, { blockSamples: 40 });
    const mixed = await readWhole(vdif, shuffled, { blockSamples: 40 });
    assert.deepEqual(mixed.values, straight.values);
    assert.deepEqual(mixed.gaps, []);
  });

  it('is not led astray by one damaged time, and refuses a wholly damaged one', async () => {
    const bytes = encodeVdif({ ...plain, frames: 20, threads: [0] });
    const frame = bytes.length / 20;
    bytes.writeUInt32LE(2 ** 29, 19 * frame);
    const { recording } = await readWhole(vdif, bytes);
    assert.equal(recording.samples, 19 * 32);
    assert.equal(recording.tally?.outside, 1);
    await assert.rejects(vdif.open(writeSample(Buffer.alloc(64, 255))), /its first header is not VDIF's/);
    await assert.rejects(vdif.open(writeSample(bytes.subarray(0, 20))), /too short for one VDIF frame/);
  });

  it('is recognised by its sync word or by name and sense', () => {
    assert.ok(vdif.recognise('x', encodeVdif(plain)));
    assert.ok(!vdif.recognise('x', encodeVdif({ ...plain, extension: 0 })));
    assert.ok(vdif.recognise('x.vdif', encodeVdif({ ...plain, extension: 0 })));
    assert.ok(!vdif.recognise('x.vdif', Buffer.alloc(100, 255)));
  });

  it('threads with wrong seconds are distinguished, and one thread’s seconds may be used for all', async () => {
    // As written by a recorder of 2014: every other thread lost the third byte of its seconds.
    const sample = { ...plain, threads: [1, 3, 0, 2], firstFrame: 0, frames: 4, extension: 3 as const };
    const bytes = encodeVdif(sample);
    const frameBytes = 32 + 8;
    for (let at = 0; at < bytes.length; at += frameBytes) {
      const thread = bytes.readUInt32LE(at + 12) >>> 16;
      if ((thread & 1) === 0) bytes[at + 2] = 0;
    }
    const path = writeSample(bytes, '.vdif');
    await assert.rejects(
      vdif.open(path),
      /its threads 0, 2 say 14352384 s earlier than 1, 3 beside them; .*source\.seconds-of: 0 or source\.seconds-of: 1/,
    );
    const assigned = await readWhole(vdif, bytes, { extension: '.vdif', secondsOfThread: 1 });
    const right = await readWhole(vdif, encodeVdif(sample), { extension: '.vdif' });
    assert.deepEqual(assigned.values, right.values);
    assert.deepEqual([assigned.gaps, assigned.recording.samples], [[], 128]);
    assert.deepEqual(assigned.recording.start, right.recording.start);
    const wrongly = await readWhole(vdif, bytes, { extension: '.vdif', secondsOfThread: 2 });
    assert.deepEqual(wrongly.values, right.values);
    assert.equal(formatInstant(wrongly.recording.start), '2014-01-01T03:09:43.000Z');
    await assert.rejects(
      vdif.open(path, { secondsOfThread: 9 }),
      /has no thread 9; it has threads 0, 1, 2, 3/,
    );
  });
});
