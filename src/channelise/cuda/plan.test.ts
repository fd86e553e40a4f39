/** Tests of the card's channeliser that need no card: lengths, passes, tables. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { randomStream } from '../../core/random.js';
import { factorise, splitPoints } from './factors.js';
import { planFused } from './plan.js';
import {
  binOfDigits,
  factorTable,
  INPUT_DELAY,
  levelTwiddles,
  tapTable,
  twiddleTable,
  writeDelays,
} from './tables.js';
import { entriesOf, ROTATIONS, tensorTables } from './tensor-tables.js';
import { planTensor } from './tensor.js';
import { planChannelise, type ChanneliseOptions } from '../plan.js';

const plan = (options: Partial<ChanneliseOptions>) =>
  planChannelise({
    channels: 16,
    taps: 4,
    inputs: 2,
    polarisations: 1,
    inputType: 'ci8',
    outputType: 'ci8',
    blockSamples: 64 * (options.channels ?? 16),
    ...options,
  });
const hopper = { capability: 90, sharedBytesPerBlock: 232_448, path: 'hopper' } as const;

describe('lengths of transforms', () => {
  it('are made of primes up to 13, in as few radices of at most 16 as can be, and those small', () => {
    assert.deepEqual(factorise(1024)?.radices, [16, 8, 8]);
    assert.deepEqual(factorise(4096)?.radices, [16, 16, 16]);
    assert.deepEqual(factorise(1000)?.radices, [10, 10, 10]);
    assert.deepEqual(factorise(132)?.radices, [12, 11]);
    assert.deepEqual(factorise(143)?.radices, [13, 11]);
    assert.deepEqual(factorise(96)?.radices, [12, 8]); // not 16 · 6
    assert.deepEqual(factorise(2)?.radices, [2]);
    assert.deepEqual(factorise(1)?.radices, []);
    assert.deepEqual(factorise(2100)?.radices, [15, 14, 10]);
    assert.equal(factorise(34), undefined);
    for (let n = 1; n < 3000; n++) {
      const radices = factorise(n)?.radices ?? [n];
      assert.equal(
        radices.reduce((product, radix) => product * radix, 1),
        n,
      );
      assert.ok(factorise(n) === undefined || radices.every((radix) => radix <= 16));
    }
  });

  it('are cut into a short part and one that a block does well, or the large prime apart', () => {
    const points = { wellPoints: 512, mostPoints: 2048, mostRadices: 7 };
    assert.deepEqual(splitPoints(32_768, points), { first: 64, second: 512, smooth: true });
    assert.deepEqual(splitPoints(2 ** 20, points), { first: 1024, second: 1024, smooth: true });
    assert.deepEqual(splitPoints(2 ** 21, points), { first: 1024, second: 2048, smooth: true });
    assert.deepEqual(splitPoints(97, points), { first: 1, second: 97, smooth: false });
    assert.deepEqual(splitPoints(102, points), { first: 6, second: 17, smooth: false });
    const { first, second, smooth } = splitPoints(2 * 13 ** 5, points); // 2197 = 13³ is too long
    assert.ok(!smooth && first * second === 2 * 13 ** 5);
  });
});

describe('passes', () => {
  it('one while a block holds a spectrum and the rows it leaves in, two above', () => {
    const passes = (channels: number, sharedBytesPerBlock: number): number =>
      planFused(plan({ channels }), { sharedBytesPerBlock }).passes.length;
    assert.equal(passes(132, 232_448), 1); // 12 · 11
    assert.equal(passes(4096, 232_448), 1); // two spectra of 36 KB, rows of 128 KB
    assert.equal(passes(4096, 101_376), 2);
    assert.equal(passes(1024, 101_376), 1);
    assert.equal(passes(8192, 232_448), 2);
    assert.equal(passes(97, 232_448), 2);
  });

  it('write whole sectors of 32 bytes, while the block holds them', () => {
    for (const channels of [2, 64, 132, 1000, 1024, 1536, 2048, 2100, 4096, 8192, 2 ** 17, 2 ** 20]) {
      for (const outputType of ['ci8', 'ci4', 'cf32'] as const) {
        const { span, passes } = planFused(plan({ channels, outputType }), hopper);
        assert.ok(span * (outputType === 'cf32' ? 8 : 2) >= 32, `${channels} channels to ${outputType}`);
        for (const { request } of passes) {
          if (outputType === 'cf32' && 'GROUP' in request.defines) assert.ok(request.defines.TILE >= 4);
        }
      }
    }
  });

  it('stay within the block, whatever the length', () => {
    const lengths = [2, 3, 5, 17, 60, 75, 97, 132, 1000, 1023, 1536, 2048, 2100, 4096, 6561, 9973, 2 ** 17];
    for (const channels of [...lengths, 2 ** 20]) {
      for (const inputType of ['ci8', 'i16'] as const) {
        const one = plan({ channels, inputType });
        for (const sharedBytesPerBlock of [49_152, 101_376, 232_448]) {
          const { passes, columns, span } = planFused(one, { sharedBytesPerBlock });
          assert.equal(
            passes.reduce((product, { points }) => product * points, 1),
            columns,
          );
          for (const { sharedBytes, threads, blocks, radices, request } of passes) {
            assert.ok(sharedBytes <= sharedBytesPerBlock && threads <= 1024 && threads % 32 === 0);
            assert.ok(blocks >= 1 && blocks * threads <= 1024, `${blocks} blocks of ${threads}`);
            const { TILE } = request.defines;
            assert.ok(threads % TILE === 0 && span % TILE === 0 && (radices?.length ?? 0) <= 7);
          }
        }
      }
    }
  });

  it('no longer tiles than a block brings spectra', () => {
    const { passes, span } = planFused(plan({ blockSamples: 5 * 16 }), hopper);
    assert.equal(passes[0].request.defines.TILE, 8);
    assert.equal(span, 16);
  });
});

describe('tables', () => {
  it('pair the taps, the even one low, and fill up with zeros', () => {
    // [τ][n] = (32767, −16384 | 8192, 1 | −2, 3), three taps of two samples: pairs (0, 1) and (2, none)
    const coefficients = Float64Array.of(32767, -16384, 8192, 1, -2, 3);
    const table = tapTable(plan({ channels: 2, taps: 3, coefficients }));
    const pair = (low: number, high: number): number => (low & 0xffff) | (high << 16);
    assert.deepEqual([...table], [pair(32767, 8192), pair(-16384, 1), pair(-2, 0), pair(3, 0)]);
    // Rows that open at odd samples are read from one before: sample 0 is at 1, sample 1 in front.
    const delayed = tapTable(plan({ channels: 2, taps: 3, coefficients, mostDelaySamples: 1 }));
    assert.deepEqual([...delayed.slice(0, 4)], [...table]);
    assert.deepEqual([...delayed.slice(4)], [pair(-16384, 1), pair(32767, 8192), pair(3, 0), pair(-2, 0)]);
    const float = tapTable(plan({ channels: 2, taps: 3, coefficients, inputType: 'cf32' }));
    assert.deepEqual([...float], [32767, -16384, 8192, 1, -2, 3, 0, 0]);
  });

  it('delays of inputs for a card: turns as parts of 2⁶⁴, whole ones dropped, and where rows open', () => {
    const table = new DataView(new ArrayBuffer(2 * INPUT_DELAY.bytes));
    for (let n = 0; n < table.byteLength; n++) table.setUint8(n, 85);
    const delays = {
      shiftSamples: Int32Array.of(3, -4),
      turns: Float64Array.of(0.25, -0.25, 0.5, -2, -1e-9, 7.75, 1e-3, 1e-4),
    };
    writeDelays(table, delays, 10, 2);
    const bits = (a: number, at: number): bigint => table.getBigUint64(a * INPUT_DELAY.bytes + at, true);
    assert.equal(bits(0, INPUT_DELAY.phase), 1n << 62n);
    assert.equal(bits(0, INPUT_DELAY.phaseStep), 3n << 62n);
    // Just below a whole turn: 2⁶⁴ − 1e-9 · 2⁶⁴, to a double's precision.
    const below = (1n << 64n) - bits(1, INPUT_DELAY.phase);
    assert.ok(Math.abs(Number(below) / 2 ** 64 - 1e-9) < 2 ** -53);
    assert.equal(bits(1, INPUT_DELAY.phaseStep), 3n << 62n);
    const float = (a: number, at: number): number => table.getFloat32(a * INPUT_DELAY.bytes + at, true);
    assert.deepEqual([float(0, INPUT_DELAY.slope), float(0, INPUT_DELAY.slopeStep)], [0.5, -2]);
    assert.equal(float(1, INPUT_DELAY.slope), Math.fround(1e-3));
    const opening = (a: number): number => table.getInt32(a * INPUT_DELAY.bytes + INPUT_DELAY.opening, true);
    assert.deepEqual([opening(0), opening(1)], [14, 28]);
  });

  it('a phase that is a rounding error below zero is a whole turn, and none', () => {
    const table = new DataView(new ArrayBuffer(INPUT_DELAY.bytes));
    writeDelays(table, { shiftSamples: Int32Array.of(0), turns: Float64Array.of(-1e-30, 0, 0, 0) }, 0, 2);
    assert.equal(table.getBigUint64(INPUT_DELAY.phase, true), 0n);
  });

  it('twiddles turn clockwise', () => {
    const near = (got: Float32Array, want: readonly number[]): void => {
      want.forEach((value, n) => {
        assert.ok(Math.abs(got[n] - value) < 1e-7, `[${n}] ${got[n]}, not ${value}`);
      });
    };
    near(twiddleTable(4), [1, 0, 0, -1, -1, 0, 0, 1]);
    near(twiddleTable(8, 2), [1, 0, Math.SQRT1_2, -Math.SQRT1_2]);
  });

  it('levels turn what the ones before have made, digits in the order they lie in', () => {
    // Done in place: digit by digit over [n0][n1][n2], each level first multiplying its points by the twiddles.
    for (const radices of [[4, 3], [3, 2, 5], [2, 3, 2, 2], [7]]) {
      const points = radices.reduce((product, radix) => product * radix, 1);
      const random = randomStream(6, points);
      const signal = Array.from({ length: points }, () => [random.below(256) - 128, random.below(256) - 128]);
      const table = levelTwiddles(radices);
      const work = signal.map((value) => [...value]);
      let before = 1;
      let at = 0;
      radices.forEach((radix, level) => {
        const apart = points / before / radix;
        const width = radix + (radix % 2);
        for (let d = 0; d < before; d++) {
          for (let rest = 0; rest < apart; rest++) {
            const rows = Array.from({ length: radix }, (_, k) => (d * radix + k) * apart + rest);
            const turned = rows.map((row, k) => {
              const w = 2 * (at + d * width + k);
              return level === 0 ? work[row] : times(work[row], [table[w], table[w + 1]]);
            });
            rows.forEach((row, k) => {
              work[row] = dft(turned, k);
            });
          }
        }
        if (level > 0) at += before * width;
        before *= radix;
      });
      for (let position = 0; position < points; position++) {
        const [re, im] = dft(signal, binOfDigits(position, radices));
        assert.ok(
          Math.hypot(re - work[position][0], im - work[position][1]) < 1e-2,
          `${radices.join()} ${position}`,
        );
      }
    }
  });

  it('one factor where all are alike, else one for each input and channel', () => {
    assert.equal(factorTable(plan({})).length, 1);
    const gains = Float64Array.from({ length: 32 }, (_, n) => n);
    const { kernel } = plan({ gains });
    assert.deepEqual(
      [...factorTable(plan({ gains }))],
      [...Float32Array.from(gains, (gain) => gain * kernel.scale)],
    );
  });
});

describe('tensor cores', () => {
  it('for 8-bit complex samples, 1024 channels, up to 17 taps, and a card with room', () => {
    const has = (options: Partial<ChanneliseOptions>, card: object = {}) =>
      planTensor(plan({ channels: 1024, ...options }), { ...hopper, ...card }) !== undefined;
    assert.ok(has({}));
    assert.ok(has({ taps: 17 }));
    assert.ok(!has({ taps: 18 }));
    assert.ok(!has({ channels: 4096 }));
    assert.ok(!has({ inputType: 'i8' }));
    assert.ok(!has({ outputType: 'cf32' }));
    assert.ok(!has({}, { sharedBytesPerBlock: 166_912 }));
    assert.ok(!has({}, { path: 'dp4a' }));
  });

  it('fragments multiplied as the card multiplies them are the filter', () => {
    const random = randomStream(5);
    for (const taps of [1, 4, 8, 13, 14, 16, 17]) {
      const one = plan({ channels: 1024, taps });
      const tensor = planTensor(one, hopper);
      assert.ok(tensor);
      const tables = tensorTables(one, tensor.sign);
      // x[member][time] of one pair of channels, as in the ring
      const x = [0, 1].map(() => Int8Array.from({ length: 32 }, () => random.below(256) - 128));
      for (const [pair, n1] of [
        [0, 0],
        [3, 7],
        [15, 31],
      ]) {
        for (let member = 0; member < 2; member++) {
          for (let spectrum = 0; spectrum < 16; spectrum++) {
            let wanted = 0;
            for (let tau = 0; tau < taps; tau++) {
              wanted += one.kernel.taps[tau * 1024 + 2 * pair + member + 32 * n1] * x[member][spectrum + tau];
            }
            const got = productOf(tables, { pair, n1, member, spectrum }, x);
            assert.equal(got, tensor.sign * wanted + 0, `${taps} taps, pair ${pair}, spectrum ${spectrum}`);
          }
        }
      }
    }
  });

  it('fragments for rows read from a few samples before their opening are the filter, moved', () => {
    const random = randomStream(6);
    for (const taps of [1, 8, 13, 16]) {
      const one = plan({ channels: 1024, taps, mostDelaySamples: 100 });
      const tensor = planTensor(one, hopper);
      assert.ok(tensor);
      assert.equal(tensor.request({ gaps: false, powers: false }).defines.TAPS, taps + 1);
      const all = tensorTables(one, tensor.sign);
      const x = [0, 1].map(() => Int8Array.from({ length: 36 }, () => random.below(256) - 128));
      for (const rotation of [0, 1, 4, 7]) {
        const own = (table: Uint32Array): Uint32Array =>
          table.slice((rotation * table.length) / ROTATIONS, ((rotation + 1) * table.length) / ROTATIONS);
        const tables = { ...all, taps: own(all.taps), moreTaps: own(all.moreTaps) };
        for (const [pair, n1] of [
          [0, 0],
          [1, 0],
          [3, 0],
          [15, 31],
        ]) {
          for (let member = 0; member < 2; member++) {
            const channel = 2 * pair + member + 32 * n1;
            for (const spectrum of [0, 5, 15]) {
              let wanted = 0;
              for (let tau = 0; tau <= taps; tau++) {
                const tap = one.kernel.taps[tau * 1024 + channel - rotation] as number | undefined;
                wanted += (tap ?? 0) * x[member][spectrum + tau];
              }
              const got = productOf(tables, { pair, n1, member, spectrum }, x);
              assert.equal(got, tensor.sign * wanted + 0, `rotation ${rotation}, channel ${channel}`);
            }
          }
        }
      }
    }
    assert.equal(planTensor(plan({ channels: 1024, taps: 17, mostDelaySamples: 1 }), hopper), undefined);
  });

  it('fragments read together lie in different banks', () => {
    for (let taps = 1; taps <= 17; taps++) {
      for (const window of [0, 1]) {
        const { entries, count } = entriesOf(taps, window);
        assert.ok(count <= 24 && Math.max(...entries) < count, `${taps} taps need ${count}`);
        for (let first = 0; first < 32; first += 8) {
          const distinct = [...new Set(entries.subarray(first, first + 8))];
          assert.equal(new Set(distinct.map((entry) => entry % 8)).size, distinct.length, `${taps} taps`);
        }
      }
    }
    assert.ok(entriesOf(8, 0).count <= 21);
  });

  it('take a filter whose peak is positive with the other sign, and refuse one with two such peaks', () => {
    const peak = (value: number): Float64Array =>
      Float64Array.from({ length: 4096 }, (_, n) => (n === 7 ? value : 1));
    const signOf = (coefficients: Float64Array) =>
      planTensor(plan({ channels: 1024, coefficients }), hopper)?.sign;
    assert.equal(signOf(peak(2)), -1);
    assert.equal(signOf(peak(-2)), 1);
    const both = peak(2);
    both[9] = -2;
    assert.equal(signOf(both), undefined);
  });

  it('clamp on the way only where a gain could carry values past 16 bits', () => {
    const clamp = (gains?: number) =>
      planTensor(plan({ channels: 1024, taps: 8, gains }), hopper)?.request({ gaps: false, powers: false })
        .defines.CLAMP;
    assert.equal(clamp(), 0);
    const { gains } = plan({ channels: 1024, taps: 8 });
    assert.ok(typeof gains === 'number');
    assert.equal(clamp(gains * 20), 1);
  });

  it('fill the block with fragments, of the second window first', () => {
    const defines = (options: Partial<ChanneliseOptions>) => {
      const tensor = planTensor(plan({ channels: 1024, ...options }), hopper);
      assert.ok(tensor && tensor.sharedBytes <= hopper.sharedBytesPerBlock);
      return tensor.request({ gaps: false, powers: false }).defines;
    };
    assert.ok(defines({ taps: 8 }).KEPT >= 6);
    assert.equal(defines({ taps: 8 }).KEPT_2, 0);
    assert.equal(defines({ taps: 16 }).KEPT_2, 16);
    for (const taps of [8, 16]) assert.equal(defines({ taps }).ONE_FACTOR, 1);
    assert.equal(defines({ gains: new Float64Array(2 * 1024).fill(1e-3) }).ONE_FACTOR, 0);
  });
});

const times = ([a, b]: readonly number[], [c, d]: readonly number[]): number[] => [
  a * c - b * d,
  a * d + b * c,
];
const dft = (x: readonly (readonly number[])[], k: number): number[] =>
  x.reduce<number[]>(
    ([re, im], value, n) => {
      const angle = (-2 * Math.PI * ((k * n) % x.length)) / x.length;
      const [a, b] = times(value, [Math.cos(angle), Math.sin(angle)]);
      return [re + a, im + b];
    },
    [0, 0],
  );

/**
 * The sum for a lane's row and column: high and low digits in turn, the sparse product of times 0–15, where the row's
 * channel has every second pair of operands, and the dense one of times 16–19 (PTX ISA, mma.sp.m16n8k32 and m16n8k16).
 */
function productOf(
  { taps, moreTaps, entries }: ReturnType<typeof tensorTables>,
  { pair, n1, member, spectrum }: Record<'pair' | 'n1' | 'member' | 'spectrum', number>,
  x: readonly Int8Array[],
): number {
  const group = Math.floor(spectrum / 4);
  const fragment = (table: Uint32Array, window: number, lane: number, digit: number) => {
    const count = table.length / (16 * 16 * 4);
    const at = ((pair * 16 + (n1 % 16)) * count + entries[32 * window + lane]) * 4 + 2 * Math.floor(n1 / 16);
    return new Int8Array(table.buffer, (at + digit) * 4, 4);
  };
  let sum = 0;
  for (let digit = 0; digit < 2; digit++) {
    let part = 0;
    for (let q = 0; q < 4; q++) {
      const lane = 16 * member + 4 * (spectrum % 4) + q;
      fragment(taps, 0, lane, digit).forEach((tap, byte) => {
        // Compressed column 4q + byte is one of four operands: two times of channel 0, the same two of channel 1.
        const four = 2 * q + Math.floor(byte / 2);
        const time = four < 4 ? 4 * four : 4 * (four - 4) + 2;
        part += tap * x[member][4 * group + time + (byte % 2)];
      });
      fragment(moreTaps, 1, lane, digit).forEach((tap, byte) => {
        if (tap !== 0) part += tap * x[Math.floor(byte / 2)][4 * group + 16 + 2 * q + (byte % 2)];
      });
    }
    sum = digit === 0 ? 256 * part : sum + part;
  }
  return sum;
}
