/** Copies of a visibility file preserve values, flags, weights, uvw and times. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { countsCB, uvwB, visibilitiesCBPP, weightsCBPP } from '../core/axes.js';
import type { PassThrough, Integration } from '../core/blocks.js';
import { addSeconds, parseInstant, secondsBetween } from '../core/instant.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { SPEED_OF_LIGHT_M_PER_S } from '../core/units.js';
import { skyFrame } from '../sky/frame.js';
import { readUnit } from './fits/fits.js';
import type { VisibilityHeader } from './format.js';
import { openHdf5 } from './hdf5/read.js';
import { openInput } from './io/input.js';
import { openFile, visibilityFormatFor } from './registry.js';
import { planUvfits } from './visibilities/uvfits/layout.js';
import { readGroups } from './visibilities/uvfits/rows.js';

const site = { latitudeDeg: -26.7, longitudeDeg: 116.67, heightM: 360 };
const start = parseInstant('2026-06-21T23:59:59Z');
const header: VisibilityHeader = {
  telescope: {
    name: 'pair',
    title: 'one above the other',
    site,
    stations: [
      { name: 'low', eastM: 0, northM: 0, upM: 0 },
      { name: 'high', eastM: 0, northM: 0, upM: 104 },
    ],
    polarisations: 2,
    band: { lowHz: 5e5, highHz: 1e6 },
    recording: { centreFrequencyHz: 7.5e5, sampleRateHz: 1e5, channels: 1, bits: 8 },
    beamExponent: 1,
  },
  polarisations: 2,
  feeds: 'circular',
  frequenciesHz: Float64Array.of(SPEED_OF_LIGHT_M_PER_S / 400),
  channelWidthHz: 1e4,
  phaseCentre: skyFrame(site, addSeconds(start, 1)).zenith,
  object: 'zenith',
  history: [],
};

/**
 * A file with the high station at (3, −4, 100) m where geometry gives (0, 0, 104), and sums without such metadata. The
 * low station's autocorrelation is not its own conjugate, and three weights mark flagged values.
 */
const means = [9, 0.5, 1, 2, 1, -3, 6, 0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0, 0, 0, 0, 0, 1, 0];
const weights = [1, 2, -3, 4, 2, -3, -0, 4, 1, 1, 1, 1];
const passThrough: PassThrough = {
  means: visibilitiesCBPP(Float64Array.from(means), 1, 3, 2),
  weights: weightsCBPP(Float64Array.from(weights), 1, 3, 2),
  stopped: {
    phaseCentre: header.phaseCentre,
    uvwM: uvwB(Float64Array.of(0, 0, 0, 3, -4, 100, 0, 0, 0), 3),
  },
};
const integration: Integration = {
  start,
  durationS: 2,
  channels: 1,
  stations: 2,
  polarisations: 2,
  visibilities: visibilitiesCBPP(new Float64Array(24), 1, 3, 2),
  counts: countsCB(new Float64Array(3), 1, 3),
  flaggedInputs: new Uint8Array(4),
  passThrough,
};

const near = (actual: Iterable<number>, expected: readonly number[], tolerance = 2e-6): void => {
  const found = [...actual];
  assert.equal(found.length, expected.length);
  expected.forEach((value, n) => {
    assert.ok(Math.abs(found[n] - value) <= tolerance, `element ${n}: ${found[n]} where ${value} is due`);
  });
};

describe('visibility files again', () => {
  const folder = temporaryFolder('again');

  const write = async (
    name: string,
    of: VisibilityHeader,
    integrations: AsyncIterable<Integration> | Iterable<Integration>,
  ): Promise<string> => {
    const path = join(folder, name);
    const writer = await visibilityFormatFor(path).createVisibilities(path, of);
    for await (const one of integrations) await writer.append(one);
    await writer.finish();
    return path;
  };
  const convert = async (from: string, name: string): Promise<string> => {
    const file = await openFile(from);
    assert.ok(file.kind === 'visibilities');
    const path = await write(name, file.header, file.integrations());
    await file.close();
    return path;
  };
  const read = async (path: string): Promise<{ of: VisibilityHeader; all: Integration[] }> => {
    const file = await openFile(path);
    assert.ok(file.kind === 'visibilities');
    const all: Integration[] = [];
    for await (const one of file.integrations()) all.push(one);
    await file.close();
    return { of: file.header, all };
  };
  const groups = async (path: string): Promise<number[][]> => {
    const file = await openInput(path);
    const unit = await readUnit(file, 0);
    assert.ok(unit);
    const layout = planUvfits(unit, undefined);
    assert.deepEqual(
      layout.products.map(({ label }) => label),
      ['RR', 'LL', 'RL', 'LR'],
    );
    const rows: number[][] = [];
    for await (const { values } of readGroups(file, layout, { firstGroup: 0, groups: layout.groupCount })) {
      for (let at = 0; at < values.length; at += layout.groupElements)
        rows.push([...values.subarray(at, at + layout.groupElements)]);
    }
    await file.close();
    return rows;
  };
  /**
   * By hand, for A1 low and A2 high: uvw = r_low − r_high = (−3, 4, −100) m. At f = c/400 m, f·WW is −1/4 turn and S =
   * i·conj(V_ij[p₂][p₁]): XX i(1−2i) = 2+i, YY i(7−8i) = 8+7i, XY i(5−6i) = 6+5i, YX i(3−4i) = 4+3i, each with the
   * weight of its own [p₂][p₁]. Autocorrelations are unchanged.
   */
  const checkUvfits = async (path: string): Promise<void> => {
    const [auto, cross] = await groups(path);
    near(
      cross.slice(0, 3).map((value) => value * SPEED_OF_LIGHT_M_PER_S),
      [-3, 4, -100],
      1e-5,
    );
    near(cross.slice(7), [2, 1, 2, 8, 7, 4, 6, 5, 0, 4, 3, -3]);
    near(auto.slice(7), [9, 0.5, 1, 6, 0, 4, 1, 2, 2, 1, -3, -3]);
  };
  /** UVH5 stores the conjugates, r₂ − r₁, and flags beside counts. */
  const checkUvh5 = async (path: string, uvwToleranceM: number): Promise<void> => {
    const file = await openHdf5(path);
    const rows = (name: string): Float64Array => Float64Array.from(file.dataset(name).rows(0, 2));
    near(rows('Header/uvw_array'), [0, 0, 0, 3, -4, 100], uvwToleranceM);
    near(rows('Data/visdata'), [9, -0.5, 6, 0, 1, -2, 1, 3, 2, -1, 8, -7, 6, -5, 4, -3]);
    near(rows('Data/flags'), [0, 0, 0, 1, 0, 0, 1, 1]);
    near(rows('Data/nsamples'), [1, 4, 2, 3, 2, 4, 0, 3]);
    near(file.numbers('Header/polarization_array'), [-1, -2, -3, -4]);
    await file.close();
  };

  it('UVFITS → UVH5 → UVFITS', async () => {
    const first = await write('1.uvfits', header, [integration]);
    await checkUvfits(first);
    const second = await convert(first, '2.uvh5');
    await checkUvh5(second, 1e-5);
    await checkUvfits(await convert(second, '3.uvfits'));
  });

  it('UVH5 → UVFITS → UVH5', async () => {
    const first = await write('4.uvh5', header, [integration]);
    await checkUvh5(first, 0);
    const second = await convert(first, '5.uvfits');
    await checkUvfits(second);
    await checkUvh5(await convert(second, '6.uvh5'), 1e-5);
    const { all } = await read(first);
    near(all[0].passThrough?.means ?? [], means);
    near(all[0].passThrough?.weights ?? [], weights, 0);
  });

  it('takes uvw from geometry when the phase centre is another, or the file had no such pair', async () => {
    const elsewhere = { raDeg: header.phaseCentre.raDeg + 1, decDeg: header.phaseCentre.decDeg };
    const [low, high] = header.telescope.stations;
    const higher = { ...header.telescope, stations: [low, { ...high, upM: 200 }] };
    const unknown = uvwB(new Float64Array(9).fill(Number.NaN), 3);
    for (const [k, stopped] of [
      { phaseCentre: elsewhere, uvwM: passThrough.stopped?.uvwM ?? unknown },
      { phaseCentre: header.phaseCentre, uvwM: unknown },
    ].entries()) {
      const path = await write(`other${k}.uvfits`, { ...header, telescope: higher }, [
        { ...integration, passThrough: { ...passThrough, stopped } },
      ]);
      const [, cross] = await groups(path);
      // −200 m along the zenith are −1/2 turn: S = −conj(V).
      near(
        cross.slice(0, 3).map((value) => value * SPEED_OF_LIGHT_M_PER_S),
        [0, 0, -200],
        1e-4,
      );
      near(cross.slice(7, 10), [-1, 2, 2]);
    }
  });

  it('keeps the length of each integration, and of each pair where they differ', async () => {
    const second = { ...integration, start: addSeconds(start, 3), durationS: 10 };
    const first = await write('long.uvfits', header, [integration, second]);
    const input = await openInput(first);
    const unit = await readUnit(input, 0);
    await input.close();
    assert.ok(unit);
    // INTTIM is the seventh of a group's 7 + 12 numbers; the second row of the first time now has 5 s.
    const bytes = await readFile(first);
    assert.equal(bytes.readFloatBE(unit.dataStart + 4 * (19 + 6)), 2);
    bytes.writeFloatBE(5, unit.dataStart + 4 * (19 + 6));
    await writeFile(first, bytes);
    const path = await convert(first, 'long.uvh5');
    const { all } = await read(await convert(path, 'long2.uvfits'));
    assert.deepEqual(
      all.map(({ durationS }) => durationS),
      [5, 10],
    );
    // The second row is the pair (1, 2): baseline 1 of (0, 0), (1, 0), (1, 1).
    assert.deepEqual([...(all[0].passThrough?.integrationS ?? [])], [2, 5, 2]);
    assert.equal(all[1].passThrough?.integrationS, undefined);
  });

  const data = process.env.CORELLA_TEST_DATA;
  for (const name of [
    'uvfits/lsl-uv-test.uvfits',
    'uvfits/mwa-1061316296.uvfits',
    'uvfits/sim-ref_1.1_uniform.uvfits',
    'uvfits/vlba-mojave.uvfits',
    'ska-low/aavs2_chan204_20230823T055556.uvfits',
    'uvh5/ata.LoA.C0352.uvh5_60647_62965_9760406_3c286_0001.uvh5',
    'uvh5/hera-zen.2458432.34569.uvh5',
    'uvh5/hera-zen.2458661.23480.HH.uvh5',
    'mwa/1061315448_20130823175130_mini_vv_07_01.uvh5',
  ]) {
    const path = data === undefined ? '' : join(data, name);
    const skip =
      data === undefined
        ? 'CORELLA_TEST_DATA names no folder of real files'
        : existsSync(path)
          ? false
          : `${path} is not there`;
    it(`${name} there and back`, { skip }, async () => {
      const bare = basename(name);
      const [there, back] = name.endsWith('.uvh5') ? ['uvfits', 'uvh5'] : ['uvh5', 'uvfits'];
      const sent = await read(path);
      const got = await read(await convert(await convert(path, `${bare}.${there}`), `${bare}.${back}`));
      assert.equal(got.all.length, sent.all.length);
      assert.equal(got.of.feeds, sent.of.feeds);
      sent.all.forEach((one, k) => {
        checkSame(one, got.all[k], sent.of);
      });
    });
  }
});

/** The largest magnitude. */
const largest = (values: Iterable<number>): number => {
  let most = 0;
  for (const value of values) if (Math.abs(value) > most) most = Math.abs(value);
  return most;
};

function checkSame(sent: Integration, got: Integration, { frequenciesHz }: VisibilityHeader): void {
  const middle = ({ start: from, durationS }: Integration) => addSeconds(from, durationS / 2);
  // A Julian Date in one double, as in UVH5, resolves 40 µs.
  assert.ok(Math.abs(secondsBetween(middle(sent), middle(got))) < 1e-4, 'times');
  assert.ok(Math.abs(sent.durationS - got.durationS) < 1e-6 * sent.durationS, 'durations');
  const [a, b] = [sent.passThrough, got.passThrough];
  assert.ok(a && b);
  a.integrationS?.forEach((value, pair) => {
    assert.ok(Number.isNaN(value) || b.integrationS?.[pair] === value, 'durations of pairs');
  });
  // Weights are single precision on both sides.
  assert.ok(
    a.weights.every((weight, at) => Math.fround(weight) === b.weights[at]),
    'weights and flags',
  );
  assert.deepEqual(got.flaggedInputs, sent.flaggedInputs);
  if (a.stopped && b.stopped) {
    const [x, y] = [a.stopped.uvwM, b.stopped.uvwM];
    const most = largest(x);
    x.forEach((value, at) => {
      assert.ok(Number.isNaN(value) || Math.abs(value - y[at]) <= 2 ** -23 * most, 'uvw');
    });
  }
  // Fringes as in the file: running, or stopped with its own w, so that rounding of w does not matter.
  const products = sent.polarisations ** 2;
  const most = largest(a.means);
  const baselines = a.means.length / (2 * products * sent.channels);
  const storedValue = ({ means: values, stopped }: PassThrough, at: number): [number, number] => {
    const cell = Math.floor(at / products);
    const frequencyHz = frequenciesHz[Math.floor(cell / baselines)];
    const wM = a.stopped && stopped ? stopped.uvwM[3 * (cell % baselines) + 2] : 0;
    const phase = Number.isNaN(wM) ? 0 : (-2 * Math.PI * frequencyHz * wM) / SPEED_OF_LIGHT_M_PER_S;
    const [cos, sin] = [Math.cos(phase), Math.sin(phase)];
    const [re, im] = values.subarray(2 * at, 2 * at + 2);
    return [re * cos - im * sin, re * sin + im * cos];
  };
  for (let at = 0; at < a.weights.length; at++) {
    const [re, im] = storedValue(a, at);
    const [re2, im2] = storedValue(b, at);
    assert.ok(
      Math.hypot(re - re2, im - im2) <= 1e-6 * most,
      `value ${at}: ${re}, ${im} became ${re2}, ${im2}`,
    );
  }
}
