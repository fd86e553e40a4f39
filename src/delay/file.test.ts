import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseInstant } from '../core/instant.js';
import { delayModels, loadPieces, parseDelayFile, readDelayFile, sampleClock } from './index.js';

const telescope = {
  stations: ['stand1', 'stand2', 'stand3'].map((name) => ({ name, eastM: 0, northM: 0, upM: 0 })),
  polarisations: 2,
} as const;
const parse = (file: unknown) => parseDelayFile(JSON.stringify(file), 'delays.json', telescope);

describe('delays.json', () => {
  it('gives fixed delays by input, and takes cables out', () => {
    const { fixedS, pieces } = parse({
      fixed: [
        { input: 0, delayS: 2e-9 },
        { input: 'stand2', cableM: 299.792458 },
        { input: 'stand3:Y', delayS: -3e-9 },
      ],
    });
    // Light takes a microsecond for 299.79 m: such a cable delays its inputs, so they are advanced.
    assert.deepEqual([...fixedS], [2e-9, 0, -1e-6, -1e-6, 0, -3e-9]);
    assert.deepEqual(pieces, []);
  });

  it('gives pieces from their times on, in any order, over the fixed ones', () => {
    const file = parse({
      fixed: [{ input: 'stand1:X', delayS: 1e-9 }],
      pieces: [
        { from: '2026-06-21T04:00:10Z', inputs: [{ input: 'stand1:X', delayS: 7e-9, phaseRad: 0.5 }] },
        { from: '2026-06-21T03:59:50Z', inputs: [{ input: 'stand1', delayS: 5e-9, delayRate: 1e-12 }] },
      ],
    });
    const clock = sampleClock(parseInstant('2026-06-21T04:00:00Z'), 1000);
    const models = delayModels(6, file.fixedS);
    loadPieces(models, file, clock);
    assert.deepEqual(models.at(0, 0n), {
      fromTick: -10_000n,
      delayS: 6e-9,
      delayRate: 1e-12,
      phaseRad: 0,
      phaseRateRadS: 0,
    });
    assert.equal(models.at(1, 20_000n).delayS, 5e-9);
    const later = models.at(0, 10_000n);
    assert.deepEqual([later.fromTick, later.phaseRad, later.delayRate], [10_000n, 0.5, 0]);
    assert.ok(Math.abs(later.delayS - 8e-9) < 1e-20);
    assert.equal(models.at(0, 9999n).fromTick, -10_000n);
  });

  it('is refused with the place and the way out', async () => {
    const refused = (file: unknown, words: RegExp): void => {
      assert.throws(() => parse(file), words);
    };
    assert.throws(() => parseDelayFile('{', 'delays.json', telescope), /delays.json: is not JSON/);
    refused([], /delays.json: its content is a list where an object belongs; write \{"fixed"/);
    refused({ fixd: [] }, /its content has unknown field "fixd"/);
    refused({ fixed: [{ input: 0 }] }, /fixed.0/);
    refused({ fixed: [{ input: 0, delayS: 1, cableM: 1 }] }, /fixed.0/);
    refused({ fixed: [{ input: 6, delayS: 1 }] }, /there is no input 6; inputs run from 0 to 5/);
    refused({ fixed: [{ input: 'stand9', delayS: 1 }] }, /'stand9' is no station here/);
    refused({ fixed: [{ input: 'stand1:Z', delayS: 1 }] }, /'stand1:Z' names no polarisation/);
    const twice = [
      { input: 'stand1', delayS: 1 },
      { input: 1, delayS: 1 },
    ];
    refused({ fixed: twice }, /stand1:Y is named twice \(fixed\)/);
    refused({ pieces: [{ from: '2026-06-21', inputs: twice }] }, /stand1:Y is named twice \(2026-06-21\)/);
    refused({ pieces: [{ from: 'now', inputs: [] }] }, /delays.json: 'now' is not a UTC time/);
    refused(
      { pieces: [{ from: '2026-06-21', inputs: [{ input: 0, delayS: 0, delayRate: 2 }] }] },
      /delays.json, stand1:X: a delay rate of 2 is not below 1/,
    );
    await assert.rejects(readDelayFile('/nowhere/delays.json', telescope), /cannot be read/);
  });
});
