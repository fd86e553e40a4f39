import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatInstant } from '../../core/instant.js';
import { guppi } from './guppi.js';
import { encodeGuppi, type GuppiSample } from '../testing/encoders.js';
import { readWhole, writeSample } from '../testing/reading.js';

/** A different value for every position: −100…100. */
const code = (s: number, input: number, t: number, part: number): number =>
  ((s * 31 + input * 17 + t * 5 + part * 3) % 201) - 100;
const sample: GuppiSample = {
  antennas: 3,
  channels: 4,
  polarisations: 2,
  blockSamples: 20,
  overlap: 4,
  blocks: [0, 1, 2],
  bandwidthMhz: 0.001,
  directIo: 'no',
  code,
};

describe('GUPPI RAW', () => {
  it('joins overlapping blocks of several antennas', async () => {
    const { recording, values, gaps, starts } = await readWhole(guppi, encodeGuppi(sample), {
      blockSamples: 7,
    });
    assert.equal(recording.kind, 'spectra');
    assert.equal(recording.samples, 52);
    assert.deepEqual(gaps, []);
    for (const [c, s, p, t] of [
      [0, 0, 0, 0],
      [3, 2, 1, 51],
      [1, 2, 0, 16],
      [2, 0, 1, 20],
    ]) {
      assert.deepEqual(
        values[(c * 3 + s) * 2 + p].slice(2 * t, 2 * t + 2),
        [0, 1].map((part) => code(s, c * 2 + p, t, part)),
      );
    }
    assert.deepEqual([...recording.frequenciesHz], [999_999_625, 999_999_875, 1_000_000_125, 1_000_000_375]);
    // MJD 58132 is 2018-01-14, 51093 s 14:11:33; spectra at 250 Hz, so block 1 starts 28 ms later.
    assert.equal(formatInstant(starts[1], 3), '2018-01-14T14:11:33.028Z');
  });

  it('turns a falling band round: channels reversed, samples conjugated', async () => {
    const { recording, values } = await readWhole(guppi, encodeGuppi({ ...sample, bandwidthMhz: -0.001 }));
    assert.ok(recording.kind === 'spectra' && recording.frequenciesHz[0] < recording.frequenciesHz[1]);
    // The file's first channel is the highest: row of channel 3, antenna 0, polarisation 0.
    assert.deepEqual(values[18].slice(0, 4), [
      code(0, 0, 0, 0),
      -code(0, 0, 0, 1),
      code(0, 0, 1, 0),
      -code(0, 0, 1, 1),
    ]);
  });

  it('reads 4 and 16 bits to the last one', async () => {
    for (const [bits, type, level] of [
      [4, 'ci8', (n: number) => (n % 16) - 8],
      [16, 'cf32', (n: number) => ((n * 977) % 65_536) - 32_768],
    ] as const) {
      const coded = (s: number, input: number, t: number, part: number): number =>
        level(s * 31 + input * 17 + t * 5 + part * 3 + 100);
      const bytes = encodeGuppi({ ...sample, bits, bandwidthMhz: -0.001, code: coded });
      const { recording, values } = await readWhole(guppi, bytes, { blockSamples: 7 });
      assert.deepEqual([recording.type, recording.bits, recording.samples], [type, bits, 52]);
      assert.equal(recording.tally?.saturated, 0);
      for (const [k, s, p, t] of [
        [0, 0, 0, 0],
        [3, 2, 1, 51],
        [1, 2, 0, 16],
      ]) {
        const pair = values[((3 - k) * 3 + s) * 2 + p].slice(2 * t, 2 * t + 2);
        assert.deepEqual(pair, [coded(s, k * 2 + p, t, 0), -coded(s, k * 2 + p, t, 1)]);
      }
    }
  });

  it('lists lost blocks, reads DIRECTIO padding, and leaves out a block cut short', async () => {
    const bytes = encodeGuppi({ ...sample, overlap: 0, blocks: [0, 2, 3], directIo: 'yes' });
    const { recording, gaps } = await readWhole(guppi, bytes.subarray(0, bytes.length - 1));
    const box = { firstInput: 0, endInput: 6, firstChannel: 0, endChannel: 4 };
    assert.deepEqual(gaps, [
      { ...box, firstSample: 20, endSample: 40 },
      { ...box, firstSample: 60, endSample: 80 },
    ]);
    assert.equal(recording.details.truncatedBlocks, 1);
    assert.equal(recording.tally?.frames, 2);
    // All of the last block except one byte: 20 samples of 24 rows of two bytes.
    assert.equal(recording.tally.spareBytes, 20 * 24 * 2 - 1);
  });

  it('refuses a header that promises more than the file holds', async () => {
    const bytes = encodeGuppi({ ...sample, overlap: 0, blocks: [0] });
    await assert.rejects(
      guppi.open(writeSample(bytes.subarray(0, bytes.length - 1))),
      /holds 959 bytes after its header, where a block has 960 \(BLOCSIZE\); it was cut short/,
    );
    // A damaged number would ask for a terabyte of zeros.
    const mad = bytes.toString('latin1').replace(/BLOCSIZE= +960/, 'BLOCSIZE=        1099511627760');
    await assert.rejects(
      guppi.open(writeSample(Buffer.from(mad, 'latin1'))),
      /where a block has 1099511627760/,
    );
  });

  it('passes over a block whose header is damaged', async () => {
    const bytes = encodeGuppi({ ...sample, overlap: 0 });
    bytes.fill(0, bytes.length / 3, bytes.length / 3 + 40);
    const { recording, gaps } = await readWhole(guppi, bytes);
    assert.equal(recording.samples, 60);
    assert.deepEqual(
      gaps.map((gap) => [gap.firstSample, gap.endSample]),
      [[20, 40]],
    );
    assert.equal(recording.tally?.spareBytes, bytes.length / 3);
  });

  it('leaves out a block that is there twice, and refuses an index that goes back', async () => {
    const right = await readWhole(guppi, encodeGuppi(sample));
    const twice = await readWhole(guppi, encodeGuppi({ ...sample, blocks: [0, 1, 1, 2] }));
    assert.deepEqual(twice.values, right.values);
    assert.deepEqual([twice.gaps, twice.recording.tally?.doubled], [[], 1]);
    await assert.rejects(
      guppi.open(writeSample(encodeGuppi({ ...sample, blocks: [0, 2, 1] }))),
      /PKTIDX goes back from 32 to 16 in block 2 at byte 4640; its blocks are out of order/,
    );
  });

  it('reports what blocks without a count were assumed to be, and refuses counts of nothing known', async () => {
    const without = (key: string, blocks: readonly number[]): Buffer =>
      Buffer.from(
        encodeGuppi({ ...sample, overlap: 0, blocks })
          .toString('latin1')
          .replaceAll(key, key.replace('P', 'X')),
        'latin1',
      );
    const damaged = without('PKTIDX', [0, 1, 2]);
    damaged.fill(0, damaged.length / 3, damaged.length / 3 + 40);
    const { recording, gaps } = await readWhole(guppi, damaged);
    assert.deepEqual(
      gaps.map((gap) => [gap.firstSample, gap.endSample]),
      [[20, 40]],
    );
    assert.match(recording.assumed?.[0] ?? '', /before block 1 at byte .* is damaged, and no PKTIDX counts/);
    const whole = await readWhole(guppi, without('PKTSIZE', [0, 1, 2]));
    assert.deepEqual([whole.recording.samples, whole.recording.assumed, whole.gaps], [60, undefined, []]);
    await assert.rejects(
      guppi.open(writeSample(without('PKTSIZE', [0, 2, 3]))),
      /PKTIDX goes up by 40 at first and by 20 to block 2 at byte .*, and neither PKTSIZE nor PIPERBLK states/,
    );
    const two = await readWhole(guppi, without('PKTSIZE', [0, 2]));
    assert.match(two.recording.assumed?.[0] ?? '', /goes up by 40, .*: blocks are assumed to be contiguous/);
  });

  it('moves −128 to −127 and counts it', async () => {
    const { recording, values } = await readWhole(guppi, encodeGuppi({ ...sample, code: () => -128 }));
    assert.equal(values[0][0], -127);
    assert.equal(recording.tally?.saturated, 52 * 24 * 2);
  });

  it('refuses what it cannot read', async () => {
    const bytes = encodeGuppi(sample);
    const broken = (from: string, to: string): string =>
      writeSample(Buffer.from(bytes.toString('latin1').replace(from, to), 'latin1'));
    await assert.rejects(
      guppi.open(broken('NBITS   =                    8', 'NBITS   =                    2')),
      /samples of 2 bits; GUPPI RAW of 4, 8 and 16 bits is read/,
    );
    await assert.rejects(
      guppi.open(broken("TELESCOP= 'TEST    '", "PKTFMT  = 'SIMPLE  '")),
      /keeps all channels of a time together/,
    );
    await assert.rejects(
      guppi.open(broken('TBIN    =                0.004', 'TBIN    =                 0.04')),
      /contradicts itself: TBIN makes a band of 25 Hz, OBSBW over the channels one of 250 Hz/,
    );
    await assert.rejects(guppi.open(broken('OBSNCHAN=', 'OBSNOISE=')), /lacks OBSNCHAN/);
    await assert.rejects(guppi.open(writeSample(bytes.subarray(0, 200))), /no whole GUPPI RAW header/);
  });
});
