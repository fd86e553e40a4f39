/**
 * Real files of both correlators, if CORELLA_TEST_DATA names a folder with mwa/: compared with astropy, with another
 * reader's UVH5 of the same gpubox file, and with the sky.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { baselineIndex } from '../../../core/axes.js';
import type { Integration } from '../../../core/blocks.js';
import { addSeconds, formatInstant } from '../../../core/instant.js';
import { randomStream } from '../../../core/random.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../../core/units.js';
import { skyFrame } from '../../../sky/frame.js';
import type { VisibilityFile } from '../../format.js';
import { openFile } from '../../registry.js';
import { readMetafits } from './metafits.js';

const folder = join(process.env.CORELLA_TEST_DATA ?? '', 'mwa');
const skip =
  process.env.CORELLA_TEST_DATA === undefined || !existsSync(folder)
    ? 'CORELLA_TEST_DATA names no folder with mwa/'
    : false;
const GPUBOX = '1061315448_20130823175130_mini_gpubox07_01.fits';
const MWAX = '1320409688_20211108122750_mini_ch137_000.fits';
const TILES = 128;

async function only(name: string): Promise<{ readonly file: VisibilityFile; readonly one: Integration }> {
  const file = await openFile(join(folder, name));
  assert.ok(file.kind === 'visibilities');
  const all: Integration[] = [];
  for await (const integration of file.integrations()) all.push(integration);
  await file.close();
  assert.equal(all.length, 1);
  return { file, one: all[0] };
}
/** Product `pair` of (i, j), i ≥ j, as in the file. */
function mean({ passThrough }: Integration, i: number, j: number, pair: number): readonly [number, number] {
  const at = 2 * (4 * baselineIndex(i, j) + pair);
  assert.ok(passThrough);
  return [passThrough.means[at], passThrough.means[at + 1]];
}
const flagged = ({ flaggedInputs }: Integration): number[] =>
  [...flaggedInputs].flatMap((flag, a) => (flag === 1 ? [a] : []));

describe('real MWA files', { skip }, () => {
  it('a gpubox file, as astropy reads it', async () => {
    const { file, one } = await only(GPUBOX);
    assert.equal(formatInstant(one.start), '2013-08-23T17:51:30.000Z');
    assert.deepEqual([one.durationS, one.channels, one.stations], [0.5, 1, TILES]);
    assert.deepEqual([...file.header.frequenciesHz], [188_815_000]);
    assert.deepEqual(
      file.details.firstValues,
      [
        86207.796875, -4.327350325183943e-6, 922.250244140625, -256.9999084472656, 922.250244140625,
        256.9999694824219, 112075.7890625, -4.43379940406885e-6,
      ],
    );
    // The first output is input 0, which is Y of antenna 75.
    assert.equal(mean(one, 75, 75, 3)[0], 86207.796875);
    assert.deepEqual(flagged(one), [152, 153]);
    assert.deepEqual(
      [file.telescope.stations[75].name, file.details.object],
      ['Tile104', 'high_season1_2456528'],
    );
  });

  it('the same gpubox file as another reader left it in UVH5', async () => {
    const { file, one } = await only(GPUBOX);
    const { file: theirFile, one: theirs } = await only('1061315448_20130823175130_mini_vv_07_01.uvh5');
    assert.deepEqual(
      file.telescope.stations.map(({ name }) => name),
      theirFile.telescope.stations.map(({ name }) => name),
    );
    assert.deepEqual([...one.flaggedInputs], [...theirs.flaggedInputs]);
    // The other reader corrected the quantiser, which changes values by some per cent; a wrong pair, product or sign
    // gives no agreement.
    for (const pair of [0, 1, 2, 3]) {
      let [dot, ours2, theirs2] = [0, 0, 0];
      for (let i = 1; i < TILES; i++) {
        for (let j = 0; j < i; j++) {
          if (one.counts[baselineIndex(i, j)] === 0) continue;
          const [x, y] = [mean(one, i, j, pair), mean(theirs, i, j, pair)];
          dot += x[0] * y[0] + x[1] * y[1];
          ours2 += x[0] ** 2 + x[1] ** 2;
          theirs2 += y[0] ** 2 + y[1] ** 2;
        }
      }
      assert.ok(
        dot / Math.sqrt(ours2 * theirs2) > 0.9995,
        `product ${pair}: ${dot / Math.sqrt(ours2 * theirs2)}`,
      );
    }
  });

  it('an MWAX file, as astropy reads it', async () => {
    const { file, one } = await only(MWAX);
    assert.equal(formatInstant(one.start), '2021-11-08T12:27:50.000Z');
    assert.deepEqual([...file.header.frequenciesHz], [137 * 1.28e6 - 640e3]);
    assert.deepEqual(mean(one, 0, 0, 0)[0], 31650.2421875);
    // The file's (0, 1) XY = −8.860… − 8.878…i is our (1, 0) YX, conjugated.
    assert.deepEqual(mean(one, 1, 0, 2), [-8.860298156738281, 8.878622055053711]);
    assert.deepEqual(flagged(one), [98, 99]);
    assert.deepEqual([file.details.weights, file.details.object], ['in the file', '3C444']);
  });

  it('MWAX receives 3C444 where it stood, through cables as long as the metafits states', async () => {
    const { file, one } = await only(MWAX);
    const { cableM } = await readMetafits(join(folder, '1320409688.metafits'));
    const { stations, site } = file.telescope;
    const source = skyFrame(site, addSeconds(one.start, 1)).directionEnu({
      raDeg: 333.607,
      decDeg: -17.0288,
    });
    /** The share of the wanted fringes in the two strongest modes of XX and YY, summed; by chance it is 8. */
    const held = (side: 1 | -1, cableSign: 1 | -1): number =>
      [0, 1]
        .flatMap((p) => strongestModes(one, p).map((mode) => [p, mode] as const))
        .reduce((sum, [p, mode]) => {
          // The channel is at the very edge of the coarse band: half its power is aliased from the other edge.
          for (const frequencyHz of [file.header.frequenciesHz[0], file.header.frequenciesHz[0] + 1.28e6]) {
            let [re, im] = [0, 0];
            for (let s = 0; s < TILES; s++) {
              const { eastM, northM, upM } = stations[s];
              const pathM =
                side * (eastM * source.x + northM * source.y + upM * source.z) +
                cableSign * cableM[2 * s + p];
              const phase = (2 * Math.PI * frequencyHz * pathM) / SPEED_OF_LIGHT_M_PER_S;
              re += mode[2 * s] * Math.cos(phase) + mode[2 * s + 1] * Math.sin(phase);
              im += mode[2 * s + 1] * Math.cos(phase) - mode[2 * s] * Math.sin(phase);
            }
            sum += re * re + im * im;
          }
          return sum;
        }, 0);
    // Later by its cable, earlier by its position: the only one of four arrangements that shows the source.
    assert.ok(held(1, -1) > 25, `${held(1, -1)}`);
    for (const [side, sign] of [
      [1, 1],
      [-1, 1],
      [-1, -1],
    ] as const)
      // prettier-ignore
      assert.ok(held(side, sign) < 15, `${side} ${sign}: ${held(side, sign)}`);
  });
});

/** Unit vectors [s] (re, im) of the two largest eigenvalues of the correlation coefficients, without autos. */
function strongestModes(one: Integration, p: number): Float64Array[] {
  const matrix = new Float64Array(2 * TILES * TILES);
  const power = (s: number): number => mean(one, s, s, 3 * p)[0];
  for (let i = 1; i < TILES; i++) {
    for (let j = 0; j < i; j++) {
      if (one.counts[baselineIndex(i, j)] === 0) continue;
      const [re, im] = mean(one, i, j, 3 * p).map((value) => value / Math.sqrt(power(i) * power(j)));
      matrix.set([re, im], 2 * (i * TILES + j));
      matrix.set([re, -im], 2 * (j * TILES + i));
    }
  }
  const noise = randomStream(1);
  const modes = [0, 1].map(() => Float64Array.from({ length: 2 * TILES }, () => noise.gaussian()));
  // Above the noise's most negative eigenvalue, so that the power method finds the positive ones.
  const shift = 0.1;
  for (let step = 0; step < 300; step++) {
    modes.forEach((mode, k) => {
      const next = mode.map((value) => shift * value);
      for (let i = 0; i < TILES; i++) {
        for (let j = 0; j < TILES; j++) {
          const [re, im] = [matrix[2 * (i * TILES + j)], matrix[2 * (i * TILES + j) + 1]];
          next[2 * i] += re * mode[2 * j] - im * mode[2 * j + 1];
          next[2 * i + 1] += re * mode[2 * j + 1] + im * mode[2 * j];
        }
      }
      for (const other of modes.slice(0, k)) {
        let [re, im] = [0, 0];
        for (let s = 0; s < TILES; s++) {
          re += other[2 * s] * next[2 * s] + other[2 * s + 1] * next[2 * s + 1];
          im += other[2 * s] * next[2 * s + 1] - other[2 * s + 1] * next[2 * s];
        }
        for (let s = 0; s < TILES; s++) {
          next[2 * s] -= re * other[2 * s] - im * other[2 * s + 1];
          next[2 * s + 1] -= re * other[2 * s + 1] + im * other[2 * s];
        }
      }
      const size = Math.hypot(...next);
      mode.set(next.map((value) => value / size));
    });
  }
  return modes;
}
