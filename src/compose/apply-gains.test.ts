import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gainsCA, spectraCAT } from '../core/axes.js';
import type { GainsFile } from '../formats/index.js';
import { trioGains } from '../formats/testing/gain-subjects.js';
import { trio } from '../formats/testing/trio.js';
import { directGains } from './index.js';
import { spectraInMemory } from '../stages/testing.js';
import { fitsData, matchGains, gainsAtMoment } from '../stages/index.js';

const match = (gains: GainsFile, ...frequenciesHz: readonly number[]) =>
  matchGains(gains, 'gains.json', trio, Float64Array.from(frequenciesHz));

describe('gains for the data at hand', () => {
  it('are those of the nearest channel, no farther than a channel away', () => {
    // Channels of 100 and 101 MHz; input 0 of the second has the gain 6 + 6.5i.
    const { gains, solved } = match(trioGains, 100.9e6, 101.4e6);
    assert.deepEqual([...gains.subarray(0, 2), ...gains.subarray(12, 14)], [6, 6.5, 6, 6.5]);
    assert.deepEqual([solved[0], solved[1]], [1, 0]);
    assert.throws(() => match(trioGains, 102.1e6), /no gains near 102\.1 MHz; they span 100 MHz to 101 MHz/);
  });

  it('of a single channel hold nearby alone', () => {
    const single = {
      ...trioGains,
      frequenciesHz: Float64Array.of(100e6),
      gains: gainsCA(trioGains.gains.slice(0, 12), 1, 6),
      solved: trioGains.solved.slice(0, 6),
    };
    assert.equal(match(single, 100.9e6).gains[3], 1.5);
    assert.throws(() => match(single, 101.1e6), /no gains near 101\.1 MHz/);
  });

  it('are found by name, where the file has more stations or another order', () => {
    const [first, second, third] = trioGains.stations;
    // Per station two inputs, per channel six: 'x' stands first, then ours in another order.
    const from = [-1, 2, 0, 1];
    const pick = <Kind extends Float64Array | Uint8Array>(values: Kind, parts: number, made: Kind): Kind => {
      for (let c = 0; c < 2; c++)
        from.forEach((s, at) => {
          for (let n = 0; n < 2 * parts; n++)
            made[(c * 4 + at) * 2 * parts + n] = s < 0 ? 9 : values[(c * 3 + s) * 2 * parts + n];
        });
      return made;
    };
    const more = {
      ...trioGains,
      stations: ['x', third, first, second],
      solutions: [],
      gains: gainsCA(pick(trioGains.gains as Float64Array, 2, new Float64Array(32)), 2, 8),
      solved: pick(trioGains.solved, 1, new Uint8Array(16)),
    };
    const plain = match({ ...trioGains, solutions: [] }, 100e6, 101e6);
    assert.deepEqual(match(more, 100e6, 101e6), plain);
    assert.throws(
      () => match({ ...more, stations: [third, third, first, second] }, 100e6),
      new RegExp(`not these 3 of trio: it has not, or not once, ${third}`),
    );
  });

  it('of another telescope are refused', () => {
    assert.throws(
      () => match({ ...trioGains, stations: ['x', 's1', 's2'] }, 100e6),
      /is for 3 stations of trio, not these 3 of trio: it has not, or not once, /,
    );
    assert.throws(
      () => match({ ...trioGains, polarisations: 1 }, 100e6),
      /is for 1 polarisations, the data have 2/,
    );
  });

  it('that are all NaN are reported', () => {
    const data = { telescope: trio, frequenciesHz: trioGains.frequenciesHz };
    const none = (gains: GainsFile): GainsFile => ({ ...gains, solved: new Uint8Array(gains.solved.length) });
    const codes = (gains: GainsFile) => fitsData(gains, 'gains.json', data).map(({ code }) => code);
    assert.deepEqual(codes(trioGains), []);
    assert.deepEqual(codes(none(trioGains)), ['gains.all-unsolved']);
    // Of several times one is used.
    const { time, gains, solved, solutions } = trioGains;
    const two = { ...none(trioGains), later: [{ time, gains, solved, solutions }] };
    assert.deepEqual(codes(two), []);
  });

  it('with leakage bring it along, and are refused by name where one gain an input is taken', () => {
    const leakage = gainsCA(
      trioGains.gains.map((value) => 0.1 * value),
      2,
      6,
    );
    const found = match({ ...trioGains, leakage }, 100.9e6, 101.4e6);
    const source = spectraInMemory(
      { samples: 0, spectra: spectraCAT(new Int8Array(0), 'ci8', 2, 6, 0), gaps: [], start: trioGains.time },
      {
        type: 'ci8',
        inputs: 6,
        polarisations: 2,
        spectrumRateHz: 1,
        chunk: 1,
        frequenciesHz: Float64Array.of(100.9e6, 101.4e6),
      },
    );
    assert.deepEqual([...(found.leakage?.subarray(0, 2) ?? [])], [0.1 * 6, 0.1 * 6.5]);
    assert.throws(
      () => directGains({ source }, { calibrated: found }),
      /images.method: holds matrices of full polarisation, and direct imaging takes a gain for each input; correlate/,
    );
    // Between two times, as gains: linear in amplitude and phase, here with equal phases.
    const later = { ...trioGains, time: { ...trioGains.time, unixSeconds: trioGains.time.unixSeconds + 10 } };
    const twice = gainsCA(
      leakage.map((value) => 2 * value),
      2,
      6,
    );
    const middle = { ...trioGains.time, unixSeconds: trioGains.time.unixSeconds + 5 };
    const between = gainsAtMoment({ ...trioGains, leakage, later: [{ ...later, leakage: twice }] }, middle);
    assert.ok(Math.abs((between.leakage?.[2] ?? 0) - 1.5 * leakage[2]) < 1e-12);
  });
});
