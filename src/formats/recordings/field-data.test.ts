/**
 * Real recordings, if present: CORELLA_TEST_DATA names a folder with dada/, guppi/, lwa/, mark5b/, mwa/, ska-low/,
 * uvh5/ and vdif/. The expected values come from other projects' readers (baseband, LSL, h5py, pyuvdata) of the same
 * files.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { baselineIndex } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { formatInstant, parseInstant } from '../../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { skyFrame } from '../../sky/frame.js';
import { findSources } from '../../sky/sources.js';
import type { OpenFileOptions } from '../registry.js';
import { openFile } from '../registry.js';
import { expectRecording, readRecording, type WholeRecording } from '../testing/reading.js';

const folder = process.env.CORELLA_TEST_DATA ?? '';
const skip = folder === '' || !existsSync(folder) ? 'CORELLA_TEST_DATA names no folder' : false;
const real = (name: string): string => join(folder, name);

async function recorded(name: string, options: OpenFileOptions = {}): Promise<WholeRecording> {
  return readRecording(expectRecording(await openFile(real(name), options)), 5000);
}
async function correlated(name: string) {
  const file = await openFile(real(name));
  assert.ok(file.kind === 'visibilities');
  const all: Integration[] = [];
  for await (const one of file.integrations()) all.push(one);
  await file.close();
  return { file, all };
}
/** Σ|x|² over the first samples of all rows. */
const power = ({ values }: WholeRecording, elements: number): number =>
  values.reduce((sum, row) => sum + row.slice(0, elements).reduce((inner, x) => inner + x * x, 0), 0);
const near = (value: number, expected: number, tolerance: number): void => {
  assert.ok(Math.abs(value - expected) <= tolerance, `${value} is not ${expected}`);
};
const H = Math.fround(3.316505);

describe('real recordings', { skip }, () => {
  it('VDIF of eight threads', async () => {
    const whole = await recorded('vdif/sample.vdif');
    assert.equal(formatInstant(whole.recording.start, 9), '2014-06-16T05:56:07.000000000Z');
    assert.deepEqual([whole.recording.samples, whole.recording.inputs], [40_000, 8]);
    assert.equal(whole.recording.kind === 'voltages' && whole.recording.sampleRateHz, 32e6);
    assert.deepEqual(whole.values[0].slice(0, 8), [-1, -1, H, -1, 1, -1, H, -1]);
    assert.deepEqual(whole.values[7].slice(0, 8), [H, H, H, -1, 1, 1, -1, -H]);
    near(power(whole, 2000), 70_665.654, 0.001);
  });

  it('VDIF of four channels without a rate', async () => {
    await assert.rejects(recorded('vdif/lsl-vdif-test.vdif'), /give the sample rate/);
    const whole = await recorded('vdif/lsl-vdif-test.vdif', { sampleRateHz: 490_512_384 });
    assert.equal(formatInstant(whole.recording.start, 9), '2015-04-16T09:41:02.999816290Z');
    assert.deepEqual(whole.values[3].slice(0, 8), [-1, 1, 1, 1, -1, 1, 1, 1]);
    near(power(whole, 2000), 9909.8482, 0.0001);
    assert.equal(whole.recording.details.station, 'KT');
  });

  it('VDIF of complex bytes', async () => {
    const whole = await recorded('vdif/sample_mwa.vdif', { sampleRateHz: 1.28e6 });
    assert.equal(formatInstant(whole.recording.start), '2015-10-03T20:49:45.000Z');
    // The other reader's levels are (byte − 127.5)/35.5; ours are byte − 128.
    const level = (x: number): number => Math.fround((x + 0.5) / 35.5);
    assert.deepEqual(
      whole.values[0].slice(0, 4).map(level),
      [2.070422649383545, 3.507042169570923, -2.8591549396514893, -3.507042169570923],
    );
    assert.deepEqual(whole.values[1].slice(0, 2).map(level), [2.7183098793029785, -2.8873238563537598]);
    near(power({ ...whole, values: whole.values.map((row) => row.map(level)) }, 2560), 42_688.394, 0.001);
  });

  it('Mark 5B', async () => {
    const whole = await recorded('mark5b/sample.m5b', { inputs: 8, near: parseInstant('2014-01-01') });
    assert.equal(formatInstant(whole.recording.start, 9), '2014-06-13T05:30:01.000000000Z');
    assert.equal(whole.recording.kind === 'voltages' && whole.recording.sampleRateHz, 32e6);
    assert.deepEqual(whole.values[0].slice(0, 8), [-H, -H, H, -H, 1, 1, -1, 1]);
    assert.deepEqual(whole.values[7].slice(0, 8), [H, 1, -1, 1, 1, 1, -H, -H]);
    near(power(whole, 2000), 74_895.318, 0.001);
  });

  it('GUPPI RAW, whole and cut short', async () => {
    const whole = await recorded('guppi/sample_puppi.raw');
    assert.equal(formatInstant(whole.recording.start), '2018-01-14T14:11:33.000Z');
    assert.deepEqual([whole.recording.samples, whole.values.length], [3904, 8]);
    assert.deepEqual(whole.values[0].slice(0, 6), [-7, 12, 5, -3, 11, 2]);
    assert.deepEqual(whole.values[7].slice(0, 6), [7, 7, 12, 23, 4, -27]);
    assert.equal(power(whole, 4000), 6_311_439);
    await assert.rejects(
      openFile(real('guppi/sample_vegas.raw')),
      /holds 7920 bytes after its header, where a block has 132186112 \(BLOCSIZE\)/,
    );
  });

  it('PSRDADA', async () => {
    const whole = await recorded('dada/sample.dada');
    assert.equal(formatInstant(whole.recording.start), '2013-07-02T01:39:20.000Z');
    assert.deepEqual(whole.values[0].slice(0, 6), [-38, -38, -38, -38, -105, 60]);
    assert.deepEqual(whole.values[1].slice(0, 6), [-38, -38, -40, 0, 85, -15]);
    assert.equal(power(whole, 4000), 117_658);
  });

  it('LWA voltages: TBN and DRX', async () => {
    const tbn = await recorded('lwa/tbn-test.dat');
    assert.deepEqual([tbn.recording.inputs, tbn.recording.details.frames], [20, 29]);
    assert.equal(tbn.recording.kind === 'voltages' && tbn.recording.sampleRateHz, 100_000);
    assert.equal(tbn.recording.details.firstTimeTag, '119196674956800');
    assert.deepEqual(tbn.values[0].slice(0, 8), [19, -4, -3, -4, 9, -4, 9, -5]);
    const sum = (part: number): number =>
      tbn.values[0].slice(0, 1024).reduce((s, x, k) => (k % 2 === part ? s + x : s), 0);
    assert.deepEqual([sum(0), sum(1)], [-198, 86]);
    // 29 of 40 frames: the inputs from 9 on lack their second frame.
    assert.deepEqual(tbn.gaps, [{ firstInput: 9, endInput: 20, firstSample: 512, endSample: 1024 }]);

    const drx = await recorded('lwa/drx-test.dat');
    assert.equal(formatInstant(drx.recording.start, 6), '2011-08-11T05:15:04.566387Z');
    assert.equal(drx.recording.details.firstTimeTag, '257355782095018376');
    assert.deepEqual(drx.values[1].slice(0, 8), [-2, 3, -1, 2, -1, 1, -3, -2]);
    assert.equal(
      drx.values[1].slice(0, 8192).reduce((s, x) => s + x * x, 0),
      36_194,
    );
  });

  it('LWA spectra: TBF and TBX', async () => {
    const packed = (re: number, im: number): number => ((re & 15) << 4) | (im & 15);
    const tbf = await recorded('lwa/tbf-test.dat');
    assert.ok(tbf.recording.kind === 'spectra');
    assert.equal(formatInstant(tbf.recording.start), '2015-11-13T00:59:22.000Z');
    assert.deepEqual(tbf.recording.details.firstChannels, [2348, 2360, 2372, 2384, 2396]);
    assert.equal(tbf.recording.frequenciesHz[0], 58.7e6);
    assert.deepEqual(
      [0, 1, 2, 3, 512, 513].map((row) => tbf.values[row][0]),
      [packed(-7, 2), packed(4, -7), packed(1, 0), packed(-7, 4), packed(-7, 3), packed(4, 3)],
    );
    const tbx = await recorded('lwa/tbx-test.dat');
    assert.ok(tbx.recording.kind === 'spectra');
    assert.equal(formatInstant(tbx.recording.start, 6), '2024-06-27T17:32:26.999975Z');
    assert.deepEqual([tbx.recording.channels, tbx.recording.inputs], [312, 128]);
    assert.deepEqual(
      [0, 1, 2, 3, 128, 129].map((row) => tbx.values[row][0]),
      [packed(-5, 2), packed(0, 1), packed(-2, 6), packed(3, 2), packed(1, -1), packed(-2, -1)],
    );
  });

  it('LWA visibilities: COR', async () => {
    const { file, all } = await correlated('lwa/cor-test.dat');
    assert.equal(formatInstant(all[0].start), '2018-06-21T15:27:49.000Z');
    near(file.header.frequenciesHz[0], 37.8984375e6, 1);
    near(file.header.frequenciesHz[1], 37.922364e6, 1);
    const value = (i: number, j: number, pair: number): number[] => {
      const at = 2 * (baselineIndex(i, j) * 4 + pair);
      const count = all[0].counts[baselineIndex(i, j)];
      return [all[0].visibilities[at] / count, all[0].visibilities[at + 1] / count];
    };
    near(value(0, 0, 0)[0], 0.13543314, 1e-8);
    // (1,2) XY = −0.00528803 + 0.0067519i is our (2,1) YX, conjugated.
    near(value(1, 0, 2)[0], -0.00528803, 1e-8);
    near(value(1, 0, 2)[1], -0.0067519, 1e-8);
    assert.equal(all[0].counts.filter((count) => count > 0).length, 65 * 72);
  });

  it('UVH5 of HERA, the ATA and the MWA', async () => {
    const hera = await correlated('uvh5/hera-zen.2458432.34569.uvh5');
    assert.deepEqual(hera.file.details.firstVisibility, [3_741_354, 0]);
    assert.deepEqual(hera.file.details.lastVisibility, [-271_634, 81_928]);
    assert.deepEqual(
      [hera.file.details.antennas, hera.file.details.antennasInData, hera.all.length],
      [6, 4, 8],
    );
    assert.equal(hera.file.details.storage, 'int32');
    const old = await correlated('uvh5/hera-zen.2458661.23480.HH.uvh5');
    assert.deepEqual([old.file.details.version, old.all.length], ['0.x', 20]);
    assert.deepEqual(old.file.details.lastVisibility, [1_143_609, 0]);
    const ata = await correlated('uvh5/ata.LoA.C0352.uvh5_60647_62965_9760406_3c286_0001.uvh5');
    assert.deepEqual([ata.file.details.antennas, ata.file.details.antennasInData], [42, 28]);
    near(ata.file.telescope.site.heightM, 1019.222, 1e-3);
    const mwa = await correlated('mwa/1061315448_20130823175130_mini_vv_07_01.uvh5');
    // One tile of 128 is flagged: 128 of 8256 rows, 1.55 %.
    assert.deepEqual(
      [...mwa.all[0].flaggedInputs].flatMap((flag, a) => (flag === 1 ? [a] : [])),
      [152, 153],
    );
    near(mwa.all[0].visibilities[0], 123_518.81, 0.01);
  });

  for (const name of [
    'eda2_correlation_burst_204_20211211_14373_0.hdf5',
    'aavs2_correlation_burst_204_20230823_21356_0.hdf5',
  ]) {
    it(`${name.split('_')[0]} receives the Sun where it stood, and not its mirror image`, async () => {
      const { file, all } = await correlated(`ska-low/${name}`);
      const [one] = all;
      assert.deepEqual([one.stations, one.channels, all.length], [256, 1, 1]);
      const frame = skyFrame(file.telescope.site, one.start);
      const sun = frame.directionEnu(findSources(['Sun'])[0].position(frame));
      /** Mean cosine between the phases of XX and those of a source at ±(l, m). */
      const coherence = (side: 1 | -1): number => {
        let sum = 0;
        let count = 0;
        for (let i = 1; i < 256; i++) {
          for (let j = 0; j < i; j += 3) {
            const at = 8 * baselineIndex(i, j);
            const [a, b] = [file.telescope.stations[i], file.telescope.stations[j]];
            const pathM =
              side * ((a.eastM - b.eastM) * sun.x + (a.northM - b.northM) * sun.y) + (a.upM - b.upM) * sun.z;
            const phase = (2 * Math.PI * file.header.frequenciesHz[0] * pathM) / SPEED_OF_LIGHT_M_PER_S;
            const size = Math.hypot(one.visibilities[at], one.visibilities[at + 1]);
            if (size === 0) continue;
            sum +=
              (one.visibilities[at] * Math.cos(phase) + one.visibilities[at + 1] * Math.sin(phase)) / size;
            count++;
          }
        }
        return sum / count;
      };
      assert.ok(coherence(1) > 0.25, `${coherence(1)}`);
      assert.ok(Math.abs(coherence(-1)) < 0.05, `${coherence(-1)}`);
    });
  }
});
