/** Solving recovers known gains; impossible solutions are refused or left out. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openReference } from '../../backend/reference.js';
import { modelVisibilities } from '../../calibrate/index.js';
import { baselineCount, countsCB, visibilitiesCBPP } from '../../core/axes.js';
import type { Integration } from '../../core/blocks.js';
import { addSeconds, parseInstant, secondsBetween } from '../../core/instant.js';
import type { VisibilityFile } from '../../formats/index.js';
import type { Product } from '../registry.js';
import { sourcesUp } from '../../sky/above.js';
import { skyFrame } from '../../sky/frame.js';
import { fixedSource, sourceAt, type Source } from '../../sky/source.js';
import { frameAtMiddle, modelComponents, stationPositions } from '../../stages/index.js';
import type { Telescope } from '../../telescope/telescope.js';
import { planGains } from './plan.js';
import { solvePlanned, type SolvedGains } from './solve.js';
import { gainsFileOf } from './write.js';

const places = [[0, 0], [110, 30], [-90, 50], [40, -120], [-60, -80], [140, -50], [-130, -20]]; // prettier-ignore
const telescope: Telescope = {
  name: 'seven',
  title: 'seven in a field',
  site: { latitudeDeg: -26.7, longitudeDeg: 116.67, heightM: 377 },
  stations: places.map(([eastM, northM], s) => ({ name: `s${s}`, eastM, northM, upM: 0 })),
  polarisations: 1,
  band: { lowHz: 50e6, highHz: 350e6 },
  recording: { centreFrequencyHz: 160e6, sampleRateHz: 1e6, channels: 8, bits: 8 },
  beamExponent: 0,
};
const inputs = places.length;
const frequenciesHz = Float64Array.from({ length: 8 }, (_, c) => 150e6 + 1e6 * c);
const begins = parseInstant('2026-06-21T04:00:00Z');
const frame = skyFrame(telescope.site, addSeconds(begins, 1));
const at = (altDeg: number, azDeg: number, fluxJy: number, name: string): Source => {
  const { raDeg, decDeg } = sourceAt(frame, altDeg, azDeg, fluxJy, name).position(frame);
  return fixedSource({ name, position: { raDeg, decDeg }, fluxJy });
};
const sky = [at(60, 40, 100, 'a'), at(45, 200, 60, 'b')];
const textOf = (sources: readonly Source[], fluxes: readonly number[]): string =>
  sources
    .map((one, k) => {
      const { raDeg, decDeg } = one.position(frame);
      return `${one.name}:${raDeg}:${decDeg}:${fluxes[k]}:0`;
    })
    .join(',');
const model = textOf(sky, [100, 60]);

type Gain = (channel: number, input: number) => readonly [re: number, im: number];
/** Amplitudes from 1 to 1.6, phases over the full circle. */
const gainOf: Gain = (c, a) => polar(1 + 0.1 * a, 0.9 * a * a + 0.2 * c * (a % 3));
const polar = (size: number, phase: number): readonly [number, number] => [
  size * Math.cos(phase),
  size * Math.sin(phase),
];

/** Two seconds of this sky with these gains, without noise: 1000 samples in every sum. */
function seen(startS: number, sources: readonly Source[], gain: Gain): Integration {
  const baselines = baselineCount(inputs);
  const empty: Integration = {
    start: addSeconds(begins, startS),
    durationS: 2,
    channels: 8,
    stations: inputs,
    polarisations: 1,
    visibilities: visibilitiesCBPP(new Float64Array(2 * 8 * baselines), 8, baselines, 1),
    counts: countsCB(new Float64Array(8 * baselines).fill(1000), 8, baselines),
    flaggedInputs: new Uint8Array(inputs),
  };
  const middle = frameAtMiddle(telescope, empty);
  const up = sourcesUp(sources, middle, 5, { telescope, frequencyHz: 150e6 });
  const components = modelComponents(telescope, frequenciesHz, up, middle);
  const values = modelVisibilities({
    stationsM: stationPositions(telescope),
    frequenciesHz,
    polarisations: 1,
    components,
  });
  let pair = 0;
  for (let c = 0; c < 8; c++)
    for (let i = 0; i < inputs; i++)
      for (let j = 0; j <= i; j++, pair++) {
        const [[ir, ii], [jr, ji]] = [gain(c, i), gain(c, j)];
        const [gr, gi] = [ir * jr + ii * ji, ii * jr - ir * ji];
        const [re, im] = values.subarray(2 * pair);
        empty.visibilities[2 * pair] = 1000 * (gr * re - gi * im);
        empty.visibilities[2 * pair + 1] = 1000 * (gr * im + gi * re);
      }
  return empty;
}

const fileOf = (all: readonly Integration[]): VisibilityFile => ({
  kind: 'visibilities',
  path: 'memory',
  format: 'test',
  details: {},
  telescope,
  header: {
    telescope,
    polarisations: 1,
    frequenciesHz,
    channelWidthHz: 1e6,
    object: 'zenith',
    history: [],
    phaseCentre: { raDeg: 0, decDeg: 0 },
  },
  integrationCount: all.length,
  integrations: async function* () {
    await Promise.resolve();
    yield* all;
  },
  close: () => Promise.resolve(),
});

const backend = openReference();
const solveGains = async (
  file: VisibilityFile,
  settings: Parameters<typeof planGains>[1],
): Promise<SolvedGains> => solvePlanned(file, await planGains(file, settings), { backend });

const solve = (all: readonly Integration[], product: Partial<Product<'gains'>> = {}): Promise<SolvedGains> =>
  solveGains(fileOf(all), { product: { gains: null, sources: model, ...product } });

/** As put in, relative to the phase of the reference station. */
function assertGains({ plan, times, reference }: SolvedGains, time: number, gain: Gain): void {
  const { gains, solved } = times[time].calibration;
  for (let c = 0; c < plan.header.frequenciesHz.length; c++) {
    const [rr, ri] = gain(c, reference.station);
    const size = Math.hypot(rr, ri);
    for (let a = 0; a < inputs; a++) {
      const [re, im] = gain(c, a);
      const n = c * inputs + a;
      assert.equal(solved[n], 1);
      const errors = [
        gains[2 * n] - (re * rr + im * ri) / size,
        gains[2 * n + 1] - (im * rr - re * ri) / size,
      ];
      assert.ok(Math.hypot(...errors) < 1e-6, `channel ${c}, input ${a}: off by ${Math.hypot(...errors)}`);
    }
  }
}

describe('solving gains', () => {
  it('finds the gains that were put in', async () => {
    const solved = await solve([seen(0, sky, gainOf)], { reference: 's2' });
    assert.equal(solved.reference.station, 2);
    assertGains(solved, 0, gainOf);
    assert.deepEqual(
      solved.sources.map(({ source }) => source.name),
      ['a', 'b'],
    );
    assert.equal(solved.summary.solvedInputs, inputs);
    assert.ok(solved.worst.check.unexplained < 1e-6);
    const file = gainsFileOf(solved, ['made by hand']);
    assert.deepEqual([file.telescope, file.later, file.history], ['seven', undefined, ['made by hand']]);
    assert.equal(secondsBetween(begins, file.time), 1);
  });

  it('solves each interval by itself, against one reference', async () => {
    const later: Gain = (c, a) => polar(1.5 - 0.05 * a, -0.4 * a + 0.1 * c);
    const solved = await solve([seen(0, sky, gainOf), seen(10, sky, later)], { every: 10 });
    assert.equal(solved.times.length, 2);
    assertGains(solved, 0, gainOf);
    assertGains(solved, 1, later);
    assert.equal(gainsFileOf(solved, []).later?.length, 1);
  });

  it('keeps the data of a few of many solutions, from the first to the last, and the gains of all', async () => {
    const all = Array.from({ length: 40 }, (_, k) => seen(2 * k, sky, gainOf));
    const { times } = await solve(all, { every: 2 });
    const whole = times.flatMap(({ integration }, k) => (integration.visibilities.length > 0 ? [k] : []));
    assert.deepEqual(whole, [0, 4, 8, 12, 16, 20, 24, 28, 32, 36]);
    assert.ok(times.length === 40 && times.every(({ calibration }) => calibration.solved.includes(1)));
    const shaped = await solve(all, { every: 2, over: 'delay', 'accept-model': true });
    assert.ok(shaped.times.every(({ integration }) => integration.visibilities.length > 0));
  });

  it('leaves a time without gains whose sky the model does not explain; of all times it refuses', async () => {
    const other = [at(30, 300, 200, 'c'), at(70, 120, 150, 'd'), at(50, 30, 180, 'e'), at(40, 250, 160, 'f')];
    const good = seen(0, sky, gainOf);
    const solved = await solve([good, seen(10, other, gainOf)], { every: 10 });
    assert.deepEqual(
      solved.times.map(({ isLeftOut }) => isLeftOut),
      [false, true],
    );
    assert.ok(!solved.times[1].calibration.solved.includes(1));
    await assert.rejects(
      solve([seen(0, other, gainOf)]),
      /the model explains \d+ % of the sky's power.*products\.gains\.accept-model/,
    );
  });

  it('leaves out an input that is unlike the others', async () => {
    const deaf: Gain = (c, a) => (a === 4 ? polar(20, 0) : gainOf(c, a));
    const solved = await solve([seen(0, sky, deaf)]);
    assert.deepEqual(
      solved.outlierInputs.map(({ name }) => name),
      ['s4'],
    );
    assert.equal(solved.summary.solvedInputs, inputs - 1);
    assert.equal((await solve([seen(0, sky, deaf)], { odd: 0 })).summary.solvedInputs, inputs);
  });

  it('finds delays, and reports it where they do not fit', async () => {
    const delaysS = places.map((_, a) => 20e-9 * a);
    const cables: Gain = (c, a) => polar(1 + 0.1 * a, -2 * Math.PI * frequenciesHz[c] * delaysS[a]);
    const solved = await solve([seen(0, sky, cables)], { over: 'delay', reference: 's0' });
    solved.delays.forEach(({ delayS, name }, a) => {
      assert.ok(Math.abs(delayS - delaysS[a]) < 1e-12, `${name}: ${delayS}`);
    });
    assert.equal(solved.misfit?.isWarned, false);
    const bent: Gain = (c, a) => polar(1, 0.15 * a * (c - 3.5) ** 2);
    const accepted = await solve([seen(0, sky, bent)], { over: 'delay', 'accept-model': true });
    assert.equal(accepted.misfit?.isWarned, true);
    await assert.rejects(
      solve([seen(0, sky, cables)], { over: 'band' }),
      /products\.gains\.over: band: one gain for the band of each input leaves/,
    );
  });

  it('refuses what contradicts itself before it reads', async () => {
    const file: VisibilityFile = {
      ...fileOf([]),
      integrations: () => assert.fail('the file was read'),
    };
    for (const [product, reason] of [
      [{ 'delays-out': 'cables.json' }, /products\.gains\.delays-out: needs delays to write/],
      [{ reference: 'unknown' }, /products\.gains\.reference: 'unknown' is no station/],
      [{ polarisation: 'full' }, /products\.gains\.polarisation: full: these data have one polarisation/],
      [{ 'cross-hand': 'v-zero' }, /products\.gains\.cross-hand: V = 0 alone leaves the sign/],
      [{ diffuse: 'haslam' }, /products\.gains\.diffuse: 'haslam' is no diffuse sky/],
    ] as const)
      await assert.rejects(solveGains(file, { product: { gains: null, ...product } }), reason);
    await assert.rejects(
      solveGains(file, { integration: 3, product: { gains: null, every: 10 } }),
      /source\.integration: chooses one part of the file/,
    );
  });
});
