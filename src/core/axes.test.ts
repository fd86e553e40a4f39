import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  allocateSpectra,
  allocateVoltages,
  baselineCount,
  baselineIndex,
  countsCB,
  durationsB,
  gainsCA,
  imageCPML,
  modelCBP,
  planeML,
  productNames,
  spectraCAT,
  spectraSizeBytes,
  tapsCSKK,
  uvwB,
  visibilitiesCBPP,
  voltagesAT,
  voltageSizeBytes,
  weightsCBPP,
  type SpectraType,
  type VoltageType,
} from './axes.js';

describe('axes', () => {
  it('baselines run over the lower triangle, row by row', () => {
    // 00 · 10 11 · 20 21 22
    const pairs = [0, 1, 2].flatMap((i) => Array.from({ length: i + 1 }, (_, j) => baselineIndex(i, j)));
    assert.deepEqual(pairs, [0, 1, 2, 3, 4, 5]);
    assert.equal(baselineCount(3), 6);
    assert.equal(baselineCount(1), 1);
    assert.equal(baselineCount(256), 32_896);
  });

  it('arrays are as long and as wide as their type states', () => {
    const voltages: readonly [VoltageType, number, number][] = [
      ['i8', 6, 1],
      ['i16', 6, 2],
      ['f32', 6, 4],
      ['ci8', 12, 2],
      ['ci16', 12, 4],
      ['cf32', 12, 8],
    ];
    for (const [type, length, sizeBytes] of voltages) {
      const array = allocateVoltages(type, 2, 3);
      assert.equal(array.length, length, type);
      assert.equal(voltageSizeBytes(type), sizeBytes, type);
      assert.equal(array.byteLength, 6 * sizeBytes, type);
    }
    const spectra: readonly [SpectraType, number, number][] = [
      ['ci8', 48, 2],
      ['ci4', 24, 1],
      ['cf32', 48, 8],
    ];
    for (const [type, length, sizeBytes] of spectra) {
      const array = allocateSpectra(type, 2, 3, 4);
      assert.equal(array.length, length, type);
      assert.equal(spectraSizeBytes(type), sizeBytes, type);
      assert.equal(array.byteLength, 24 * sizeBytes, type);
    }
  });

  it('an array of another length is refused with both numbers', () => {
    assert.throws(() => voltagesAT(new Int8Array(5), 'ci8', 1, 3), /\[a\]\[t\].*5 elements .* make 6/);
    assert.throws(() => spectraCAT(new Uint8Array(5), 'ci4', 1, 2, 3), /5 elements .* make 6/);
    assert.throws(() => visibilitiesCBPP(new Float64Array(8), 1, 3, 2), /8 elements .* make 24/);
    assert.throws(() => countsCB(new Float64Array(1), 1, 3), /1 elements .* make 3/);
    assert.throws(() => imageCPML(new Float64Array(1), 1, 4, 2), /1 elements .* make 16/);
    assert.throws(() => planeML(new Float64Array(1), 5), /\[m\]\[l\].*1 elements .* make 25/);
    assert.throws(() => weightsCBPP(new Float64Array(1), 5, 3, 2), /1 elements .* make 60/);
    assert.throws(() => uvwB(new Float64Array(2), 6), /2 elements .* make 18/);
    assert.throws(() => durationsB(new Float64Array(2), 6), /2 elements .* make 6/);
    assert.throws(() => gainsCA(new Float64Array(2), 3, 5), /\[c\]\[a\].*2 elements .* make 30/);
    assert.throws(() => modelCBP(new Float64Array(2), 3, 6, 2), /2 elements .* make 72/);
    assert.throws(() => tapsCSKK(new Float64Array(2), 3, 5, 7), /2 elements .* make 1470/);
    const own = new Int8Array(6);
    assert.equal(voltagesAT(own, 'ci8', 1, 3), own);
  });

  it('names the image products', () => {
    assert.deepEqual(productNames(1), ['XX']);
    assert.deepEqual(productNames(2), ['XX', 'YY', 'Re XY', 'Im XY']);
  });
});
