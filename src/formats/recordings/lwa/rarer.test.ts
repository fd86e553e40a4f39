/** TBW, DRX8, TBF of 64 stands and the recorder's spectrometer, with frames made by hand. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatInstant } from '../../../core/instant.js';
import { loadTelescope } from '../../../telescope/load.js';
import { encodeDrx } from '../../testing/encoders.js';
import {
  encodeDrSpectra,
  encodeDrx8,
  encodeNewerTbf,
  encodeTbw,
  type DrSample,
} from '../../testing/lwa-frames.js';
import { readWhole, writeSample } from '../../testing/reading.js';
import { lwa } from './lwa.js';

/** 2015-11-13T00:59:22, on a whole second and a whole spectrum of 8192 samples. */
const tag = 283_685_766_952_000_000n;
const small = (sender: number, input: number, t: number, part: number): number =>
  ((sender * 5 + input * 3 + t * 7 + part) % 15) - 7;

describe('LWA TBW', () => {
  // From −2048 to 2047 within few samples, so that all twelve bits are tested, including the sign.
  const wide = (sender: number, input: number, t: number): number =>
    ((t * 331 + sender * 97 + input * 1111) % 4096) - 2048;

  for (const [bits, code] of [
    [12, wide],
    [4, small],
  ] as const) {
    it(`of ${bits} bits: stands side by side that lie one after the other in the file`, async () => {
      const perFrame = bits === 12 ? 400 : 1200;
      const bytes = encodeTbw({
        tag,
        frames: 5,
        stands: [7, 2, 250],
        bits,
        code,
        drop: (sender, k) => (sender === 1 && k === 3 ? 'drop' : 'keep'),
      });
      const { recording, values, gaps } = await readWhole(lwa, bytes, { blockSamples: 1000 });
      assert.ok(recording.kind === 'voltages');
      assert.deepEqual(
        [recording.type, recording.bits, recording.inputs, recording.polarisations, recording.samples],
        [bits === 12 ? 'i16' : 'i8', bits, 6, 2, 5 * perFrame],
      );
      assert.deepEqual(
        [recording.sampleRateHz, recording.centreFrequencyHz, recording.unknownFacts],
        [196e6, 49e6, undefined],
      );
      assert.equal(formatInstant(recording.start), '2015-11-13T00:59:22.000Z');
      assert.deepEqual(recording.details.stands, [2, 7, 250]);
      // Stand 7 was written first; in number order it is the second.
      const all = (sender: number, pol: number): number[] =>
        Array.from({ length: 5 * perFrame }, (_, t) => code(sender, pol, t, 0));
      assert.deepEqual([values[2], values[3]], [all(0, 0), all(0, 1)]);
      assert.deepEqual([values[4], values[5]], [all(2, 0), all(2, 1)]);
      const lost = all(1, 1).fill(0, 3 * perFrame, 4 * perFrame);
      assert.deepEqual(values[1], lost);
      assert.equal(
        gaps.reduce((sum, gap) => sum + gap.endSample - gap.firstSample, 0),
        perFrame,
      );
      assert.ok(gaps.every(({ firstInput, endInput }) => firstInput === 0 && endInput === 2));
      assert.equal(recording.tally?.frames, 14);
    });
  }
});

describe('LWA DRX8', () => {
  const code = (sender: number, _input: number, t: number, part: number): number =>
    ((sender * 31 + t * 3 + part * 50) % 256) - 128;

  it('holds eight bits, from −128 to 127, and takes the filters’ delay off', async () => {
    const bytes = encodeDrx8({ tag, frames: 2, offset: 6440, code });
    const { recording, values } = await readWhole(lwa, bytes, { tuning: 2 });
    assert.ok(recording.kind === 'voltages');
    assert.deepEqual(
      [recording.details.mode, recording.bits, recording.samples, recording.sampleRateHz],
      ['DRX8', 8, 8192, 19.6e6],
    );
    assert.equal(recording.centreFrequencyHz, 49e6);
    assert.equal(formatInstant(recording.start, 6), '2015-11-13T00:59:22.000000Z');
    const wanted = Array.from({ length: 2 * 8192 }, (_, k) => code(1, 0, k >> 1, k & 1));
    assert.deepEqual(values[1], wanted);
  });

  it('is not what DRX becomes when a sync word of it is damaged', async () => {
    const bytes = encodeDrx({ tag, frames: 3, offset: 0, code: small });
    bytes[4128] ^= 0xff;
    const { recording } = await readWhole(lwa, bytes);
    assert.equal(recording.details.mode, 'DRX');
  });

  it('is known by a lone frame too', async () => {
    const bytes = encodeDrx8({ tag, frames: 1, offset: 0, code }).subarray(0, 8224);
    const { recording } = await readWhole(lwa, bytes);
    assert.deepEqual([recording.details.mode, recording.inputs], ['DRX8', 1]);
  });
});

describe('LWA TBF of 64 stands', () => {
  it('has channels of 196 MHz / 8192, whatever its time tags divide by', async () => {
    // A tag that is also divisible by 7840: it is not from LWA-SV's older 25 kHz channels.
    const start = 8192n * 7840n * 4_000_000_000n;
    const bytes = encodeNewerTbf({ tag: start, frames: 4, stands: 64, groups: 3, code: small });
    const { recording, values, gaps } = await readWhole(lwa, bytes);
    assert.ok(recording.kind === 'spectra');
    assert.deepEqual([recording.inputs, recording.channels, recording.samples, gaps.length], [128, 36, 4, 0]);
    assert.equal(recording.channelWidthHz, 196e6 / 8192);
    assert.equal(recording.frequenciesHz[13], 653 * (196e6 / 8192));
    // Group 2, channel 5 of it, stand 9, Y.
    const place = (5 * 64 + 9) * 2 + 1;
    const expected = ((small(2, place, 3, 0) & 15) << 4) | (small(2, place, 3, 1) & 15);
    assert.equal(values[(29 * 64 + 9) * 2 + 1][3], expected);
  });

  it('is read where there is one frame alone', async () => {
    const bytes = encodeNewerTbf({ tag, frames: 1, stands: 64, groups: 1, code: small });
    assert.equal(bytes.length, 1560);
    const { recording } = await readWhole(lwa, bytes);
    assert.equal(recording.inputs, 128);
  });
});

describe("LWA's data recorder as a spectrometer", () => {
  const made: DrSample = {
    tag,
    offset: 6440,
    channels: 4,
    transforms: 196,
    products: 0x09,
    integrations: [0, 1, 3],
    words: [2 ** 30, 2 ** 29],
    fills: [196, 98, 100, 50],
    value: (tuning, channel, k, part) => 1000 * tuning + 100 * channel + 10 * k + part + 1,
  };
  const read = async (sample: DrSample, tuning: 1 | 2 = 1) => {
    const file = await lwa.open(writeSample(encodeDrSpectra(sample)), { tuning });
    assert.ok(file.kind === 'visibilities');
    const all = [];
    for await (const integration of file.integrations()) all.push(integration);
    await file.close();
    return { file, all };
  };

  it('XX and YY are the autocorrelations of one station, powers of each transform', async () => {
    const { file, all } = await read(made, 2);
    assert.equal(file.integrationCount, 4);
    assert.deepEqual([file.telescope.stations.length, file.telescope.stations[0].name], [1, 'beam3']);
    assert.deepEqual(file.header.products, [-5, -6]);
    // 2²⁹ of 2³² cycles of 196 MHz is 24.5 MHz; 19.6 MHz in four channels, the third at that frequency.
    assert.deepEqual([...file.header.frequenciesHz], [14.7e6, 19.6e6, 24.5e6, 29.4e6]);
    assert.equal(file.header.channelWidthHz, 4.9e6);
    // 4 · 196 · 10 ticks of 196 MHz.
    assert.equal(all[0].durationS, 4e-5);
    assert.equal(formatInstant(all[3].start, 6), '2015-11-13T00:59:22.000120Z');
    // XX of tuning 2, channel 1, first integration: 1101 over 4 channels and 100 transforms; YY 1102 over 50.
    const near = (got: number, wanted: number): void => {
      assert.ok(Math.abs(got - wanted) < 1e-12 * Math.abs(wanted), `${got}`);
    };
    const [first] = all;
    assert.equal(first.counts[1], 50);
    near(first.visibilities[8] / 50, 1101 / 400);
    near(first.visibilities[14] / 50, 1102 / 200);
    assert.deepEqual([...first.visibilities.slice(10, 14)], [0, 0, 0, 0]);
    // The third integration is not in the file.
    assert.ok(all[2].counts.every((count) => count === 0));
    assert.equal(all[3].counts[0], 50);
  });

  it('Stokes parameters become XX, XY, YX and YY', async () => {
    // I 10, Q 4, U 6, V 2: XX 7, YY 3, XY* = 3 + i.
    const { file, all } = await read({
      ...made,
      products: 0xf0,
      integrations: [0],
      fills: [1, 1, 1, 1] as const,
      value: (_tuning, _channel, _k, part) => 4 * [10, 4, 6, 2][part],
    });
    assert.equal(file.header.products, undefined);
    assert.deepEqual([...all[0].visibilities.subarray(0, 8)], [7, 0, 3, 1, 3, -1, 3, 0]);
  });

  it('what the recorder marked as an error is missing', async () => {
    const { all } = await read({ ...made, errors: (k) => (k === 1 ? 1 : 0) });
    assert.deepEqual([all[0].counts[0], all[1].counts[0]], [98, 0]);
  });

  it('I and V alone do not give X and Y, and a frequency that is missing is asked for', async () => {
    await assert.rejects(read({ ...made, products: 0x90 }), /holds I, V of X and Y; read are XX, YY;/);
    await assert.rejects(
      read({ ...made, words: [0, 0] }),
      /its tuning 1 was not tuned; give .*source\.frequency/,
    );
  });

  it('is at the position of its station, with a warning where the station is unknown', async () => {
    const path = writeSample(encodeDrSpectra(made));
    const placed = await lwa.open(path, { telescope: await loadTelescope('lwa1') });
    assert.ok(placed.kind === 'visibilities');
    assert.deepEqual([placed.telescope.stations.length, placed.assumed], [1, undefined]);
    assert.equal(placed.telescope.site.latitudeDeg, 34.068894);
    await placed.close();
    const { file } = await read(made);
    assert.match(file.assumed?.join() ?? '', /the position of the station is unknown: give telescope/);
  });
});
