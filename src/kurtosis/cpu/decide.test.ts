/** Native decisions compared with the plain loops, code for code, for sums of every kind. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openCpu } from '../../backend/cpu/cpu.js';
import { loadNative } from '../../backend/cpu/library.js';
import { randomStream } from '../../core/random.js';
import { decide } from '../decide.js';
import { BURST, OVERLOAD } from '../decision.js';
import { planKurtosis, type KurtosisOptions } from '../plan.js';
import { LimitTables } from '../tables.js';
import { nativeDecide } from './decide.js';

const library = loadNative();

/**
 * sums : [w][c][a][S1, S2] of M spectra: noise's kurtoses, with channels, inputs, windows and single values outside the
 * limits.
 */
function sumsOf(
  { type, channels, inputs, seed }: { type: string; channels: number; inputs: number; seed: number },
  windows: number,
  spectra: number,
): Float64Array {
  const random = randomStream(seed, 'sums');
  const sums: number[] = [];
  const nominal = { ci8: 800, ci4: 12.5, cf32: 0.2 }[type] ?? 1;
  for (let w = 0; w < windows; w++)
    for (let c = 0; c < channels; c++)
      for (let a = 0; a < inputs; a++) {
        const chance = random.uniform();
        const sigma = 2 / Math.sqrt(spectra);
        let kurtosis = 1 + sigma * random.gaussian();
        if (w % 7 === 3) kurtosis += a % 2 === 0 || w < 10 ? 4 * sigma : 0;
        if (c === 2 && w > 4 && w < 20) kurtosis -= 6 * sigma;
        if (c === 4) kurtosis += 0.8 * sigma;
        if (a === 1 && c === 6) kurtosis -= 5 * sigma;
        if (w === 12) kurtosis -= 5 * sigma;
        if (chance < 0.02) kurtosis += 10;
        const power =
          nominal * (chance > 0.97 ? 40 : chance > 0.94 ? 0.01 : 1) * (0.9 + 0.2 * random.uniform());
        const s1 = chance > 0.99 ? 0 : Math.round(power * spectra * 8) / 8;
        const s2 = (Math.max(0.01, 1 + kurtosis) * s1 ** 2) / spectra;
        if (type === 'cf32' && chance > 0.92 && chance < 0.925) sums.push(NaN, NaN);
        else if (type === 'cf32' && chance > 0.925 && chance < 0.93) sums.push(Infinity, Infinity);
        else sums.push(s1, s2);
      }
  return Float64Array.from(sums);
}

describe('native decisions', { skip: 'what' in library ? library.what : false }, () => {
  const flaggedInputs = new Uint8Array(38);
  flaggedInputs.set([1, 1, 0, 1], 16);
  const shapes: readonly (KurtosisOptions & { readonly name: string })[] = [
    { name: 'floats', type: 'cf32', channels: 20, inputs: 6, polarisations: 1 },
    {
      name: 'two polarisations, some left out',
      type: 'ci8',
      channels: 19,
      inputs: 38,
      polarisations: 2,
      flaggedInputs,
    },
    {
      name: 'four bits, stations, bursts flagged',
      type: 'ci4',
      channels: 12,
      inputs: 8,
      polarisations: 2,
      takes: 'stations',
      bursts: 'take',
    },
    {
      name: 'stations, bursts kept',
      type: 'ci8',
      channels: 12,
      inputs: 8,
      polarisations: 2,
      takes: 'stations',
    },
    { name: 'a real channel', type: 'cf32', channels: 9, inputs: 5, polarisations: 1, realChannels: 1 },
    { name: 'few channels', type: 'ci8', channels: 3, inputs: 4, polarisations: 2 },
    { name: 'the mean over inputs', type: 'ci8', channels: 20, inputs: 6, polarisations: 2, over: 'inputs' },
    { name: 'one input', type: 'ci8', channels: 40, inputs: 1, polarisations: 1, over: 'inputs' },
  ];
  for (const { name, ...asked } of shapes)
    it(`${name}: as the plain loops have them`, async () => {
      const cpu = await openCpu({ threads: 3 });
      const plan = planKurtosis({ ...asked, spectraPerWindow: 128 });
      const limits = new LimitTables(plan);
      let flagged = 0;
      const bursts = new Set<number>();
      for (const [seed, windows, spectra] of [
        [1, 1, 128],
        [2, 2, 24],
        [3, 24, 128],
        [4, 29, 20],
        [5, 32, 112],
      ])
        for (const isMissing of [false, true]) {
          const edges = Int32Array.from({ length: windows + 1 }, (_, n) => n * spectra);
          const sums = sumsOf({ ...plan, seed }, windows, spectra);
          const random = randomStream(seed, 'lost');
          const lost = Uint32Array.from({ length: sums.length / 2 }, () =>
            random.uniform() < 0.1 ? Math.floor(random.uniform() * (spectra + 1)) : 0,
          );
          const tables = limits.of(edges, isMissing ? lost : undefined);
          const made = [true, false].map((shares) => ({
            decide: nativeDecide(plan, cpu.native, { shares }),
            codes: new Uint8Array(lost.length).fill(85),
            bursts: new Uint8Array(windows).fill(85),
          }));
          const wanted = {
            codes: new Uint8Array(lost.length).fill(99),
            bursts: new Uint8Array(windows).fill(99),
          };
          decide(plan, tables, sums, isMissing ? lost : undefined, wanted);
          for (const one of made) {
            await one.decide(tables, sums, isMissing ? lost : undefined, one);
            assert.deepEqual(
              { codes: one.codes, bursts: one.bursts },
              wanted,
              `${windows} windows of ${spectra}`,
            );
          }
          flagged += wanted.codes.filter((code) => (code & 3) !== 0).length;
          for (const burst of wanted.bursts) bursts.add(burst);
        }
      assert.ok(flagged > 0);
      if (plan.channels > 8 && plan.over === 'each') assert.ok(bursts.has(BURST) && bursts.has(OVERLOAD));
      await cpu.close();
    });
});
