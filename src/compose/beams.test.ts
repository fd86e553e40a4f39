/** Beams of spectra with gaps and flags equal the raw sums of the same spectra, on every backend. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Backend } from '../backend/backend.js';
import { openCpu } from '../backend/cpu/cpu.js';
import { loadNative } from '../backend/cpu/library.js';
import { openReference } from '../backend/reference.js';
import { spectraCAT } from '../core/axes.js';
import type { Integration } from '../core/blocks.js';
import { zeroGaps, type SpectraGap } from '../core/gaps.js';
import { addSamples, parseInstant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { directionFromAltAz, skyFrame } from '../sky/frame.js';
import { fixedCentre, localCentre, type PhaseCentre } from '../sky/phase-centre.js';
import { loadTelescope } from '../telescope/load.js';
import { selectStations } from '../telescope/select.js';
import { spectraInMemory } from '../stages/testing.js';
import { type TimedSpectra, passing } from '../stages/index.js';
import {
  beamPieces,
  prepareBeams,
  type BeamItem,
  type BeamPowers,
  type BeamQuality,
  type BeamsProduct,
} from './beams.js';
import { observe } from './compose.js';
import type { Front } from './front.js';

const [STATIONS, CHANNELS, SAMPLES, RATE_HZ] = [11, 5, 400, 100];
const INPUTS = 2 * STATIONS;
const start = parseInstant('2026-06-21T04:00:00.25Z');
const frequenciesHz = Float64Array.from({ length: CHANNELS }, (_, c) => 70e6 + c * 25e3);
const telescope = selectStations(await loadTelescope('lwasv'), STATIONS);

/** Noise; one packet of twenty (four inputs, a channel, eight spectra) is lost. */
function noisy(chunk: number): Front {
  const random = randomStream(7, 'beams');
  const values = Int8Array.from({ length: 2 * CHANNELS * INPUTS * SAMPLES }, () =>
    Math.max(-127, Math.min(127, Math.round(25 * random.gaussian()))),
  );
  const spectra = spectraCAT(values, 'ci8', CHANNELS, INPUTS, SAMPLES);
  const gaps: SpectraGap[] = [];
  for (let c = 0; c < CHANNELS; c++)
    for (let a = 0; a < INPUTS; a += 4)
      for (let t = 0; t < SAMPLES; t += 8)
        if (random.uniform() < 0.05)
          gaps.push({
            firstChannel: c,
            endChannel: c + 1,
            firstInput: a,
            endInput: Math.min(INPUTS, a + 4),
            firstSample: t,
            endSample: t + 8,
          });
  assert.ok(gaps.length > 30);
  zeroGaps(spectra, { type: 'ci8', inputs: INPUTS, samples: SAMPLES }, gaps);
  const source = spectraInMemory(
    { samples: SAMPLES, spectra, gaps, start },
    { type: 'ci8', inputs: INPUTS, polarisations: 2, spectrumRateHz: RATE_HZ, chunk, frequenciesHz },
  );
  return { source };
}

/** Two stations are flagged: 4 wholly, 7 in Y. */
const flaggedInputs = Uint8Array.from({ length: INPUTS }, (_, a) => (a === 8 || a === 9 || a === 15 ? 1 : 0));

const targets: readonly PhaseCentre[] = [
  ...Array.from({ length: 9 }, (_, b) =>
    localCentre(`at ${b}`, directionFromAltAz(25 + 7 * b, (77 * b) % 360)),
  ),
  fixedCentre('a place', skyFrame(telescope.site, start).zenith),
];

const productOf = (of: Partial<BeamsProduct>): BeamsProduct => ({
  telescope,
  targets,
  sum: 'coherent',
  weights: 'ci8',
  detection: 'I',
  spectraPerValue: SAMPLES,
  flaggedInputs,
  rules: [],
  ...of,
});

async function beamsAndSums(
  front: Front,
  product: BeamsProduct,
  backend: Backend,
): Promise<{ readonly items: readonly BeamItem[]; readonly sums: readonly Integration[] }> {
  const items: BeamItem[] = [];
  const sums: Integration[] = [];
  const stage = await prepareBeams(front, product, backend);
  const pieces = beamPieces(front, product);
  await observe(
    {
      front,
      flaggedInputs,
      products: [
        {
          from: 'spectra',
          clock: pieces,
          stage: {
            ...stage,
            push: (item: TimedSpectra) =>
              stage.push(item, (one) => {
                items.push(one.kind === 'voltages' ? { ...one, voltages: one.voltages.slice() } : one);
                return Promise.resolve();
              }),
            flush: () =>
              stage.flush((one) => {
                items.push(one);
                return Promise.resolve();
              }),
          },
        },
        {
          from: 'integrations',
          clock: pieces,
          values: 'sums',
          stage: passing<Integration>((one) => {
            sums.push(one);
            return Promise.resolve();
          }),
        },
      ],
    },
    [backend],
  );
  return { items, sums };
}

/** By hand: e^(−2πi f r·ŝ/c), at the middle of the piece; its 127-fold rounded to even. */
function weightOf(
  target: PhaseCentre,
  s: number,
  c: number,
  moment: Parameters<typeof skyFrame>[1],
  isWhole: boolean,
) {
  const { x, y, z } = target.directionEnu(skyFrame(telescope.site, moment));
  const { eastM, northM, upM } = telescope.stations[s];
  const angle = (-2 * Math.PI * frequenciesHz[c] * (eastM * x + northM * y + upM * z)) / 299_792_458;
  const parts = [Math.cos(angle), Math.sin(angle)];
  return isWhole ? parts.map((part) => Math.round(127 * part) / 127) : parts;
}

const library = loadNative();
const backends: readonly (readonly [string, () => Promise<Backend>])[] = [
  ['reference', () => Promise.resolve(openReference())],
  ...('what' in library ? [] : [['cpu', () => openCpu({ threads: 2 })] as const]),
];

for (const [name, open] of backends)
  describe(`beams on ${name}`, () => {
    for (const weights of ['ci8', 'cf32'] as const)
      it(`powers with ${weights} weights are Σ w_i conj(w_j) S_ij, with 5 % lost and stations flagged`, async () => {
        const backend = await open();
        const product = productOf({ weights });
        const front = noisy(37);
        const pieces = beamPieces(front, product);
        // Weights must change within the data, or the test is empty.
        assert.ok(pieces.spectra < SAMPLES / 2, String(pieces.spectra));
        const { items, sums } = await beamsAndSums(
          front,
          { ...product, spectraPerValue: pieces.spectra },
          backend,
        );
        const powers = items.filter((one): one is BeamPowers => one.kind === 'powers');
        const whole = Math.floor(SAMPLES / pieces.spectra);
        assert.equal(
          powers.reduce((sum, { values }) => sum + values, 0),
          whole,
        );
        assert.deepEqual(items.at(-1), { kind: 'rest', spectra: SAMPLES % pieces.spectra });
        for (let v = 0; v < whole; v++) {
          const { powers: made, counts, firstValue } = powers[v];
          assert.equal(firstValue, v);
          const { visibilities, productCounts, counts: pairs } = sums[v];
          const moment = addSamples(start, (v + 0.5) * pieces.spectra, RATE_HZ);
          for (const [b, target] of targets.entries())
            for (let c = 0; c < CHANNELS; c++) {
              const w = Array.from({ length: STATIONS }, (_, s) =>
                weightOf(target, s, c, moment, weights === 'ci8'),
              );
              let total = 0;
              for (let i = 0, n = 0; i < STATIONS; i++)
                for (let j = 0; j <= i; j++, n++)
                  for (let p = 0; p < 2; p++) {
                    if (flaggedInputs[2 * i + p] === 1 || flaggedInputs[2 * j + p] === 1) continue;
                    const at = 2 * (((c * sums[v].stations * (sums[v].stations + 1)) / 2 + n) * 4 + 3 * p);
                    const [re, im] = [visibilities[at], visibilities[at + 1]];
                    // w_i conj(w_j) S_ij, and of i ≠ j its conjugate.
                    const [wr, wi] = [
                      w[i][0] * w[j][0] + w[i][1] * w[j][1],
                      w[i][1] * w[j][0] - w[i][0] * w[j][1],
                    ];
                    total += (i === j ? 1 : 2) * (wr * re - wi * im);
                  }
              const value = made[b * CHANNELS + c] * pieces.spectra;
              assert.ok(Math.abs(value - total / 2) < 1e-6 * (total / 2), `${value}, not ${total / 2}`);
            }
          // Samples that were added: those of the autocorrelations.
          for (let c = 0; c < CHANNELS; c++) {
            let samples = 0;
            for (let s = 0; s < STATIONS; s++)
              for (let p = 0; p < 2; p++) {
                const n = (c * STATIONS * (STATIONS + 1)) / 2 + (s * (s + 3)) / 2;
                if (flaggedInputs[2 * s + p] === 0) samples += productCounts?.[4 * n + 3 * p] ?? pairs[n];
              }
            assert.equal(counts[c], samples);
          }
        }
        await backend.close();
      });

    it('voltages of 8-bit weights are whole, and the same however the data are cut', async () => {
      const backend = await open();
      const product = productOf({ detection: 'none' });
      const all = async (chunk: number): Promise<Map<number, number[]>> => {
        const bySpectrum = new Map<number, number[]>();
        for (const one of (await beamsAndSums(noisy(chunk), product, backend)).items)
          if (one.kind === 'voltages')
            for (let t = 0; t < one.samples; t++)
              bySpectrum.set(
                one.index + t,
                Array.from(
                  { length: CHANNELS * targets.length * 2 },
                  (_, row) => one.voltages[2 * (row * one.samples + t)],
                ),
              );
        return bySpectrum;
      };
      const [once, again] = [await all(400), await all(23)];
      assert.equal(once.size, SAMPLES);
      assert.deepEqual(again, once);
      await backend.close();
    });

    it('values that lost what follows are made of what came; flags begin at their own spectrum', async () => {
      const backend = await open();
      const from = addSamples(start, 100, RATE_HZ);
      const rules = [{ inputs: Uint8Array.from({ length: INPUTS }, (_, a) => (a < 2 ? 1 : 0)), from }];
      const product = productOf({
        rules,
        spectraPerValue: 10,
        targets: targets.slice(0, 1),
        flaggedInputs: new Uint8Array(INPUTS),
      });
      const front = noisy(400);
      const { items } = await beamsAndSums({ source: { ...front.source } }, product, backend);
      const counts = items.flatMap((one) =>
        one.kind === 'powers'
          ? Array.from({ length: one.values }, (_, v) => ({
              value: one.firstValue + v,
              count: one.counts[v * CHANNELS],
            }))
          : [],
      );
      const most = (values: readonly { readonly count: number }[]): number =>
        Math.max(...values.map(({ count }) => count));
      assert.equal(most(counts.filter(({ value }) => value < 10)), 10 * INPUTS);
      assert.equal(most(counts.filter(({ value }) => value >= 10)), 10 * (INPUTS - 2));
      await backend.close();
    });
  });

describe('a beam with a taper and nulls', () => {
  const [from, away] = [
    { x: 0.3, y: 0.2 },
    { x: -0.4, y: 0.35 },
  ].map(({ x, y }) => ({ x, y, z: Math.sqrt(1 - x * x - y * y) }));
  const [beam, nulled] = [localCentre('beam', from), localCentre('null', away)];
  const taper = Float64Array.from({ length: STATIONS }, (_, s) => 1 - s / 20);

  /** A wave of amplitude 10 from a direction: early by r·ŝ/c. */
  const waveFrom = (place: PhaseCentre): Front => {
    const { x, y, z } = place.directionEnu(skyFrame(telescope.site, start));
    const values = new Float32Array(2 * CHANNELS * INPUTS * SAMPLES);
    for (let c = 0; c < CHANNELS; c++)
      for (let a = 0; a < INPUTS; a++) {
        const { eastM, northM, upM } = telescope.stations[a >> 1];
        const angle = (2 * Math.PI * frequenciesHz[c] * (eastM * x + northM * y + upM * z)) / 299_792_458;
        for (let t = 0; t < SAMPLES; t++)
          values.set([10 * Math.cos(angle), 10 * Math.sin(angle)], 2 * ((c * INPUTS + a) * SAMPLES + t));
      }
    return {
      source: spectraInMemory(
        { samples: SAMPLES, spectra: spectraCAT(values, 'cf32', CHANNELS, INPUTS, SAMPLES), gaps: [], start },
        {
          type: 'cf32',
          inputs: INPUTS,
          polarisations: 2,
          spectrumRateHz: RATE_HZ,
          chunk: 64,
          frequenciesHz,
        },
      ),
    };
  };

  for (const [name, open] of backends)
    it(`on ${name} receives a wave from its own place by the sum of the taper, and nothing from the null`, async () => {
      const backend = await open();
      const qualities: BeamQuality[] = [];
      const product = productOf({
        targets: [beam],
        weights: 'cf32',
        taper,
        nulls: [nulled],
        weighed: (_, quality) => qualities.push(quality),
      });
      const powers = async (place: PhaseCentre, of: BeamsProduct): Promise<readonly number[]> => {
        const { items } = await beamsAndSums(waveFrom(place), of, backend);
        const [first] = items;
        assert.equal(first.kind, 'powers');
        return [...first.powers];
      };
      const total = taper.reduce((sum, one, s) => sum + (s === 4 ? 0 : one), 0);
      const ofY = total - taper[7];
      // Half of XX + YY; station 4 has no data, station 7 no Y.
      const wanted = (100 * (total ** 2 + ofY ** 2)) / 2;
      for (const of of [product, { ...product, nulls: [] }])
        for (const power of await powers(beam, of))
          assert.ok(Math.abs(power / wanted - 1) < 1e-4, `${power}, not ${wanted}`);
      for (const power of await powers(nulled, product)) assert.ok(power < 1e-10 * wanted, String(power));
      for (const power of await powers(nulled, { ...product, nulls: [] })) assert.ok(power > 1e-5 * wanted);
      const [quality] = qualities;
      assert.ok(quality.depth < 1e-8 && quality.efficiency > 0.5 && quality.efficiency < 1);
      await backend.close();
    });
});
