import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatInstant, parseInstant } from '../../core/instant.js';
import { dada } from './dada.js';
import { raw } from './raw.js';
import { encodeDada, type DadaSample } from '../testing/encoders.js';
import { readWhole, writeSample } from '../testing/reading.js';

const code = (_sender: number, input: number, t: number, part: number): number =>
  ((input * 17 + t * 5 + part * 3) % 201) - 100;
const sample: DadaSample = {
  channels: 1,
  polarisations: 2,
  samples: 600,
  bandwidthMhz: 16,
  instrument: 'asterix',
  offsetBytes: 6_400_000_000,
  code,
};

describe('PSRDADA', () => {
  it('reads one channel as voltages from where the offset states', async () => {
    const { recording, values } = await readWhole(dada, encodeDada(sample), { blockSamples: 97 });
    assert.equal(recording.kind === 'voltages' && recording.sampleRateHz, 16e6);
    // 6.4e9 bytes at 4 bytes × 16 MHz are 100 s.
    assert.equal(formatInstant(recording.start), '2013-07-02T01:39:20.000Z');
    for (const t of [0, 96, 97, 599]) {
      assert.deepEqual(values[1].slice(2 * t, 2 * t + 2), [code(0, 1, t, 0), code(0, 1, t, 1)]);
    }
  });

  it('begins by the finer of two clocks: UTC_START rounded, MJD_START with more digits', async () => {
    const startWith = async (utc: string, ...more: string[]): Promise<string> => {
      const bytes = encodeDada({ ...sample, offsetBytes: 0, more });
      const text = bytes.toString('latin1').replace('UTC_START 2013-07-02-01:37:40', `UTC_START ${utc}`);
      const header = Buffer.from(text.slice(0, 4096).padEnd(4096, '\0'), 'latin1');
      const whole = Buffer.concat([header, bytes.subarray(4096)]);
      return formatInstant((await readWhole(dada, whole)).recording.start, 9);
    };
    // MeerKAT's: 0.262395813837 of a day is 06:17:50.998315517 s.
    const utc = '2022-01-17-06:17:50.998315';
    assert.equal(await startWith(utc, 'MJD_START 59596.262395813837'), '2022-01-17T06:17:50.998315517Z');
    assert.equal(await startWith(utc, 'MJD_START 59596.2624'), '2022-01-17T06:17:50.998315000Z');
    await assert.rejects(
      startWith(utc, 'MJD_START 59597.262395813837'),
      /UTC_START 2022-01-17-06:17:50\.998315 and MJD_START 59597\.262395813837 are 86400\.0 s apart; correct/,
    );
    assert.equal(await startWith(utc, 'MJD_START 0'), '2022-01-17T06:17:50.998315000Z');
    // Whole seconds are exact, and picoseconds are finer than MJD.
    const whole = '2022-01-17-06:17:50';
    assert.equal(await startWith(whole, 'MJD_START 59596.262395813837'), '2022-01-17T06:17:50.000000000Z');
    assert.equal(await startWith(whole, 'PICOSECONDS 107083414'), '2022-01-17T06:17:50.000107083Z');
    // A leap second is a separate second.
    assert.equal(await startWith('2016-12-31-23:59:60'), '2016-12-31T23:59:60.000000000Z');
    assert.equal(
      await startWith('2016-12-31-23:59:60', 'PICOSECONDS 500000000000'),
      '2016-12-31T23:59:60.500000000Z',
    );
  });

  it('refuses a clock that is not of its band', async () => {
    const clocked = (tsamp: string, bandwidthMhz = 16): string =>
      writeSample(
        Buffer.from(
          encodeDada({ ...sample, channels: 1, bandwidthMhz, offsetBytes: 0 })
            .toString('latin1')
            .replace(/TSAMP \S+/, `TSAMP ${tsamp}`),
          'latin1',
        ),
      );
    await assert.rejects(
      dada.open(clocked('10')),
      /contradicts itself: TSAMP makes a band of 100 kHz, BW one of 16 MHz; correct/,
    );
    await assert.rejects(dada.open(clocked('0.025')), /TSAMP makes a band of 40 MHz, BW one of 16 MHz/);
    // Filterbanks oversample: 32/27 of the width.
    await (await dada.open(clocked(String(27 / 32), 1))).close();
  });

  for (const instrument of ['other', 'MKBF']) {
    it(`reads several channels as spectra (${instrument}), whichever way they lie`, async () => {
      const bytes = encodeDada({
        ...sample,
        channels: 4,
        instrument,
        samples: 512,
        bandwidthMhz: -4,
        offsetBytes: 0,
      });
      const { recording, values } = await readWhole(dada, bytes, { blockSamples: 100 });
      assert.equal(recording.kind === 'spectra' && recording.spectrumRateHz, 1e6);
      for (const [c, p, t] of [
        [0, 0, 0],
        [3, 1, 511],
        [1, 0, 255],
        [2, 1, 256],
      ]) {
        // Descending band: the file's channel k is our 3 − k, conjugated.
        assert.deepEqual(values[(3 - c) * 2 + p].slice(2 * t, 2 * t + 2), [
          code(0, c * 2 + p, t, 0),
          -code(0, c * 2 + p, t, 1),
        ]);
      }
    });
  }

  it("reads a heap of MeerKAT's beamformer byte by byte as [pol][channel][time]", async () => {
    // Two polarisations × three channels × 256 samples, written without the encoder: each byte encodes its position.
    const header = encodeDada({ ...sample, channels: 3, instrument: 'MKBF', samples: 0, offsetBytes: 0 });
    const heap = Buffer.alloc(2 * 3 * 256 * 2);
    for (let p = 0; p < 2; p++)
      for (let c = 0; c < 3; c++)
        for (let t = 0; t < 256; t++) heap.writeInt8(10 * c + p + 40 * (t % 2), ((p * 3 + c) * 256 + t) * 2);
    const { values } = await readWhole(dada, Buffer.concat([header, heap]), { blockSamples: 100 });
    for (const [c, p] of [
      [0, 0],
      [0, 1],
      [1, 0],
      [2, 1],
    ])
      for (const t of [0, 1, 99, 255])
        assert.equal(values[c * 2 + p][2 * t], 10 * c + p + 40 * (t % 2), `channel ${c}, polarisation ${p}`);
  });

  it('refuses an order of channels that it does not know', async () => {
    const several = { ...sample, channels: 4, offsetBytes: 0 };
    const open = (one: DadaSample) => dada.open(writeSample(encodeDada(one)));
    await assert.rejects(open({ ...several, more: ['ORDER FTP'] }), /channels in the order FTP/);
    await assert.rejects(open({ ...several, instrument: 'MeerKAT' }), /does not state the order/);
    await (await open({ ...several, instrument: 'MeerKAT', more: ['ORDER TFP'] })).close();
    // A single channel has only one order, whatever the header.
    await (await open({ ...sample, more: ['ORDER FTP'] })).close();
  });

  it('turns a falling band of voltages round: conjugates, or every second real sample', async () => {
    const falling = encodeDada({
      ...sample,
      bandwidthMhz: -16,
      code: (...at) => (at[2] === 7 ? -128 : code(...at)),
    });
    const { recording, values } = await readWhole(dada, falling, { blockSamples: 97 });
    for (const t of [0, 96, 97, 599]) {
      assert.deepEqual(values[1].slice(2 * t, 2 * t + 2), [code(0, 1, t, 0), -code(0, 1, t, 1)]);
    }
    // −128 has no opposite among bytes: in both inputs it became 127.
    assert.deepEqual([values[1].slice(14, 16), recording.tally?.saturated], [[-128, 127], 2]);
    // The same bytes as real samples: two consecutive numbers belong to the two polarisations.
    const text = falling.toString('latin1').replace('NDIM 2', 'NDIM 1').replace('BW -16', 'BW -8 ');
    const real = Buffer.from(text, 'latin1');
    const mirrored = await readWhole(dada, real, { blockSamples: 97 });
    // Sample 2t of input 0 is re of input 0 at t; sample 2t + 1 is its neighbour's re with opposite sign.
    assert.deepEqual(mirrored.values[0].slice(194, 198), [
      code(0, 0, 97, 0),
      0 - code(0, 1, 97, 0),
      code(0, 0, 98, 0),
      0 - code(0, 1, 98, 0),
    ]);
  });

  it('reports a file that holds less than its header states', async () => {
    // Four bytes per sample, 600 samples present: 2400 bytes.
    const early = async (...more: string[]) => {
      const { recording, gaps } = await readWhole(dada, encodeDada({ ...sample, more, offsetBytes: 8000 }));
      assert.deepEqual([recording.samples, gaps], [600, []], 'what may never have been taken is no gap');
      return recording.endsEarly;
    };
    assert.deepEqual(await early('FILE_SIZE 4000'), {
      said: 'FILE_SIZE',
      promisedBytes: 4000,
      heldBytes: 2400,
      missingSamples: 400,
    });
    assert.equal((await early('TRANSFER_SIZE 12000'))?.missingSamples, 2400);
    // The smaller one.
    assert.equal((await early('FILE_SIZE 2404', 'TRANSFER_SIZE 12000'))?.missingSamples, 1);
    // 8000 bytes before this file and 2400 in it are the whole recording.
    assert.equal(await early('FILE_SIZE 4000', 'TRANSFER_SIZE 10400'), undefined);
    for (const whole of ['FILE_SIZE 2400', 'FILE_SIZE 0', 'FILE_SIZE 2403', 'FILE_SIZE unset'])
      assert.equal(await early(whole), undefined, whole);
  });

  it('counts the samples of a heap that is cut as missing', async () => {
    const bytes = encodeDada({ ...sample, channels: 4, instrument: 'MKBF', samples: 768, offsetBytes: 0 });
    const { recording, gaps, values } = await readWhole(dada, bytes.subarray(0, bytes.length - 7), {
      blockSamples: 300,
    });
    assert.equal(recording.samples, 768);
    assert.deepEqual(
      gaps.map(({ firstSample, endSample }) => [firstSample, endSample]),
      [
        [512, 600],
        [600, 768],
      ],
    );
    assert.deepEqual(values[0].slice(2 * 511), [code(0, 0, 511, 0), code(0, 0, 511, 1), ...new Array<number>(512).fill(0)]); // prettier-ignore
    assert.equal(recording.tally?.spareBytes, 256 * 16 - 7);
  });

  it('drops a half sample at the end, and refuses a lost header', async () => {
    const bytes = encodeDada(sample);
    const { recording } = await readWhole(dada, bytes.subarray(0, bytes.length - 3));
    assert.equal(recording.samples, 599);
    assert.equal(recording.tally?.spareBytes, 1);
    await assert.rejects(dada.open(writeSample(bytes.subarray(0, 4096))), /ends within its header/);
    const nameless = Buffer.from(bytes.toString('latin1').replace('TSAMP', 'TSUMP'), 'latin1');
    await assert.rejects(dada.open(writeSample(nameless)), /lacks TSAMP/);
  });
});

describe('plain binary', () => {
  it('is what the user states it is', async () => {
    const bytes = Buffer.alloc(3 + 2 * 2 * 4);
    for (let k = 0; k < 8; k++) bytes.writeInt16LE(100 * k - 300, 3 + 2 * k);
    const start = parseInstant('2020-01-01T00:00:00');
    const options = {
      type: 'ci16',
      inputs: 2,
      sampleRateHz: 10,
      skipBytes: 3,
      start,
      polarisations: 2,
    } as const;
    const { recording, values } = await readWhole(raw, bytes, options);
    assert.deepEqual(values, [
      [-300, -200, 100, 200],
      [-100, 0, 300, 400],
    ]);
    assert.equal(recording.polarisations, 2);
    await assert.rejects(raw.open(writeSample(bytes)), /have no header/);
  });
});
