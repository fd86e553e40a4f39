/** Weights of products: every format preserves them, each with its own product. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { countsCB, visibilitiesCBPP, weightsCBPP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { productCount, settleCounts } from '../../core/product-counts.js';
import { temporaryFolder } from '../../core/testing/temporary-folder.js';
import { openHdf5 } from '../hdf5/read.js';
import { gather, noFaults, type StoredProduct } from '../io/gather.js';
import { openFile, visibilityFormatFor } from '../registry.js';
import { readVisibilities, writeVisibilities } from '../testing/visibility-files.js';
import { baselines, header, integration } from './uvh5/testing.js';

const folder = temporaryFolder('weights');

/** XX of stations 2 and 0 flagged in channel 0, all of Y of station 1 flagged in channel 1; [pi][pj] of 2 > 0. */
function someFlagged(): Integration {
  const one = integration(0);
  const weights = Float64Array.from({ length: 2 * baselines * 4 }, (_, at) => one.counts[Math.floor(at / 4)]);
  const flag = (c: number, b: number, place: number): void => {
    weights[(c * baselines + b) * 4 + place] *= -1;
  };
  flag(0, 3, 0);
  // Pairs 10, 11, 21 include station 1; its Y is pi of 10, both of 11, pj of 21.
  for (const place of [2, 3]) flag(1, 1, place);
  for (const place of [1, 2, 3]) flag(1, 2, place);
  for (const place of [1, 3]) flag(1, 4, place);
  const means = one.visibilities.map((value, k) => value / one.counts[Math.floor(k / 8)]);
  const sums = one.visibilities.map((value, k) => (weights[Math.floor(k / 2)] > 0 ? value : 0));
  return {
    ...one,
    ...settleCounts(one, weights),
    visibilities: visibilitiesCBPP(sums, 2, baselines, 2),
    passThrough: {
      means: visibilitiesCBPP(means, 2, baselines, 2),
      weights: weightsCBPP(weights, 2, baselines, 2),
    },
  };
}

describe('weights of products', () => {
  for (const extension of ['uvfits', 'uvh5']) {
    it(`a flagged product leaves its partners, and losing Y leaves X: ${extension}`, async () => {
      const made = someFlagged();
      const path = await writeVisibilities(join(folder, `some.${extension}`), header, [made]);
      const {
        all: [found],
      } = await readVisibilities(path);
      assert.deepEqual([...found.flaggedInputs], [0, 0, 0, 0, 0, 0]);
      for (let c = 0; c < 2; c++)
        for (let b = 0; b < baselines; b++)
          for (const [pi, pj] of [
            [0, 0],
            [0, 1],
            [1, 0],
            [1, 1],
          ] as const) {
            const cell = c * baselines + b;
            const wanted = productCount(made, cell, pi, pj);
            assert.equal(productCount(found, cell, pi, pj), wanted, `channel ${c}, pair ${b}, ${pi}${pj}`);
            const at = 2 * (4 * cell + 2 * pi + pj);
            // Through means in single precision, phased and unphased.
            assert.ok(Math.abs(found.visibilities[at] - made.visibilities[at]) < 2e-2);
          }
      // Flagged values are present with their weight: not missing.
      assert.equal(found.passThrough?.weights[4 * 3], -made.counts[3]);
    });
  }

  it('what is no number is a flag of that value alone, and is counted', async () => {
    const one = integration(0);
    const means = one.visibilities.map((value, k) => value / one.counts[Math.floor(k / 8)]);
    means[2 * (4 * 3)] = Number.NaN;
    means[2 * (4 * 4 + 3) + 1] = Number.POSITIVE_INFINITY;
    const weights = Float64Array.from(
      { length: 2 * baselines * 4 },
      (_, at) => one.counts[Math.floor(at / 4)],
    );
    const bad: Integration = {
      ...one,
      passThrough: {
        means: visibilitiesCBPP(means, 2, baselines, 2),
        weights: weightsCBPP(weights, 2, baselines, 2),
      },
    };
    for (const extension of ['uvfits', 'uvh5']) {
      const path = await writeVisibilities(join(folder, `bad.${extension}`), header, [bad]);
      const { file, all } = await readVisibilities(path);
      assert.deepEqual(file.faults, { notNumbers: 2, outsized: 0 }, extension);
      const [found] = all;
      assert.equal(productCount(found, 3, 0, 0), 0);
      assert.equal(productCount(found, 4, 1, 1), 0);
      assert.equal(productCount(found, 3, 1, 1), one.counts[3]);
      assert.ok(found.visibilities.every(Number.isFinite));
    }
  });

  it('a weight that is no number is one too', () => {
    const faults = noFaults();
    const product: StoredProduct = { p1: 0, p2: 0, label: 'XX' };
    const gathering = gather({
      channels: 1,
      stations: 2,
      polarisations: 1,
      products: [product],
      values: 'mean',
      faults,
    });
    for (const weight of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, 0]) {
      gathering.clear();
      gathering.row(1, 0);
      gathering.add(0, product, 1, 2, weight);
      const { counts, passThrough } = gathering.finish({ start: integration(0).start, durationS: 1 });
      assert.deepEqual([...counts], [0, 0, 0]);
      assert.ok(passThrough?.weights.every(Number.isFinite), `${weight}`);
    }
    assert.equal(faults.notNumbers, 2);
  });
});

describe('values that are larger than anything received', () => {
  const product: StoredProduct = { p1: 0, p2: 0, label: 'XX' };
  /** Four stations, one channel: six pairs of value 2, some of them replaced. */
  const gathered = (
    pairs: Readonly<Record<string, number | undefined>>,
    weight = 1,
    values: 'mean' | 'sum' = 'mean',
  ) => {
    const faults = noFaults();
    const shape = { channels: 1, stations: 4, polarisations: 1, products: [product] } as const;
    const gathering = gather({ ...shape, values, faults });
    for (let i = 0; i < 4; i++)
      for (let j = 0; j <= i; j++) {
        gathering.row(i, j);
        const value = pairs[`${i}-${j}`];
        gathering.add(0, product, 0, value ?? (i === j ? 1000 : 2), value === undefined ? 1 : weight);
      }
    return { faults, made: gathering.finish({ start: integration(0).start, durationS: 1 }) };
  };
  const outsized = (...of: Parameters<typeof gathered>): number => gathered(...of).faults.outsized;

  it('are flagged, and with them all above 10⁴ times the median', () => {
    for (const values of ['mean', 'sum'] as const) {
      const { faults, made } = gathered({ '1-0': 3e4, '2-1': 3e33, '3-3': 1e9 }, 1, values);
      assert.equal(faults.outsized, 3);
      // Pairs in order: (0,0) (1,0) (1,1) (2,0) (2,1) (2,2) (3,0) …
      assert.deepEqual([...made.counts], [1, 0, 1, 1, 0, 1, 1, 1, 1, 0]);
      assert.ok(made.visibilities.every((value) => Math.abs(value) <= 1000));
      // Their values stay in the file, with a flag.
      assert.deepEqual([made.passThrough?.means[9], made.passThrough?.weights[4]], [3e33, -1]);
    }
    assert.equal(outsized({ '1-0': 1e9 }), 0, 'a bright interferer in a sound file');
  });

  it('are counted, from 10¹² times the median of the pairs and 10²⁰ on', () => {
    assert.equal(outsized({}), 0);
    assert.equal(outsized({ '2-1': 1.1e20 }), 1);
    assert.equal(outsized({ '2-1': 0.9e20 }), 0, 'a tone without noise');
    const bright = { '1-0': 1e10, '2-0': 1e10, '3-0': 1e10, '3-1': 1e10, '3-2': 1e10 };
    assert.equal(outsized({ ...bright, '2-1': 1.1e22 }), 1);
    assert.equal(outsized({ ...bright, '2-1': 0.9e22 }), 0);
    assert.equal(outsized({ '2-1': 3e33, '3-0': -3e33 }), 2);
  });

  it('are not counted where they are flagged, of one station alone, or where most are 0', () => {
    assert.equal(outsized({ '2-1': 3e33 }, -1), 0);
    assert.equal(outsized({ '2-2': 3e33 }), 0);
    assert.equal(outsized({ '1-0': 0, '2-0': 0, '2-1': 0, '3-1': 0, '3-2': 0 }), 0);
  });
});

describe('whole sums', () => {
  it('keep what is flagged: its sum and its count', async () => {
    const path = join(folder, 'flagged-sums.uvh5');
    const writer = await visibilityFormatFor(path).createVisibilities(path, header, { values: 'sums' });
    await writer.append(someFlagged());
    await writer.finish();
    const {
      all: [found],
    } = await readVisibilities(path);
    const [made, whole] = [someFlagged(), integration(0)];
    assert.deepEqual([...found.visibilities], [...made.visibilities]);
    assert.deepEqual([...(found.passThrough?.weights ?? [])], [...(made.passThrough?.weights ?? [])]);
    const at = 2 * 4 * 3;
    assert.equal(Math.round((found.passThrough?.means[at] ?? 0) * whole.counts[3]), whole.visibilities[at]);
    assert.notEqual(whole.visibilities[at], 0);
  });
});

describe('whole sums beyond 2³¹', () => {
  const big = 3 * 2 ** 40 + 1;
  function bigSums(): Integration {
    const one = integration(0);
    const sums = one.visibilities.slice();
    sums[8 * 3] = big;
    sums[8 * 3 + 1] = -big;
    const counts = one.counts.slice().fill(2 ** 24 + 1);
    return {
      ...one,
      visibilities: visibilitiesCBPP(sums, 2, baselines, 2),
      counts: countsCB(counts, 2, baselines),
    };
  }
  const write = async (path: string, largestSum?: number): Promise<void> => {
    const writer = await visibilityFormatFor(path).createVisibilities(path, header, {
      values: 'sums',
      largestSum,
    });
    try {
      await writer.append(bigSums());
      await writer.finish();
    } catch (error) {
      await writer.abandon();
      throw error;
    }
  };
  it('are kept in doubles and read back exactly, their counts too', async () => {
    const path = join(folder, 'big.uvh5');
    await write(path, big);
    const {
      all: [found],
    } = await readVisibilities(path);
    assert.deepEqual([...found.visibilities], [...bigSums().visibilities]);
    assert.ok(found.counts.every((count) => count === 2 ** 24 + 1));
    const hdf5 = await openHdf5(path);
    assert.match(JSON.stringify(hdf5.dataset('Data/visdata').storage), /./);
    await hdf5.close();
  });
  it('are refused in a file of 32 bits with an option that is one', async () => {
    await assert.rejects(
      write(join(folder, 'small.uvh5')),
      /32 bits; write means \(products\.visibilities\.values: means\)/,
    );
  });
});

describe('values that no sky has', () => {
  it('are refused by name', async () => {
    const odd = async (name: string, change: Partial<typeof header>, says: RegExp): Promise<void> => {
      for (const extension of ['uvfits', 'uvh5']) {
        const path = join(folder, `${name}.${extension}`);
        await writeVisibilities(path, { ...header, ...change }, [integration(0)]);
        await assert.rejects(openFile(path), says, extension);
      }
    };
    await odd('ra', { phaseCentre: { raDeg: 1e9, decDeg: 0 } }, /right ascension 1?0*1000000000/);
    await odd('dec', { phaseCentre: { raDeg: 0, decDeg: 200 } }, /declination 200°/);
    await odd('width', { channelWidthHz: -1e3 }, /-1000 Hz/);
    await odd('zero', { channelWidthHz: 0 }, /0 Hz/);
  });
});
