/**
 * What can be known of the card's direct imager without a card: halves, the box, the gather tables. The folded transform
 * is walked through here step by step from the same tables, in float64, and must give the reference's image.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import type { SpectraCAT } from '../core/axes.js';
import { assertSameImage, randomGains, randomSpectra, randomStations, zenithAxes } from './cases.js';
import { channelsAtOnce, chooseDirect, gridBytes, touchedCells } from './cuda-plan.js';
import { orderPairs } from './cuda-pairs.js';
import { GROUP_BYTES, gridTables, STATIONS_AT, TASK_WORDS, tasksOf, type GridBox } from './cuda-tables.js';
import { DirectAccount } from './direct-account.js';
import { fromHalfBits, halfBits } from './half.js';
import { planImage, prepareDirectImager, type ImagePlan } from './index.js';

describe('half precision', () => {
  it('knows its landmarks', () => {
    const bits = { 1: 0x3c00, '-2': 0xc000, 0.5: 0x3800, 65504: 0x7bff, 65519: 0x7bff, 65520: 0x7c00 };
    for (const [value, want] of Object.entries(bits)) assert.equal(halfBits(Number(value)), want, value);
    assert.equal(halfBits(2 ** -24), 1);
    assert.equal(halfBits(2 ** -25), 0); // halfway to the smallest: ties to even
    assert.equal(halfBits(2 ** -14), 0x0400);
    assert.equal(halfBits(-0), 0x8000);
    assert.ok(Number.isNaN(fromHalfBits(halfBits(NaN))));
  });
  it('rounds ties to even, and carries into the next octave', () => {
    assert.equal(halfBits(1 + 2 ** -11), 0x3c00);
    assert.equal(halfBits(1 + 3 * 2 ** -11), 0x3c02);
    assert.equal(halfBits(2 - 2 ** -12), 0x4000);
    for (let bits = 0; bits < 0x7c00; bits++) assert.equal(halfBits(fromHalfBits(bits)), bits);
  });
});

const makePlan = (options: { pixels?: number; acrossM?: number; polarisations?: 1 | 2 } = {}): ImagePlan =>
  planImage({
    pixels: options.pixels ?? 64,
    field: { kind: 'all-sky' },
    stationsM: randomStations(5, 21, options.acrossM ?? 50),
    axes: zenithAxes,
    frequenciesHz: Float64Array.of(60e6, 52e6),
    polarisations: options.polarisations ?? 2,
  });

describe('the choice of kernels', () => {
  it('takes halves for compact apertures on Hopper, and says why not elsewhere', () => {
    const plan = makePlan();
    const choice = chooseDirect(plan, 'hopper', 'ci8');
    assert.equal(choice.kind, 'half');
    const why = (kind: ReturnType<typeof chooseDirect>): string => (kind.kind === 'single' ? kind.why : '');
    assert.match(why(chooseDirect(plan, 'tensor', 'ci8')), /Hopper/);
    assert.match(why(chooseDirect(plan, 'hopper', 'cf32')), /full scale/);
    assert.match(why(chooseDirect(makePlan({ pixels: 80 }), 'hopper', 'ci4')), /80 pixels/);
    assert.match(why(chooseDirect(makePlan({ pixels: 256, acrossM: 300 }), 'hopper', 'ci4')), /more than 64/);
  });
  it('puts the box around every cell that is touched', () => {
    const plan = makePlan();
    const choice = chooseDirect(plan, 'hopper', 'ci8');
    assert.ok(choice.kind === 'half');
    const { firstRow, endRow, firstColumn, endColumn } = touchedCells(plan);
    assert.ok(choice.box.firstRow <= firstRow && endRow <= choice.box.firstRow + choice.box.size);
    assert.ok(choice.box.firstColumn <= firstColumn && endColumn <= choice.box.firstColumn + choice.box.size);
  });
  it('takes channels in whole waves when they do not all fit', () => {
    const card = { blocksPerChannel: 2, multiprocessors: 132 };
    const sizes = { channels: 792, bytesPerChannel: gridBytes(32, 1000, 2) };
    // 8 kB a step: 8.192 MB a channel, 262 of them in 2 GiB, three waves of 66
    assert.equal(channelsAtOnce({ ...card, ...sizes, scratchBytes: 2 ** 31 }), 198);
    assert.equal(channelsAtOnce({ ...card, ...sizes, scratchBytes: 2 ** 40 }), 792);
    assert.equal(channelsAtOnce({ ...card, ...sizes, scratchBytes: 2 ** 25 }), 4);
    assert.equal(channelsAtOnce({ ...card, ...sizes, scratchBytes: 1 }), 1);
  });
});

describe('the order of pairs', () => {
  it('holds every pair once, by the difference of its places, all of them in the upper half', () => {
    const plan = makePlan();
    const { pairs, differences } = orderPairs(plan);
    const baselines = (plan.stations * (plan.stations + 1)) / 2;
    for (let c = 0; c < plan.channels; c++) {
      const seen = new Set<number>();
      let before = -Infinity;
      for (let n = c * baselines; n < (c + 1) * baselines; n++) {
        const [i, j] = [pairs[n] >> 16, pairs[n] & 0xffff];
        const [high, low] = [Math.max(i, j), Math.min(i, j)];
        assert.ok(high < plan.stations);
        seen.add((high * (high + 1)) / 2 + low);
        const [to, from] = [2 * (c * plan.stations + i), 2 * (c * plan.stations + j)];
        const [rows, columns] = differences.subarray(2 * n, 2 * n + 2);
        assert.equal(rows, plan.corners[to] - plan.corners[from]);
        assert.equal(columns, plan.corners[to + 1] - plan.corners[from + 1]);
        assert.ok(rows > 0 || (rows === 0 && columns >= 0), `${rows} ${columns} lies in the lower half`);
        assert.ok(1000 * rows + columns >= before, 'rows never fall, and columns rise along them');
        before = 1000 * rows + columns;
      }
      assert.equal(seen.size, baselines);
    }
  });
});

/** One slot as direct-grid.cu leaves it: [group][|v|][depth], in float64, walked from the tables alone. */
function foldedGrid(
  box: GridBox,
  tables: ReturnType<typeof gridTables>,
  channel: number,
  fields: readonly (readonly [number, number])[],
): Float64Array {
  const half = box.size / 2;
  const cellBlocks = box.size / 16;
  const slot = new Float64Array(4 * half * box.size);
  const tasks = tasksOf(box.size);
  for (let n = 0; n < 2 * 8 * tasks; n++) {
    const [task, row, cell] = [Math.floor(n / 16), Math.floor(n / 8) % 2, n % 8];
    const [length, place, first] = tables.tasks.subarray(TASK_WORDS * (channel * tasks + task));
    const v = 2 * Math.floor(place / cellBlocks) + row;
    const u0 = 8 * (place % cellBlocks);
    const quadrants = [0, 1, 2, 3].map((quadrant) => {
      let [re, im] = [0, 0];
      for (let group = 0; group < length; group++) {
        const view = new DataView(tables.groups.buffer, (first + group) * GROUP_BYTES, GROUP_BYTES);
        for (let k = 0; k < 16; k++) {
          const [x, y] = fields[view.getUint16(STATIONS_AT + 2 * (4 * k + quadrant), true)];
          const lane = cell * 4 + ((k % 8) >> 1);
          const byte = (row * 4 + quadrant) * 512 + lane * 16 + (k >> 3) * 4 + (k % 2) * 2;
          const wRe = fromHalfBits(view.getUint16(byte, true));
          const wIm = fromHalfBits(view.getUint16(byte + 8, true));
          re += x * wRe - y * wIm;
          im += x * wIm + y * wRe;
        }
      }
      return [re, im] as const;
    });
    const fold = (part: 0 | 1) => {
      const [a, b, c, d] = quadrants.map((quadrant) => quadrant[part]);
      return { ee: a + b + c + d, oe: a - b + c - d, eo: a + b - c - d, oo: a - b - c + d };
    };
    const [re, im] = [fold(0), fold(1)];
    const put = (group: number, parity: number, value: number): void => {
      slot[(group * half + v) * box.size + parity * half + u0 + cell] = value;
    };
    put(0, 0, re.ee);
    put(0, 1, -im.oe);
    put(1, 0, -im.eo);
    put(1, 1, -re.oo);
    put(2, 0, im.ee);
    put(2, 1, re.oe);
    put(3, 0, re.eo);
    put(3, 1, -im.oo);
  }
  return slot;
}

/** cos and sin of e^(−2πi pixel·u/n) at u = (depth mod BOX/2) + ½, stacked. */
function turn(pixels: number, box: number, pixel: number, depth: number): number {
  const angle = (2 * Math.PI * pixel * ((depth % (box / 2)) + 0.5)) / pixels;
  return depth < box / 2 ? Math.cos(angle) : -Math.sin(angle);
}

/** field : [m][l] (re, im) from a folded slot, by the two real stages of direct-hopper.cu. */
function fieldOf(slot: Float64Array, pixels: number, box: number): Float64Array {
  const half = box / 2;
  const field = new Float64Array(2 * pixels * pixels);
  const u = new Float64Array(4 * half);
  for (let l = 0; l < pixels; l++) {
    for (let column = 0; column < 4 * half; column++) {
      u[column] = 0;
      for (let depth = 0; depth < box; depth++)
        u[column] += turn(pixels, box, l, depth) * slot[column * box + depth];
    }
    for (let m = 0; m < pixels; m++) {
      for (let part = 0; part < 2; part++) {
        let sum = 0;
        for (let depth = 0; depth < box; depth++) sum += turn(pixels, box, m, depth) * u[part * box + depth];
        field[2 * (m * pixels + l) + part] = sum;
      }
    }
  }
  return field;
}

describe('the folded transform', () => {
  for (const polarisations of [1, 2] as const) {
    it(`gives the reference's image, ${polarisations} polarisation(s)`, async () => {
      const plan = makePlan({ polarisations });
      const { pixels, channels, stations, products } = plan;
      const choice = chooseDirect(plan, 'hopper', 'ci8');
      assert.ok(choice.kind === 'half');
      const tables = gridTables(plan, choice.box);
      const spectra = randomSpectra(7, 'ci8', plan, 1);
      const gains = randomGains(8, channels, stations * polarisations);
      const account = new DirectAccount(plan);
      account.setGains(gains);
      const sums = new Float64Array(channels * products * pixels * pixels);
      for (let c = 0; c < channels; c++) {
        const fields = Array.from({ length: polarisations }, (_, p) => {
          const calibrated = Array.from({ length: stations }, (_unused, s) =>
            calibratedSample(spectra, account.factors, (c * stations + s) * polarisations + p),
          );
          const slot = foldedGrid(choice.box, tables, c, calibrated);
          return fieldOf(slot, pixels, choice.box.size);
        });
        const [x, y] = [fields[0], fields.at(-1) ?? fields[0]];
        for (let at = 0; at < pixels * pixels; at++) {
          const [xr, xi, yr, yi] = [x[2 * at], x[2 * at + 1], y[2 * at], y[2 * at + 1]];
          const values = [xr * xr + xi * xi, yr * yr + yi * yi, xr * yr + xi * yi, xi * yr - xr * yi];
          for (let product = 0; product < products; product++)
            sums[(c * products + product) * pixels * pixels + at] = values[product];
        }
      }
      const backend = openReference();
      const block = backend.allocateSpectra({
        type: 'ci8',
        channels,
        inputs: stations * polarisations,
        capacity: 1,
      });
      await block.write(spectra, 1);
      const imager = await prepareDirectImager(plan, backend);
      imager.setGains(gains);
      await imager.accumulate(block);
      const wanted = await imager.finish();
      account.add(block);
      // Weights are halves, wrong by up to 2⁻¹² of themselves; at the field's edge the taper's removal triples that.
      // One time step averages nothing. A wrong sign or index anywhere makes this of order 1.
      assertSameImage(account.finish(sums).image, wanted.image, pixels, 2e-3);
    });
  }
});

function calibratedSample(spectra: SpectraCAT, factors: Float64Array, at: number): readonly [number, number] {
  const [x, y, re, im] = [spectra[2 * at], spectra[2 * at + 1], factors[2 * at], factors[2 * at + 1]];
  return [x * re - y * im, x * im + y * re];
}
