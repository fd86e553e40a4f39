/**
 * What can be tested of the card's direct imager without a card: halves, the box, the gather tables. The folded
 * transform is computed here step by step from the same tables, in float64, and must give the reference's image.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../../../backend/reference.js';
import type { SpectraCAT } from '../../../core/axes.js';
import { assertSameImage, randomGains, randomSpectra, randomStations, zenithAxes } from '../../cases.js';
import { channelsAtOnce } from '../../cuda/plan.js';
import { orderPairs, rowsReached } from '../../flat/cuda/pairs.js';
import { gridTables, TASK_WORDS, tasksOf, WEIGHT_BYTES, type GridBox } from './tables.js';
import { DirectAccount } from '../account.js';
import {
  LEAST_HALF_STEPS,
  prepareDirectChoice,
  touchedCells,
  type ChoosableBlocks,
  type DirectChoice,
  type DirectPrecision,
} from './choice.js';
import { gridBytes, stepsAtOnce } from './folded-plan.js';
import { fromHalfBits, halfBits } from './halves/half.js';
import { halfTurns } from './halves/half-rounding.js';
import { planImage, prepareDirectImager, type ImagePlan, type KernelSize } from '../../index.js';
import { LEAST_SAMPLED_STEPS, planSampling, sampleWeights } from './sampling.js';
import { halvesOf, splitHalf, splitTurns, TAP_SCALE, type FoldedPrecision } from './halves/split-halves.js';

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
  it('holds 22 bits in two halves', () => {
    for (const value of [1 + 2 ** -22, -Math.PI, 0.1, 1000 / 3, -(2 ** 15) - 1 / 64, 0, 1]) {
      const [nearest, rest] = splitHalf(value);
      assert.ok(
        Math.abs(fromHalfBits(nearest) + fromHalfBits(rest) - value) <=
          Math.max(2 ** -23 * Math.abs(value), 2 ** -25),
      );
      assert.equal(nearest, halfBits(value));
    }
  });
});

interface Wishes {
  readonly pixels?: number;
  readonly acrossM?: number;
  readonly polarisations?: 1 | 2;
  readonly size?: KernelSize;
}
const makePlan = (options: Wishes = {}): ImagePlan =>
  planImage({
    pixels: options.pixels ?? 64,
    field: { kind: 'all-sky' },
    stationsM: randomStations(5, 21, options.acrossM ?? 50),
    axes: zenithAxes,
    frequenciesHz: Float64Array.of(60e6, 52e6),
    polarisations: options.polarisations ?? 2,
    kernel: { kind: 'fitted', size: options.size ?? 5 },
  });

describe('the choice of kernels', () => {
  const long: ChoosableBlocks = { type: 'ci8', samples: LEAST_HALF_STEPS };
  const short: ChoosableBlocks = { type: 'ci8', samples: LEAST_HALF_STEPS - 1 };
  const choose = (plan: ImagePlan, blocks = long, precision?: DirectPrecision): DirectChoice =>
    prepareDirectChoice(plan, 'hopper', precision)(blocks);

  it('takes halves where they hold 1e-3, two to a number where they do not', () => {
    const [plan, deep] = [makePlan(), makePlan({ size: 7 })];
    assert.equal(choose(plan).kind, 'half');
    assert.equal(choose(plan, short).kind, 'split');
    assert.equal(choose(deep).kind, 'split');
    assert.equal(choose(makePlan({ pixels: 84 })).kind, 'half');
    assert.match(choose(plan).description, /^half precision on the tensor cores, in a box of 32 cells$/);
    assert.match(choose(plan, short).description, /^single precision .* 255 steps are too few/);
    assert.match(choose(deep).description, /taper of 7 × 7 kernels/);
  });
  it('takes what is asked for', () => {
    const plan = makePlan({ size: 7 });
    assert.equal(choose(plan, short, 'half').kind, 'half');
    assert.equal(choose(plan, long, 'single').kind, 'split');
  });
  it('takes plain single precision where the tensor cores cannot be, and reports why', () => {
    const plan = makePlan();
    const why = (choice: DirectChoice): string => (choice.kind === 'float' ? choice.why : '');
    assert.match(why(prepareDirectChoice(plan, 'tensor')(long)), /Hopper/);
    assert.match(why(prepareDirectChoice(plan, 'hopper')({ type: 'cf32', samples: 1000 })), /full scale/);
    assert.match(why(choose(makePlan({ pixels: 256, acrossM: 300 }))), /more than 64/);
  });
  it('puts the box around every cell that is touched', () => {
    const plan = makePlan();
    const choice = choose(plan);
    assert.ok(choice.kind === 'half');
    const { firstRow, endRow, firstColumn, endColumn } = touchedCells(plan);
    assert.ok(choice.box.firstRow <= firstRow && endRow <= choice.box.firstRow + choice.box.size);
    assert.ok(choice.box.firstColumn <= firstColumn && endColumn <= choice.box.firstColumn + choice.box.size);
  });
  it('takes channels in whole waves when they do not all fit', () => {
    const card = { multiprocessorsPerChannel: 2, multiprocessors: 132 };
    const sizes = { channels: 792, bytesPerChannel: gridBytes(32, 1000, 2, 'half') };
    // 8 kB a step: 8.192 MB a channel, 262 of them in 2 GiB, three waves of 66
    assert.equal(channelsAtOnce({ ...card, ...sizes, scratchBytes: 2 ** 31 }), 198);
    assert.equal(channelsAtOnce({ ...card, ...sizes, scratchBytes: 2 ** 40 }), 792);
    assert.equal(channelsAtOnce({ ...card, ...sizes, scratchBytes: 2 ** 25 }), 4);
    assert.equal(channelsAtOnce({ ...card, ...sizes, scratchBytes: 1 }), 1);
    assert.equal(gridBytes(32, 1000, 2, 'split'), 2 * sizes.bytesPerChannel);
  });
  it('takes fewer steps where a card full of channels would not fit with all of them', () => {
    const wide = { bytesPerStep: gridBytes(64, 8, 2, 'split') / 8, channels: 66, scratchBytes: 3 * 2 ** 30 };
    // 64 kB a step and channel: 744.7 steps of 66 channels
    assert.equal(stepsAtOnce({ ...wide, steps: 1000 }), 744);
    assert.equal(stepsAtOnce({ ...wide, steps: 25 }), 32);
    assert.equal(stepsAtOnce({ ...wide, steps: 25, scratchBytes: 1 }), 8);
    assert.equal(stepsAtOnce({ ...wide, steps: 0 }), 8);
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
        assert.ok(rows > 0 || (rows === 0 && columns >= 0), `${rows} ${columns} is in the lower half`);
        assert.ok(1000 * rows + columns >= before, 'rows never fall, and columns rise along them');
        before = 1000 * rows + columns;
      }
      assert.equal(seen.size, baselines);
    }
  });

  it('reaches the rows from a kernel below to a kernel above its differences, and no more than there are', () => {
    const differences = Int32Array.of(0, 4, 3, -2, 9, 0);
    assert.deepEqual(rowsReached({ pixels: 64, kernelSize: 5 }, { differences }), { first: -4, count: 18 });
    assert.deepEqual(rowsReached({ pixels: 16, kernelSize: 5 }, { differences }), { first: -4, count: 16 });
  });
});

/** One slot in the layout of the gridding kernels: [group][|v|][depth], in float64, computed from the tables alone. */
function foldedGrid(
  box: GridBox,
  tables: ReturnType<typeof gridTables>,
  halves: number,
  channel: number,
  fields: readonly (readonly [number, number])[],
): Float64Array {
  const { groupBytes } = tables;
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
        const view = new DataView(tables.groups.buffer, (first + group) * groupBytes, groupBytes);
        for (let k = 0; k < 16; k++) {
          const [x, y] = fields[view.getUint16(halves * WEIGHT_BYTES + 2 * (4 * k + quadrant), true)];
          const lane = cell * 4 + ((k % 8) >> 1);
          const byte = (row * 4 + quadrant) * 512 + lane * 16 + (k >> 3) * 4 + (k % 2) * 2;
          let [wRe, wIm] = [0, 0];
          for (let at = byte; at < halves * WEIGHT_BYTES; at += WEIGHT_BYTES) {
            wRe += fromHalfBits(view.getUint16(at, true));
            wIm += fromHalfBits(view.getUint16(at + 8, true));
          }
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

/** The transform's factors : [pixel][depth], from the card's tables. */
const turnsOf = {
  half: (plan, size) => {
    const { turns, unscale } = halfTurns(plan, size);
    return Float64Array.from(
      turns,
      (bits, at) => fromHalfBits(bits) * Math.sqrt(unscale[Math.floor(at / size)]),
    );
  },
  split: (plan, size) => {
    const turns = splitTurns(plan, size);
    const rests = turns.subarray(turns.length / 2);
    return Float64Array.from(rests, (bits, at) => fromHalfBits(turns[at]) + fromHalfBits(bits));
  },
} satisfies Record<FoldedPrecision, (plan: ImagePlan, size: number) => Float64Array>;

/** field : [m][l] (re, im) from a folded slot, by the two real stages of the imaging kernels. */
function fieldOf(slot: Float64Array, turns: Float64Array, pixels: number, box: number): Float64Array {
  const half = box / 2;
  const field = new Float64Array(2 * pixels * pixels);
  const u = new Float64Array(4 * half);
  for (let l = 0; l < pixels; l++) {
    for (let column = 0; column < 4 * half; column++) {
      u[column] = 0;
      for (let depth = 0; depth < box; depth++)
        u[column] += turns[l * box + depth] * slot[column * box + depth];
    }
    for (let m = 0; m < pixels; m++) {
      for (let part = 0; part < 2; part++) {
        let sum = 0;
        for (let depth = 0; depth < box; depth++) sum += turns[m * box + depth] * u[part * box + depth];
        field[2 * (m * pixels + l) + part] = sum;
      }
    }
  }
  return field;
}

describe('the folded transform', () => {
  // One half: weights and factors are wrong by up to 2⁻¹² of themselves; at the field's edge the taper's removal
  // triples that, and one time step averages nothing. Two: 2⁻²³. A wrong sign or index anywhere gives an error of order
  // 1.
  for (const [precision, polarisations, pixels, tolerance] of [
    ['half', 1, 64, 3e-3],
    ['half', 2, 64, 3e-3],
    ['half', 2, 100, 3e-3],
    ['split', 2, 64, 1e-6],
  ] as const) {
    const title = `${polarisations} polarisation(s), ${pixels} pixels`;
    it(`gives the reference's image from ${precision} tables, ${title}`, async () => {
      const plan = makePlan({ polarisations, pixels });
      const { channels, stations, products } = plan;
      const choice = prepareDirectChoice(plan, 'hopper')({ type: 'ci8', samples: 1 });
      assert.ok(choice.kind !== 'float');
      const tables = gridTables(plan, choice.box, precision);
      const { samples } = planSampling(plan, { box: choice.box.size, precision, steps: 1000 });
      const turns = turnsOf[precision]({ ...plan, pixels: samples }, choice.box.size);
      const tapScale = precision === 'split' ? TAP_SCALE : 1;
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
          const slot = foldedGrid(choice.box, tables, halvesOf[precision], c, calibrated);
          return fieldOf(slot, turns, samples, choice.box.size).map((value) => value / tapScale);
        });
        const [x, y] = [fields[0], fields.at(-1) ?? fields[0]];
        const planes = Array.from({ length: products }, () => new Float64Array(samples * samples));
        for (let at = 0; at < samples * samples; at++) {
          const [xr, xi, yr, yi] = [x[2 * at], x[2 * at + 1], y[2 * at], y[2 * at + 1]];
          const values = [xr * xr + xi * xi, yr * yr + yi * yi, xr * yr + xi * yi, xi * yr - xr * yi];
          for (const [product, plane] of planes.entries()) plane[at] = values[product];
        }
        for (const [product, plane] of planes.entries())
          sums.set(refined(plane, samples, pixels), (c * products + product) * pixels * pixels);
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
      assertSameImage(account.finish(sums).image, wanted.image, pixels, tolerance);
    });
  }
});

/** pixels : [m][l] from samples : [m][l], as direct-refine.cu makes them. */
function refined(plane: Float64Array, samples: number, pixels: number): Float64Array {
  if (samples === pixels) return plane;
  const weights = sampleWeights(samples, pixels);
  const along = (values: Float64Array): Float64Array =>
    // [row][sample] to [pixel][row]: applied twice, once for each axis
    Float64Array.from({ length: (values.length / samples) * pixels }, (_, at) => {
      const [pixel, row] = [Math.floor(at / (values.length / samples)), at % (values.length / samples)];
      let sum = 0;
      for (let k = 0; k < samples; k++) sum += weights[k * pixels + pixel] * values[row * samples + k];
      return sum;
    });
  return along(along(plane));
}

describe('samples of an image', () => {
  it('are as few as the aperture allows, where that saves tiles', () => {
    const cases = [
      [128, 32, 'half', { samples: 64, groups: 1, tiles: 1, multiprocessors: 0.5 }],
      [66, 32, 'half', { samples: 64, groups: 1, tiles: 1, multiprocessors: 0.5 }],
      [64, 32, 'half', { samples: 64, groups: 1, tiles: 1, multiprocessors: 0.5 }],
      // 96² samples would need as many tiles of 64 × 128 as 128² pixels
      [128, 48, 'half', { samples: 128, groups: 2, tiles: 2, multiprocessors: 2 }],
      [256, 48, 'half', { samples: 96, groups: 2, tiles: 2, multiprocessors: 2 }],
      [512, 64, 'half', { samples: 128, groups: 2, tiles: 2, multiprocessors: 2 }],
      [64, 64, 'half', { samples: 64, groups: 2, tiles: 1, multiprocessors: 1 }],
      [128, 32, 'split', { samples: 128, groups: 2, tiles: 2, multiprocessors: 2 }],
    ] as const;
    for (const [pixels, box, precision, wanted] of cases)
      assert.deepEqual(
        planSampling({ pixels, kernelSize: 5 }, { box, precision, steps: LEAST_SAMPLED_STEPS }),
        wanted,
      );
  });
  it('are taken where enough steps average the errors out that weights carry to the horizon', () => {
    const samplesOf = (kernelSize: KernelSize, steps: number): number =>
      planSampling({ pixels: 128, kernelSize }, { box: 32, precision: 'half', steps }).samples;
    assert.equal(samplesOf(5, LEAST_SAMPLED_STEPS), 64);
    assert.equal(samplesOf(5, LEAST_SAMPLED_STEPS - 1), 128);
    assert.equal(samplesOf(7, 1000), 128);
  });
  it('give every wave that an aperture can make, whatever the pixels', () => {
    for (const [samples, pixels] of [
      [64, 128],
      [64, 66],
      [96, 250],
    ]) {
      const weights = sampleWeights(samples, pixels);
      for (const waves of [0, 1, 17, samples / 2 - 1]) {
        const wave = (at: number, of: number): number => Math.cos((2 * Math.PI * waves * at) / of - 0.3);
        for (let pixel = 0; pixel < pixels; pixel++) {
          let sum = 0;
          for (let k = 0; k < samples; k++) sum += weights[k * pixels + pixel] * wave(k, samples);
          assert.ok(Math.abs(sum - wave(pixel, pixels)) < 1e-6, `${waves} waves at ${pixel} of ${pixels}`);
        }
      }
    }
  });
  it('are pixels themselves where they fall on one', () => {
    const weights = sampleWeights(64, 128);
    for (let k = 0; k < 64; k++)
      for (let pixel = 0; pixel < 128; pixel += 2)
        assert.ok(Math.abs(weights[k * 128 + pixel] - (pixel === 2 * k ? 1 : 0)) < 1e-7);
  });
});

function calibratedSample(spectra: SpectraCAT, factors: Float64Array, at: number): readonly [number, number] {
  const [x, y, re, im] = [spectra[2 * at], spectra[2 * at + 1], factors[2 * at], factors[2 * at + 1]];
  return [x * re - y * im, x * im + y * re];
}
