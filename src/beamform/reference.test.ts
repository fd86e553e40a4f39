import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../backend/reference.js';
import { spectraCAT } from '../core/axes.js';
import { halfToEven } from '../core/round-up.js';
import { beamCases } from './cases.js';
import { prepareBeamformer } from './index.js';
import { planBeams } from './plan.js';
import { addPowers, beamsOf } from './reference.js';
import { addBeamCounts } from './counts.js';
import { hostIncoherent } from './incoherent.js';
import { inverseGains, steeredWeights } from './weights.js';

describe('reference beamformer', () => {
  beamCases(() => Promise.resolve(openReference()));
});

describe('beams by hand', () => {
  it('two stations, two polarisations: each polarisation by itself', () => {
    const plan = planBeams({
      stations: 2,
      polarisations: 2,
      channels: 1,
      type: 'ci8',
      beams: 1,
      weights: 'ci8',
    });
    // X and Y of stations 0 and 1, one spectrum.
    const spectra = spectraCAT(Int8Array.of(1, 2, 3, 4, 5, 6, 7, 8), 'ci8', 1, 4, 1);
    // 1, 1 for station 0; i, −1 for station 1.
    const weights = Int8Array.of(1, 0, 1, 0, 0, 1, -1, 0);
    // X: (1 + 2i) + i(5 + 6i) = −5 + 7i. Y: (3 + 4i) − (7 + 8i) = −4 − 4i.
    const voltages = beamsOf(plan, weights, spectra, 1);
    assert.deepEqual([...voltages], [-5, 7, -4, -4]);
    const powers = new Float64Array(4);
    addPowers(plan, voltages, 1, { detection: 'IQUV', spectraPerBin: 1, offset: 0, bins: 1 }, powers);
    // XX = 74, YY = 32; X·conj(Y) = (−5 + 7i)(−4 + 4i) = −8 − 48i = U − iV.
    assert.deepEqual([...powers], [53, -21, -8, 48]);
  });

  it('weights of 8 bits: the largest gain gives 127 whatever the phases, halves go to even', () => {
    // Gains 1 and 2i, one input left out; a delay of a quarter of a turn at the second channel.
    const used = Uint8Array.of(1, 1, 0, 1, 1, 0);
    const gains = inverseGains([1, 0, 0, 2, 1, 0, 1, 0, 0, 2, 1, 0], used);
    assert.equal(gains.largest, 1);
    const frequenciesHz = Float64Array.of(100e6, 125e6);
    const options = { stations: 3, polarisations: 1, beams: 1, frequenciesHz, weights: 'ci8' } as const;
    const { weights, scales } = steeredWeights(options, Float64Array.of(0, 1e-8, 0), gains);
    assert.deepEqual([...scales], [127]);
    // 1/(2i) = −i/2 → −63.5i → −64i; a delay of 1 turn changes nothing, one of 1¼ turns by −i: −63.5 → −64.
    assert.deepEqual(
      [...weights].map((one) => one + 0),
      [127, 0, 0, -64, 0, 0, 127, 0, -64, 0, 0, 0],
    );
    assert.deepEqual([0.5, 1.5, 2.5, -0.5, -1.5].map(halfToEven), [0, 2, 2, 0, -2]);
  });

  it('phases across channels agree with the sine of each', () => {
    const frequenciesHz = Float64Array.from({ length: 1000 }, (_, c) => 50e6 + c * 25e3);
    const gains = inverseGains(undefined, new Uint8Array(1000).fill(1));
    const options = { stations: 1, polarisations: 1, beams: 1, frequenciesHz, weights: 'cf32' } as const;
    const { weights } = steeredWeights(options, Float64Array.of(3.3e-6), gains);
    frequenciesHz.forEach((frequencyHz, c) => {
      const angle = -2 * Math.PI * frequencyHz * 3.3e-6;
      assert.ok(Math.hypot(weights[2 * c] - Math.cos(angle), weights[2 * c + 1] - Math.sin(angle)) < 1e-6);
    });
  });

  it('counts samples that arrived of inputs with a weight, overlapping gaps once', () => {
    // Two stations of two polarisations, two channels, seven spectra in bins of four, one before: [3][4].
    const used = Uint8Array.of(1, 1, 1, 1, 1, 1, 1, 0);
    const counts = new Float64Array(2 * 2 * 2);
    const box = { firstChannel: 0, endChannel: 1 };
    const gaps = [
      { ...box, firstInput: 0, endInput: 2, firstSample: 1, endSample: 4 },
      { ...box, firstInput: 1, endInput: 2, firstSample: 2, endSample: 6 },
    ];
    const shape = { channels: 2, inputs: 4, polarisations: 2, planes: 2 } as const;
    const bins = { spectraPerBin: 4, offset: 1, bins: 2 };
    addBeamCounts(shape, used, { samples: 7, gaps }, bins, counts);
    // X of channel 0: 6 − 2, 8 − 1; Y: 6 − 2, 8 − 3. Channel 1: X 6, 8; Y of one station: 3, 4.
    assert.deepEqual([...counts], [4, 6, 7, 8, 4, 3, 5, 4]);
  });

  it('incoherent sums are of powers', async () => {
    const plan = planBeams({
      stations: 2,
      polarisations: 2,
      channels: 1,
      type: 'ci8',
      beams: 1,
      weights: 'ci8',
    });
    const block = openReference().allocateSpectra({ type: 'ci8', channels: 1, inputs: 4, capacity: 1 });
    await block.write(spectraCAT(Int8Array.of(1, 2, 3, 4, 5, 6, 7, 8), 'ci8', 1, 4, 1), 1);
    const powers = new Float64Array(2).fill(1);
    const squares = Float64Array.of(1, 1, 2, 0);
    await hostIncoherent(plan).add(
      squares,
      block,
      { detection: 'XX,YY', spectraPerBin: 1, offset: 0, bins: 1 },
      powers,
    );
    assert.deepEqual([...powers], [1 + 5 + 2 * 61, 1 + 25]);
    const total = new Float64Array(1);
    await hostIncoherent(plan).add(
      squares,
      block,
      { detection: 'I', spectraPerBin: 1, offset: 0, bins: 1 },
      total,
    );
    assert.deepEqual([...total], [(5 + 2 * 61 + 25) / 2]);
  });

  it('refuses weights that are none', async () => {
    const plan = planBeams({
      stations: 1,
      polarisations: 1,
      channels: 1,
      type: 'ci8',
      beams: 1,
      weights: 'ci8',
    });
    const beamformer = await prepareBeamformer(plan, openReference());
    for (const [weights, said] of [
      [Int8Array.of(-128, 0), /weight 0 is -128/],
      [Float32Array.of(1, 0), /as Float32Array/],
      [Int8Array.of(1), /1 weights/],
    ] as const)
      assert.throws(() => {
        beamformer.setWeights(weights);
      }, said);
  });
});
