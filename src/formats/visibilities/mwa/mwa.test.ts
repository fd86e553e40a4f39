import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { baselineCount, baselineIndex } from '../../../core/axes.js';
import type { Integration } from '../../../core/blocks.js';
import { formatInstant } from '../../../core/instant.js';
import { temporaryFolder } from '../../../core/testing/temporary-folder.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../../core/units.js';
import { skyFrame } from '../../../sky/frame.js';
import type { OpenOptions, VisibilityFile } from '../../format.js';
import { openFile } from '../../registry.js';
import {
  encodeGpubox,
  encodeMetafits,
  encodeMwax,
  smallMwa,
  type MwaSample,
} from '../../testing/mwa-files.js';

const START = 1_377_280_290;

function folderOf(files: Readonly<Record<string, Uint8Array>>): (name: string) => string {
  const root = temporaryFolder('mwa');
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(root, name), bytes);
  return (name) => join(root, name);
}

async function readAll(
  path: string,
  options: OpenOptions = {},
): Promise<{ readonly file: VisibilityFile; readonly all: Integration[] }> {
  const file = await openFile(path, options);
  assert.ok(file.kind === 'visibilities');
  const all: Integration[] = [];
  for await (const one of file.integrations()) all.push(one);
  await file.close();
  return { file, all };
}

/** The stored mean of V between inputs a₁ and a₂, in either order in the triangle. */
function meanOf({ passThrough, stations }: Integration, c: number, a1: number, a2: number): [number, number] {
  const [i, j] = [a1 >> 1, a2 >> 1];
  const [first, second, sign] = i >= j ? [a1, a2, 1] : [a2, a1, -1];
  const cell = c * baselineCount(stations) + baselineIndex(first >> 1, second >> 1);
  const at = 2 * (cell * 4 + 2 * (first % 2) + (second % 2));
  assert.ok(passThrough);
  return [passThrough.means[at], sign * passThrough.means[at + 1]];
}

function assertHolds(integration: Integration, sample: MwaSample, unixS: number): void {
  const inputs = 2 * sample.tiles.length;
  for (let c = 0; c < integration.channels; c++) {
    for (let a1 = 0; a1 < inputs; a1++) {
      for (let a2 = 0; a2 < inputs; a2++) {
        const [re, im] = meanOf(integration, c, a1, a2);
        const [wantedRe, wantedIm] = sample.value(a1, a2, c, unixS);
        // The two halves of a Hermitian value are rounded separately.
        assert.ok(
          Math.hypot(re - wantedRe, im - wantedIm) < 1e-5,
          `c ${c}, inputs ${a1}, ${a2}: ${re}, ${im}`,
        );
      }
    }
  }
}

describe('MWA gpubox files of whole numbers', () => {
  it('are scaled by BSCALE (BITPIX 32)', async () => {
    const sample = smallMwa(32);
    // Steps far below the test's resolution.
    const at = folderOf({
      '1061315448.metafits': encodeMetafits(sample),
      '1061315448_20130823175130_gpubox03_00.fits': encodeGpubox(sample, {
        channels: 2,
        times: [START],
        bscale: 2 ** -20,
      }),
    });
    const { all } = await readAll(at('1061315448_20130823175130_gpubox03_00.fits'));
    assertHolds(all[0], sample, START);
  });
});

describe('MWA gpubox files', () => {
  const sample = smallMwa(32);
  const at = folderOf({
    '1061315448.metafits': encodeMetafits(sample),
    '1061315448_20130823175130_gpubox03_00.fits': encodeGpubox(sample, {
      channels: 3,
      times: [START, START + 0.5],
    }),
  });
  const path = at('1061315448_20130823175130_gpubox03_00.fits');

  it('every product of every pair is the one that its inputs made', async () => {
    const { file, all } = await readAll(path);
    assert.deepEqual([file.format, file.integrationCount, all.length], ['mwa', 2, 2]);
    assertHolds(all[0], sample, START);
    assertHolds(all[1], sample, START + 0.5);
    assert.equal(formatInstant(all[1].start), '2013-08-23T17:51:30.500Z');
    assert.deepEqual(
      file.telescope.stations.slice(0, 2).map(({ name, eastM, northM }) => [name, eastM, northM]),
      [['Tile11', -40, 0], ['Tile12', -27, 1]], // prettier-ignore
    );
    assert.ok(file.telescope.stations.every(({ upM }) => Math.abs(upM) < 1e-4));
  });

  it('above receiver channel 128 gpuboxes count downwards; averaged channels are centred', async () => {
    const { file } = await readAll(path);
    // Channels 127, 128, then 130, 129: the third is 130. 40 kHz are the mean of 0, 10, 20 and 30.
    assert.deepEqual(file.details.coarseChannels, [130]);
    assert.deepEqual(
      [...file.header.frequenciesHz],
      [0, 1, 2].map((c) => 130 * 1.28e6 - 640e3 + 15e3 + c * 40e3),
    );
  });

  it('a flagged tile comes out flagged, its values kept', async () => {
    const { file, all } = await readAll(path);
    const [one] = all;
    assert.deepEqual([...one.flaggedInputs].flatMap((flag, a) => (flag === 1 ? [a] : [])), [4, 5]); // prettier-ignore
    assert.deepEqual(file.details.flaggedTiles, ['Tile13']);
    assert.ok(one.passThrough);
    assert.equal(one.passThrough.weights[4 * baselineIndex(2, 1)], -20_000);
    assert.equal(one.passThrough.weights[4 * baselineIndex(1, 0)], 20_000);
    assert.equal(one.counts[baselineIndex(1, 0)], 20_000);
  });

  it('memory that is used again holds nothing of the time before', async () => {
    const both = folderOf({
      '1061315448.metafits': encodeMetafits(sample),
      '1061315448_x_gpubox01_00.fits': encodeGpubox(sample, { channels: 2, times: [START, START + 0.5] }),
      // The second time is missing here: stale memory would show the first one's values.
      '1061315448_x_gpubox02_00.fits': encodeGpubox(sample, { channels: 2, times: [START] }),
    });
    const { all } = await readAll(both('1061315448.metafits'));
    const file = await openFile(both('1061315448.metafits'));
    assert.ok(file.kind === 'visibilities');
    const again: Integration[] = [];
    const memories = new Set<ArrayBufferLike>();
    for await (const one of file.integrations('reused')) {
      again.push(structuredClone(one));
      if (one.passThrough) memories.add(one.passThrough.means.buffer);
    }
    await file.close();
    assert.equal(memories.size, 1);
    assert.deepEqual(again, all);
  });

  it('a file cut short keeps its whole integrations, and counts the other', async () => {
    const whole = encodeGpubox(sample, { channels: 3, times: [START, START + 0.5] });
    const cut = folderOf({
      '1061315448.metafits': encodeMetafits(sample),
      '1061315448_x_gpubox01_00.fits': whole.subarray(0, whole.length - 5000),
    });
    const { file, all } = await readAll(cut('1061315448_x_gpubox01_00.fits'));
    assert.deepEqual([all.length, file.details.truncatedIntegrations], [1, 1]);
  });
});

describe('MWAX files', () => {
  const sample = smallMwa(5, { integrationS: 2, coarseChannels: [120, 121, 122, 140] });
  const file1 = encodeMwax(sample, {
    channels: 2,
    times: [START],
    weight: (a1, a2) => (a1 === 0 && a2 === 2 ? 0.25 : a1 >> 1 === 1 && a2 >> 1 === 3 ? 0 : 1),
  });
  const at = folderOf({
    '1061315448_metafits.fits': encodeMetafits(sample),
    '1061315448_20211108122750_ch121_000.fits': file1,
  });
  const path = at('1061315448_20211108122750_ch121_000.fits');

  it('every product of every pair, the metafits under its longer name', async () => {
    const plain = folderOf({
      '1061315448.metafits': encodeMetafits(sample),
      '1061315448_1_ch121_000.fits': encodeMwax(sample, { channels: 2, times: [START] }),
    });
    const { file, all } = await readAll(plain('1061315448_1_ch121_000.fits'));
    assertHolds(all[0], sample, START);
    assert.equal(file.details.correlator, 'mwax');
    // An even number of channels: the one at the middle index is centred on the coarse channel.
    assert.deepEqual([...file.header.frequenciesHz], [121 * 1.28e6 - 640e3, 121 * 1.28e6 - 600e3]);
  });

  it('an odd number of fine channels has its middle one in the middle', async () => {
    const odd = smallMwa(2, { fineKhz: 256 });
    const folder = folderOf({
      '1061315448.metafits': encodeMetafits(odd),
      '1061315448_1_ch128_000.fits': encodeMwax(odd, { channels: 5, times: [START] }),
    });
    const { file } = await readAll(folder('1061315448_1_ch128_000.fits'));
    assert.equal(file.header.frequenciesHz[2], 128 * 1.28e6);
  });

  it('weights count samples; what has no weight is missing', async () => {
    const { all } = await readAll(path);
    const [{ passThrough, counts, productCounts }] = all;
    assert.ok(passThrough && productCounts);
    assert.equal(passThrough.weights[4 * baselineIndex(1, 0)], 20_000);
    assert.equal(passThrough.weights[4 * baselineIndex(1, 0) + 3], 80_000);
    // Each product counts separately; a baseline counts the largest.
    assert.equal(counts[baselineIndex(1, 0)], 80_000);
    assert.equal(productCounts[4 * baselineIndex(1, 0)], 20_000);
    assert.equal(productCounts[4 * baselineIndex(1, 0) + 3], 80_000);
    assert.equal(counts[baselineIndex(3, 1)], 0);
    assert.ok(Object.is(passThrough.weights[4 * baselineIndex(3, 1)], -0));
  });

  it('a value that is no number is a flag, and its partners stay', async () => {
    const bytes = Buffer.from(file1);
    // The first value of the first integration: 2880 bytes of primary header, 2880 of its own.
    bytes.writeFloatBE(Number.NaN, 5760);
    const folder = folderOf({
      '1061315448.metafits': encodeMetafits(sample),
      '1061315448_1_ch121_000.fits': bytes,
    });
    const { file, all } = await readAll(folder('1061315448_1_ch121_000.fits'));
    assert.deepEqual(file.faults, { notNumbers: 1, outsized: 0 });
    assert.deepEqual([...(all[0].productCounts ?? [])].slice(0, 4), [0, 80_000, 80_000, 80_000]);
    assert.ok(all[0].visibilities.every(Number.isFinite));
  });
});

describe('an MWA observation', () => {
  const sample = smallMwa(32);
  const piece = (times: readonly number[]): Uint8Array => encodeGpubox(sample, { channels: 2, times });
  const at = folderOf({
    '1061315448.metafits': encodeMetafits(sample),
    '1061315448_1_gpubox01_00.fits': piece([START, START + 0.5]),
    '1061315448_1_gpubox01_01.fits': piece([START + 1, START + 1.5]),
    // gpubox 2, channel 128, is lost; gpubox 4 is channel 129 and began late.
    '1061315448_1_gpubox04_00.fits': piece([START + 0.5, START + 1.5, START + 3]),
    '1061315449_1_gpubox02_00.fits': piece([START]),
  });

  it('opened by its metafits joins its files in time and frequency', async () => {
    const { file, all } = await readAll(at('1061315448.metafits'));
    assert.deepEqual(
      all.map(({ start }) => start.unixSeconds + start.fraction - START),
      [0, 0.5, 1, 1.5, 3],
    );
    assert.equal(file.header.frequenciesHz.length, 6);
    assert.ok(file.header.frequenciesHz.every((f, c, f_) => c === 0 || f > f_[c - 1]));
    // Which times hold which coarse channel: 127, 128, 129.
    const baselines = baselineCount(32);
    assert.deepEqual(
      all.map(({ counts }) => [0, 2, 4].map((c) => counts[c * baselines] > 0)),
      [
        [true, false, false],
        [true, false, true],
        [true, false, false],
        [true, false, true],
        [false, false, true],
      ],
    );
    const [re, im] = meanOf(all[1], 5, 9, 30);
    const [wantedRe, wantedIm] = sample.value(9, 30, 1, START + 0.5);
    assert.ok(Math.hypot(re - wantedRe, im - wantedIm) < 1e-5);
    assert.deepEqual(file.details.coarseChannels, [127, 129]);
    assert.deepEqual(file.details.missingCoarseChannels, [128, 130]);
    // From 0 to 3 s there are seven steps, five of them present; channel 127 lacks one of them, 129 two.
    assert.deepEqual([file.details.missingIntegrations, file.details.missingChannelIntegrations], [2, 3]);
    assert.equal(file.details.integrationsBeforeGoodTime, 1);
  });

  it('reports what to do where the metafits is missing, another’s, or alone', async () => {
    const lone = folderOf({
      '1061315448_1_gpubox01_00.fits': piece([START]),
      '1061315448_1.fits': piece([START]),
      'other.metafits': encodeMetafits(smallMwa(32, { obsId: 1_061_315_456 })),
      'same.metafits': encodeMetafits(sample),
    });
    const path = lone('1061315448_1_gpubox01_00.fits');
    await assert.rejects(openFile(path), /1061315448\.metafits, .*not beside it; .*source\.metafits/);
    await assert.rejects(openFile(path, { metafits: lone('nowhere.metafits') }), /no such file/);
    await assert.rejects(
      openFile(path, { metafits: lone('other.metafits') }),
      /belongs to observation 1061315448, not to 1061315456/,
    );
    await assert.rejects(openFile(lone('other.metafits')), /no correlator files/);
    const nameless = { metafits: lone('same.metafits') };
    await assert.rejects(openFile(lone('1061315448_1.fits'), nameless), /coarse channel.*source\.frequency/);
    const { file } = await readAll(lone('1061315448_1.fits'), {
      ...nameless,
      centreFrequencyHz: 128 * 1.28e6,
    });
    assert.deepEqual(file.details.coarseChannels, [128]);
    await assert.rejects(openFile(path, { ...nameless, centreFrequencyHz: 90e6 }), /not among the coarse/);
  });

  it('refuses files of another shape', async () => {
    const odd = folderOf({
      '1061315448.metafits': encodeMetafits(smallMwa(64)),
      '1061315448_1_gpubox01_00.fits': piece([START]),
    });
    await assert.rejects(openFile(odd('1061315448_1_gpubox01_00.fits')), /check that the metafits belongs/);
  });
});

describe('phases of the MWA', () => {
  const tiles = [0, 1, 2].map((s) => ({
    eastM: 100 * s,
    northM: 30 * s * s,
    cable: ['EL_-10.5', 'EL_40', '50'][s],
  }));
  const inOpen = async (sample: MwaSample, options: OpenOptions = {}) => {
    const at = folderOf({
      '1061315448.metafits': encodeMetafits(sample),
      '1061315448_1_ch128_000.fits': encodeMwax(sample, { channels: 2, times: [START] }),
    });
    return readAll(at('1061315448_1_ch128_000.fits'), options);
  };
  const turn = (f: number, pathM: number): number => (2 * Math.PI * f * pathM) / SPEED_OF_LIGHT_M_PER_S;

  it('keeps cable delays as recorded, and takes them out when asked', async () => {
    // Each signal is delayed by its cable; a bare length is the physical one, 1.204 times slower than light.
    const lateM = [-10.5, 40, 50 * 1.204];
    const frequencyHz = (c: number): number => 128 * 1.28e6 - 640e3 + c * 40e3;
    const sample = smallMwa(3, {
      tiles,
      value: (a1, a2, c) => {
        const phase = -turn(frequencyHz(c), lateM[a1 >> 1] - lateM[a2 >> 1]);
        return [Math.cos(phase), Math.sin(phase)];
      },
    });
    const kept = await inOpen(sample);
    assertHolds(kept.all[0], sample, START);
    const removed = await inOpen(sample, { cables: 'remove' });
    assertHolds(removed.all[0], { ...sample, value: () => [1, 0] }, START);
    assert.deepEqual(removed.file.details.delays, {
      mode: 'NODELAYS',
      cables: 'not applied by the correlator; removed here',
      geometric: 'not applied by the correlator',
      calibration: 'not applied by the correlator',
    });
    await assert.rejects(
      inOpen({ ...sample, cards: { CABLEDEL: 1 } }, { cables: 'remove' }),
      /already removed the delays of cables/,
    );
  });

  it('refuses cables that have no length, and an array of no tile', async () => {
    for (const cable of ['EL_', 'EL_x', 'long', '', 'EL_1e6']) {
      const sample = smallMwa(3, { tiles: tiles.map((tile, s) => (s === 1 ? { ...tile, cable } : tile)) });
      await assert.rejects(inOpen(sample), /TILEDATA row \d: cable length '.*' is no length/, cable);
    }
    await assert.rejects(inOpen(smallMwa(0)), /lists 0 inputs/);
  });

  it('sets fringes that the correlator stopped going again', async () => {
    // At the fringe-stopping direction the correlator's output of a source is constant.
    const sample = smallMwa(3, { tiles, value: () => [1, 0] });
    for (const geodel of [1, 2, 3]) {
      const { file, all } = await inOpen({ ...sample, cards: { GEODEL: geodel } });
      const frame = skyFrame(file.telescope.site, { unixSeconds: START, fraction: 0.25 });
      const sin60 = Math.sqrt(3) / 2;
      const towards = [
        { x: 0, y: 0, z: 1 },
        { x: 0.5, y: 0, z: sin60 },
        frame.directionEnu({ raDeg: 15, decDeg: -30 }),
      ][geodel - 1];
      const { stations } = file.telescope;
      for (const [i, j] of [
        [1, 0],
        [2, 0],
        [2, 1],
      ]) {
        // prettier-ignore
        const pathM =
          (stations[i].eastM - stations[j].eastM) * towards.x + (stations[i].northM - stations[j].northM) * towards.y;
        const phase = turn(file.header.frequenciesHz[1], pathM);
        const [re, im] = meanOf(all[0], 1, 2 * i, 2 * j);
        assert.ok(
          Math.hypot(re - Math.cos(phase), im - Math.sin(phase)) < 1e-6,
          `GEODEL ${geodel}, ${i}, ${j}`,
        );
      }
    }
    await assert.rejects(inOpen({ ...sample, cards: { GEODEL: 9 } }), /GEODEL = 9/);
  });
});
