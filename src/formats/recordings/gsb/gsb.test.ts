/** GMRT recordings made by hand, with values and times worked out beside them. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { formatInstant } from '../../../core/instant.js';
import { temporaryFolder } from '../../../core/testing/temporary-folder.js';
import { openFile } from '../../registry.js';
import { expectRecording, readRecording } from '../../testing/reading.js';

const folder = temporaryFolder('gsb');
const at = (name: string): string => join(folder, name);
const code = (t: number): number => ((t * 5) % 16) - 8;

/** 8 samples per frame of 0.25165824 s. */
const RATE_HZ = 8 / 0.25165824;

describe('GMRT raw dump', () => {
  const dump = (name: string, times: readonly string[], frames: number): string => {
    writeFileSync(at(`${name}.timestamp`), times.map((time) => `2015 04 27 18 45 ${time} \n`).join(''));
    const bytes = Buffer.alloc(4 * frames);
    // The older of two samples is in the low half.
    bytes.forEach((_, k) => (bytes[k] = (code(2 * k) & 15) | ((code(2 * k + 1) & 15) << 4)));
    writeFileSync(at(`${name}.dat`), bytes);
    return at(`${name}.timestamp`);
  };
  const whole = async (path: string, blockSamples = 5) =>
    readRecording(expectRecording(await openFile(path, { sampleRateHz: RATE_HZ })), blockSamples);

  it('has real samples of 4 bits, the older in the low half, in Indian time', async () => {
    const times = ['00 0.000000240', '00 0.251658480', '00 0.503316720'];
    const { recording, values, gaps } = await whole(dump('plain', times, 3));
    assert.ok(recording.kind === 'voltages');
    assert.deepEqual([recording.type, recording.bits, recording.inputs, recording.samples], ['i8', 4, 1, 24]);
    // 18:45 in India is 13:15 UTC.
    assert.equal(formatInstant(recording.start, 9), '2015-04-27T13:15:00.000000240Z');
    assert.deepEqual(
      values[0],
      Array.from({ length: 24 }, (_, t) => code(t)),
    );
    assert.deepEqual([gaps, recording.unknownFacts], [[], ['frequency']]);
  });

  it('puts a frame where its time states, and what is lost between is a gap', async () => {
    const times = ['00 0.000000240', '00 0.754974960'];
    const { recording, values, gaps } = await whole(dump('lost', times, 2), 100);
    assert.equal(recording.samples, 32);
    assert.deepEqual(gaps, [{ firstInput: 0, endInput: 1, firstSample: 8, endSample: 24 }]);
    assert.deepEqual(values[0].slice(22, 28), [0, 0, code(8), code(9), code(10), code(11)]);
  });

  it('reports samples that are missing at its end, and refuses times that fit nothing', async () => {
    const times = ['00 0.000000240', '00 0.251658480', '00 0.503316720'];
    const { recording } = await whole(dump('cut', times, 2));
    assert.deepEqual([recording.samples, recording.endsEarly?.missingSamples], [16, 8]);
    await assert.rejects(
      whole(dump('odd', ['00 0.000000240', '00 0.300000000'], 2)),
      /odd\.timestamp, line 2: its time is 1\.1921 frames after the first/,
    );
    // A line is missing: its frame cannot be determined.
    await assert.rejects(
      whole(dump('fewer', [times[0], times[2]], 3)),
      /fewer\.timestamp: has 2 time stamps, where .*fewer\.dat holds 3 frames; put back the line/,
    );
    await assert.rejects(
      openFile(dump('short', times, 3)),
      /short\.dat: holds 12 bytes where a frame has 4194304; .*source\.rate/,
    );
  });
});

describe('GMRT phased array', () => {
  /** Four spectra per frame, two in each of a polarisation's files: [time][channel], re and im. */
  const value = (hand: number, t: number, channel: number, part: number): number =>
    ((hand * 101 + t * 13 + channel * 3 + part * 57) % 255) - 127;
  const beam = (name: string, parts: 1 | 2): string => {
    const line = (k: number): string =>
      `2013 07 28 02 53 55 0.517535 2013 07 28 02 53 55 ${(0.3241088 + k * 0.25165824).toFixed(9)} ${9995 + k} ${(3 + k) % 8} \n`;
    writeFileSync(at(`${name}.timestamp`), [0, 1].map(line).join(''));
    for (const [hand, letter] of ['L', 'R'].entries()) {
      const bytes = Array.from({ length: parts }, () => Buffer.alloc((2 * 4 * 1024) / parts));
      for (let t = 0; t < 8; t++) {
        const part = parts === 1 ? 0 : Math.floor((t % 4) / 2);
        const place = parts === 1 ? t : 2 * Math.floor(t / 4) + (t % 2);
        for (let x = 0; x < 1024; x++) bytes[part].writeInt8(value(hand, t, x >> 1, x & 1), place * 1024 + x);
      }
      bytes.forEach((of, k) => {
        writeFileSync(at(`${name}.Pol-${letter}${parts === 1 ? '' : k + 1}.dat`), of);
      });
    }
    return at(`${name}.timestamp`);
  };

  for (const parts of [1, 2] as const) {
    it(`of ${parts} file${parts === 1 ? '' : 's'} a polarisation: 512 channels, L and R`, async () => {
      const file = await openFile(beam(`beam${parts}`, parts), {
        sampleRateHz: 4 / 0.25165824,
        centreFrequencyHz: 3.22e8,
      });
      const { recording, values, gaps } = await readRecording(expectRecording(file), 3);
      assert.ok(recording.kind === 'spectra');
      assert.deepEqual(
        [recording.type, recording.channels, recording.inputs, recording.polarisations, recording.samples],
        ['ci8', 512, 2, 2, 8],
      );
      assert.equal(formatInstant(recording.start, 7), '2013-07-27T21:23:55.3241088Z');
      assert.equal(recording.frequenciesHz[256], 3.22e8);
      assert.deepEqual(gaps, []);
      for (const [channel, hand] of [
        [0, 0],
        [17, 1],
        [511, 1],
      ] as const)
        assert.deepEqual(
          values[channel * 2 + hand],
          Array.from({ length: 16 }, (_, k) => value(hand, k >> 1, channel, k & 1)),
        );
    });
  }

  it('without its samples is refused', async () => {
    writeFileSync(
      at('alone.timestamp'),
      '2013 07 28 02 53 55 0.517535 2013 07 28 02 53 55 0.324108800 9995 3 \n',
    );
    await assert.rejects(openFile(at('alone.timestamp')), /no samples lie beside it: alone\.Pol-L1\.dat/);
  });
});
