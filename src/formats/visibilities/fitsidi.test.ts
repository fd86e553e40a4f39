import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { baselineCount, baselineIndex } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { addSeconds, formatInstant } from '../../core/instant.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../../core/units.js';
import { skyFrame } from '../../sky/frame.js';
import { findSources } from '../../sky/sources.js';
import type { VisibilityFile } from '../format.js';
import { openFile } from '../registry.js';
import { encodeIdi, IDI_REFERENCE_HZ, smallIdi, type IdiSample } from '../testing/idi-file.js';
import { writeSample } from '../testing/reading.js';

async function readAll(
  path: string,
): Promise<{ readonly file: VisibilityFile; readonly all: Integration[] }> {
  const file = await openFile(path);
  assert.ok(file.kind === 'visibilities');
  const all: Integration[] = [];
  for await (const one of file.integrations()) all.push(one);
  await file.close();
  return { file, all };
}
const read = (sample: IdiSample) => readAll(writeSample(encodeIdi(sample)));

describe('FITS-IDI', () => {
  const sample = smallIdi();

  it('gives every row’s V₁₂ with its fringes running, in rising frequency', async () => {
    const { file, all } = await read(sample);
    assert.equal(file.format, 'fitsidi');
    assert.deepEqual([all.length, file.header.polarisations, file.header.feeds], [2, 2, 'circular']);
    assert.deepEqual(
      [...file.header.frequenciesHz],
      [0, 0.5e6, 8e6, 8.5e6].map((offset) => IDI_REFERENCE_HZ + offset),
    );
    assert.deepEqual(
      [file.header.object, file.header.phaseCentre],
      ['B1957+20', { raDeg: 299.9, decDeg: 20.8 }],
    );
    assert.deepEqual(file.telescope.stations.map(({ name }) => name), ['EF', 'WB', 'JB']); // prettier-ignore
    // The middle is at 6 h; the duration is two seconds.
    assert.equal(formatInstant(all[0].start), '2014-06-16T05:59:59.000Z');
    assert.equal(formatInstant(all[1].start), '2014-06-16T06:00:01.000Z');
    for (const row of sample.rows) {
      const { antenna1, antenna2, uvwS } = row;
      const one = all[row.timeDays > 0.25 ? 1 : 0];
      for (let c = 0; c < 4; c++) {
        for (const product of [0, 1]) {
          const [re, im] = sample.value(row, c >> 1, c % 2, product);
          const phase = 2 * Math.PI * file.header.frequenciesHz[c] * Math.fround(uvwS[2]);
          // Antenna 2 ≥ antenna 1 is our i: the conjugate.
          const cell = c * baselineCount(3) + baselineIndex(antenna2 - 1, antenna1 - 1);
          const at = 2 * (4 * cell + 3 * product);
          const wanted = [
            re * Math.cos(phase) - im * Math.sin(phase),
            im * Math.cos(phase) + re * Math.sin(phase),
          ];
          const sign = antenna1 === antenna2 ? 1 : -1;
          assert.ok(
            Math.abs(one.visibilities[at] - wanted[0]) < 1e-4,
            `${antenna1} ${antenna2} ${c} ${product}`,
          );
          assert.ok(Math.abs(one.visibilities[at + 1] - sign * wanted[1]) < 1e-4);
        }
      }
    }
  });

  it('weighs by band or by channel; what has no weight is flagged', async () => {
    const weight = (_row: unknown, band: number, channel: number, product: number): number =>
      product === 1 && band === 1 && channel === 0 ? 0 : 1 + band + channel / 2;
    const weightsOf = async (weights: IdiSample['weights']): Promise<number[]> => {
      const { all } = await read({ ...sample, weights, weight });
      const { passThrough } = all[0];
      assert.ok(passThrough);
      return [0, 1, 2, 3].flatMap((c) =>
        [0, 3].map((pair) => passThrough.weights[4 * (c * baselineCount(3)) + pair]),
      );
    };
    // Channel 0 gives the weight of its band.
    assert.deepEqual(await weightsOf('by band'), [1, 1, 1, 1, 2, -0, 2, -0]);
    assert.deepEqual(await weightsOf('by channel'), [1, 1, 1.5, 1.5, 2, -0, 2.5, 2.5]);
    assert.deepEqual(await weightsOf('none'), [1, 1, 1, 1, 1, 1, 1, 1]);
  });

  it('reads atomic time, and linear hands', async () => {
    const { file, all } = await read({ ...sample, firstCode: -5, timeSystem: 'IAT' });
    assert.equal(formatInstant(all[0].start), '2014-06-16T05:59:24.000Z');
    assert.equal(file.header.feeds, 'linear');
  });

  it('refuses what it would get wrong', async () => {
    await assert.rejects(read({ ...sample, sideband: -1 }), /lower sideband/);
    await assert.rejects(read({ ...sample, copies: 2 }), /several tables UV_DATA/);
    await assert.rejects(read({ ...sample, copies: 0 }), /no table UV_DATA/);
    const lost = sample.rows.map((row) => ({ ...row, source: 8 }));
    await assert.rejects(read({ ...sample, rows: lost }), /source 8, which its SOURCE table lacks/);
    const bytes = encodeIdi(sample);
    await assert.rejects(readAll(writeSample(bytes.subarray(0, bytes.length - 4000))), /truncated|too early/);
  });
});

describe('real FITS-IDI', () => {
  const path = join(process.env.CORELLA_TEST_DATA ?? '', 'fitsidi/lsl-idi-test.fits');
  const skip =
    process.env.CORELLA_TEST_DATA === undefined || !existsSync(path)
      ? 'CORELLA_TEST_DATA names no folder with fitsidi/'
      : false;

  it('LWA1 receives Cas A and Cyg A where they stood, and not their mirror images', { skip }, async () => {
    const { file, all } = await readAll(path);
    const [one] = all;
    const { stations, site } = file.telescope;
    assert.deepEqual(stations.map(({ name }) => name), ['LWA173', 'LWA151', 'LWA222', 'LWA150', 'LWA259']); // prettier-ignore
    assert.deepEqual([one.channels, one.polarisations], [418, 1]);
    assert.deepEqual(
      [file.header.frequenciesHz[0], file.header.frequenciesHz[417]],
      [40_003_906.25, 59_958_007.8125],
    );
    assert.equal(formatInstant(addSeconds(one.start, one.durationS / 2)), '2013-03-04T20:36:26.000Z');
    // LSL reads −67.54074 − 527.66956i for the first two; unphasing changes only phases.
    const at = 2 * baselineIndex(1, 0);
    const size = Math.hypot(one.visibilities[at], one.visibilities[at + 1]);
    assert.ok(Math.abs(size - Math.hypot(67.54074, 527.66956)) < 1e-3, `${size}`);
    const frame = skyFrame(site, one.start);
    /** Mean cosine between the phases of all pairs and channels and those of a source there. */
    const coherence = (name: string, side: 1 | -1): number => {
      const [source] = findSources([name]);
      const towards = frame.directionEnu(source.position(frame));
      let [sum, count] = [0, 0];
      for (let c = 0; c < one.channels; c++) {
        for (let i = 1; i < stations.length; i++) {
          for (let j = 0; j < i; j++) {
            const [a, b] = [stations[i], stations[j]];
            const pathM =
              side * ((a.eastM - b.eastM) * towards.x + (a.northM - b.northM) * towards.y) +
              (a.upM - b.upM) * towards.z;
            const phase = (2 * Math.PI * file.header.frequenciesHz[c] * pathM) / SPEED_OF_LIGHT_M_PER_S;
            const value = 2 * (c * baselineCount(stations.length) + baselineIndex(i, j));
            const [re, im] = one.visibilities.subarray(value, value + 2);
            sum += (re * Math.cos(phase) + im * Math.sin(phase)) / Math.hypot(re, im);
            count++;
          }
        }
      }
      return sum / count;
    };
    assert.ok(coherence('CasA', 1) > 0.35, `${coherence('CasA', 1)}`);
    assert.ok(coherence('CygA', 1) > 0.15, `${coherence('CygA', 1)}`);
    for (const name of ['CasA', 'CygA'])
      assert.ok(Math.abs(coherence(name, -1)) < 0.1, `${name}: ${coherence(name, -1)}`);
  });
});
