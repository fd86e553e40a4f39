/**
 * A TART's snapshot through the command line: imaged with the telescope's own gains and with gains solved from its
 * named satellites, these appear at their catalogue positions; with any wrong sign they do not. Always a simulated
 * snapshot, and a public one if present.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { randomStream } from '../core/random.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { loadTelescope } from '../telescope/load.js';
import { corella } from './corella.js';

interface Snapshot {
  readonly info: unknown;
  readonly ant_pos: readonly (readonly number[])[];
  readonly gains: { readonly gain: readonly number[]; readonly phase_offset: readonly number[] };
  readonly data: readonly [
    readonly [
      {
        readonly timestamp: string;
        readonly data: readonly { i: number; j: number; re: number; im: number }[];
      },
      readonly { readonly name: string; readonly az: number; readonly el: number; readonly jy: number }[],
    ],
  ];
}

const RADIAN = Math.PI / 180;
const HIGH_DEG = 25;

/**
 * The mean, over the catalogued satellites above 25°, of the brightest pixel within two, over the rms within 0.9 of the
 * horizon.
 */
function overRms(fits: string, { data: [[, catalogue]] }: Snapshot): number {
  const bytes = readFileSync(fits);
  const cards = bytes.toString('latin1', 0, 2880 * 20);
  const value = (key: string): number =>
    Number(new RegExp(`${key.padEnd(8)}= *([-+.\\dEe]+)`).exec(cards)?.[1] ?? NaN);
  const first = Math.ceil((/END {10}/.exec(cards)?.index ?? NaN) / 2880) * 2880;
  const [columns, rows, size] = [value('NAXIS1'), value('NAXIS2'), Math.abs(value('BITPIX')) / 8];
  const map = Float64Array.from({ length: columns * rows }, (_, k) =>
    size === 4 ? bytes.readFloatBE(first + 4 * k) : bytes.readDoubleBE(first + 8 * k),
  );
  const cosine = (axis: 1 | 2, pixel: number): number =>
    (pixel + 1 - value(`CRPIX${axis}`)) * value(`CDELT${axis}`) * RADIAN;
  const pixel = (axis: 1 | 2, at: number): number =>
    Math.round(at / (value(`CDELT${axis}`) * RADIAN) + value(`CRPIX${axis}`) - 1);
  const inside = [...map].filter(
    (_, k) => Math.hypot(cosine(1, k % columns), cosine(2, Math.floor(k / columns))) < 0.9,
  );
  const rms = Math.sqrt(inside.reduce((sum, one) => sum + one * one, 0) / inside.length);
  const peaks = catalogue
    .filter(({ el }) => el > HIGH_DEG)
    .map(({ az, el }) => {
      const l = pixel(1, Math.cos(el * RADIAN) * Math.sin(az * RADIAN));
      const m = pixel(2, Math.cos(el * RADIAN) * Math.cos(az * RADIAN));
      let peak = -Infinity;
      for (let y = m - 2; y <= m + 2; y++)
        for (let x = l - 2; x <= l + 2; x++) {
          const one = map.at(y * columns + x) ?? NaN;
          if (one > peak) peak = one;
        }
      return peak / rms;
    });
  return peaks.reduce((sum, one) => sum + one, 0) / peaks.length;
}

const conjugated = (snapshot: Snapshot): Snapshot => ({
  ...snapshot,
  data: [
    [
      { ...snapshot.data[0][0], data: snapshot.data[0][0].data.map((one) => ({ ...one, im: -one.im })) },
      snapshot.data[0][1],
    ],
  ],
});
const turnedBack = (snapshot: Snapshot): Snapshot => ({
  ...snapshot,
  gains: { ...snapshot.gains, phase_offset: snapshot.gains.phase_offset.map((one) => -one) },
});

/** Images with its own gains, of all signs, and with gains of its satellites, correct and applied to conjugates. */
async function imaged(snapshot: Snapshot): Promise<{
  readonly right: number;
  readonly solved: number;
  readonly wrong: readonly number[];
}> {
  const folder = temporaryFolder('tart-sky');
  const write = (name: string, one: Snapshot): void => {
    writeFileSync(join(folder, name), JSON.stringify(one));
  };
  write('right.json', snapshot);
  write('data.json', conjugated(snapshot));
  write('gains.json', turnedBack(snapshot));
  write('both.json', turnedBack(conjugated(snapshot)));
  const run = async (...words: string[]): Promise<void> => {
    const { code, stderr } = await corella(folder, ...words);
    assert.equal(code, 0, stderr);
  };
  const image = async (name: string, gains: string): Promise<number> => {
    const out = `${name}-${gains}.fits`;
    await run(
      'image',
      `${name}.json`,
      '--gains',
      `${gains}.json`,
      '--pixels',
      '160',
      '--no-picture',
      '-o',
      out,
    );
    return overRms(join(folder, out), snapshot);
  };
  await run('calibrate', 'right.json', '--sources', 'right.json', '--min-altitude', '25', '-o', 'own.json');
  return {
    right: await image('right', 'right'),
    solved: await image('right', 'own'),
    wrong: [
      await image('data', 'data'),
      await image('gains', 'gains'),
      await image('both', 'both'),
      await image('data', 'own'),
    ],
  };
}

/**
 * Twelve satellites of equal flux over an existing array, random gains, noise as strong as a satellite on each pair.
 */
async function made(): Promise<Snapshot> {
  const { stations, site } = await loadTelescope('tart-mg-tana');
  const draw = randomStream(7);
  const random = (): number => draw.uniform();
  const wave = 299_792_458 / 1.57542e9;
  const gain = stations.map(() => 0.7 + 0.6 * random());
  const phases = stations.map(() => 6 * random());
  const catalogue = Array.from({ length: 12 }, (_, k) => ({
    name: `MADE ${k}`,
    az: 360 * random(),
    el: 28 + 55 * random(),
    jy: 1,
  }));
  const data = stations.flatMap((a, i) =>
    stations.slice(i + 1).map((b, k) => {
      const j = i + 1 + k;
      let [re, im] = [draw.gaussian(), draw.gaussian()];
      for (const { az, el } of catalogue) {
        const [l, m] = [
          Math.cos(el * RADIAN) * Math.sin(az * RADIAN),
          Math.cos(el * RADIAN) * Math.cos(az * RADIAN),
        ];
        const up = Math.sin(el * RADIAN) * (a.upM - b.upM);
        const phase = (2 * Math.PI * ((a.eastM - b.eastM) * l + (a.northM - b.northM) * m + up)) / wave;
        re += Math.cos(phase);
        im += Math.sin(phase);
      }
      const turn = phases[i] - phases[j];
      const size = gain[i] * gain[j];
      return {
        i,
        j,
        re: (re * Math.cos(turn) - im * Math.sin(turn)) / size,
        im: (re * Math.sin(turn) + im * Math.cos(turn)) / size,
      };
    }),
  );
  return {
    info: {
      name: 'Made',
      L0_frequency: 1571.328e6,
      baseband_frequency: 4.092e6,
      sampling_frequency: 16.368e6,
      bandwidth: 2.5e6,
      num_antenna: stations.length,
      operating_frequency: 1575.42e6,
      lat: site.latitudeDeg,
      lon: site.longitudeDeg,
      alt: site.heightM,
    },
    ant_pos: stations.map(({ eastM, northM, upM }) => [eastM, northM, upM]),
    gains: { gain, phase_offset: phases },
    data: [[{ timestamp: '2026-06-21T00:00:00.000000+00:00', data }, catalogue]],
  };
}

describe('the satellites over a TART', () => {
  it('stand in a made snapshot where its catalogue states, by its gains and by those of its satellites', async () => {
    const { right, solved, wrong } = await imaged(await made());
    assert.ok(right >= 3, `${right}`);
    assert.ok(solved >= 3, `${solved}`);
    for (const one of wrong) assert.ok(one < 1.8, wrong.join());
  });

  it('stand in a public snapshot of 2019 where its catalogue states', async (test) => {
    const path = join(process.env.CORELLA_TEST_DATA ?? '', 'tart/data_2019_08_04_21_38_31_UTC.json');
    if (process.env.CORELLA_TEST_DATA === undefined || !existsSync(path)) {
      test.skip('CORELLA_TEST_DATA has no snapshot of a TART');
      return;
    }
    const snapshot = JSON.parse(readFileSync(path, 'utf8')) as Snapshot;
    assert.equal(snapshot.data[0][1].filter(({ el }) => el > HIGH_DEG).length, 26);
    const { right, solved, wrong } = await imaged(snapshot);
    assert.ok(right >= 3.3, `${right}`);
    assert.ok(solved >= 3.3, `${solved}`);
    for (const one of wrong) assert.ok(one < 1.8, wrong.join());
  });
});
