/** The plan and the tables of channelise-long.cu, on a machine without a card. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { longTables, planLong } from './long.js';
import { outputFactor, planChannelise, type ChanneliseOptions } from '../plan.js';

const hopper = { capability: 90, sharedBytesPerBlock: 232_448, path: 'hopper' } as const;
const planOf = (options: Partial<ChanneliseOptions> = {}) =>
  planChannelise({
    channels: 4096,
    taps: 8,
    inputs: 2,
    polarisations: 1,
    inputType: 'ci8',
    outputType: 'ci8',
    blockSamples: 64 * 4096,
    ...options,
  });

describe('channeliser of 4096 channels on one block', () => {
  it('fits into shared memory, rows first and then as many taps as there is room for', () => {
    for (const [taps, kept] of [
      [1, 16],
      [8, 16],
      [9, 8],
      [13, 4],
      [14, 0],
      [17, 0],
    ]) {
      const long = planLong(planOf({ taps }), hopper);
      assert.ok(long, `${taps} taps`);
      assert.equal(long.request({ gaps: false, powers: false }).defines.KEPT, kept, `${taps} taps`);
      assert.ok(long.sharedBytes <= hopper.sharedBytesPerBlock);
    }
  });

  it('leaves other shapes and smaller cards to other kernels', () => {
    for (const other of [
      { channels: 2048 },
      { taps: 18 },
      { inputType: 'i8' },
      { inputType: 'ci16' },
      { outputType: 'cf32' },
    ] as const)
      assert.equal(planLong(planOf(other), hopper), undefined);
    assert.equal(planLong(planOf(), { ...hopper, sharedBytesPerBlock: 101_376 }), undefined);
    assert.equal(planLong(planOf(), { ...hopper, capability: 80 }), undefined);
    assert.equal(planLong(planOf(), { ...hopper, path: 'dp4a' }), undefined);
  });

  it('keeps results in scratch memory for two units of 16 spectra', () => {
    assert.equal(planLong(planOf(), hopper)?.scratchBytesPerBlock, 2 * 16 * 4096 * 2);
  });

  it('keeps each tap where its column is filtered, and zeros beyond the last', () => {
    const plan = planOf({ taps: 11 });
    const { taps } = longTables(plan);
    for (const n of [0, 1, 255, 256, 2047, 4095]) {
      for (let tau = 0; tau < 16; tau++) {
        const [n1, m] = [Math.floor(n / 256), n % 256];
        const word = taps[((n1 * 2 + Math.floor(tau / 8)) * 256 + m) * 4 + Math.floor((tau % 8) / 2)];
        const value = tau % 2 === 0 ? (word << 16) >> 16 : word >> 16;
        assert.equal(value, tau < 11 ? plan.kernel.taps[tau * 4096 + n] : 0, `tap ${tau} of column ${n}`);
      }
    }
  });

  it('keeps each factor where its channel comes out', () => {
    const gains = Float64Array.from({ length: 2 * 4096 }, (_, n) => 1 + n);
    const plan = planOf({ gains });
    const { factors } = longTables(plan);
    const [k1, k2, k3] = [5, 7, 11];
    const channel = (k1 + 16 * k2 + 256 * k3 + 2048) % 4096;
    const got = factors[4096 + k1 * 256 + k2 * 16 + k3];
    assert.ok(Math.abs(got / outputFactor(plan, 1, channel) - 1) < 1e-6);
    assert.equal(longTables(planOf()).factors.length, 1);
  });

  it('turns by the twiddles of both later transforms', () => {
    const { turns, lastTurns } = longTables(planOf());
    const near = (table: Float32Array, at: number, turn: number): void => {
      assert.ok(Math.abs(table[at] - Math.cos(2 * Math.PI * turn)) < 1e-7);
      assert.ok(Math.abs(table[at + 1] + Math.sin(2 * Math.PI * turn)) < 1e-7);
    };
    near(turns, 5 * 16 + 2 * 3, 5 / 256 + 3 / 16); // ω W₁₆³ of k1 = 5
    near(turns, 5 * 16 + 14, 40 / 256); // ω⁸
    near(lastTurns, (2 * 256 + 5 * 16 + 7) * 4 + 2, (2 * 117) / 4096 + 1 / 8); // ω² W₈ of k1 = 5, k2 = 7
    near(lastTurns, (3 * 256 + 5 * 16 + 7) * 4, (4 * 117) / 4096); // ω⁴
  });
});
