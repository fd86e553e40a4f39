/**
 * A diffuse sky in the model: without it gains are wrong, with it they are right. The data are a plain sum over the
 * sky.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { z } from 'zod';
import { countsCB, visibilitiesCBPP } from '../core/axes.js';
import { parseInstant } from '../core/instant.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { readGainFile, visibilityFormatFor } from '../formats/index.js';
import { skyFrame } from '../sky/frame.js';
import { corellaHere } from './corella.js';
import { knownTelescope } from './known-sky.js';

const C = 299_792_458;
const STATIONS = 24;
const FREQUENCY = 78e6;
const START = parseInstant('2026-03-01T20:00:00Z', 'diffuse');
const RADIANS = Math.PI / 180;
const SPOT = { altDeg: 70, azDeg: 40, jy: 4000 };
const sky = { stations: STATIONS, radiusM: 15, frequenciesHz: [FREQUENCY], sources: [] };

/** J2000 to Galactic axes, by the matrix in textbooks. */
const GALACTIC = [
  [-0.0548755604, -0.8734370902, -0.4838350155],
  [0.4941094279, -0.44482963, 0.7469822445],
  [-0.867666149, -0.1980763734, 0.4559837762],
] as const;

/**
 * Temperature by the formula of Cong et al. (2021): Simpson's rule in steps that grow with distance, independent of the
 * program's own sum.
 */
function kelvinAt(raDeg: number, decDeg: number): number {
  const [ra, dec] = [raDeg * RADIANS, decDeg * RADIANS];
  const equatorial = [Math.cos(dec) * Math.cos(ra), Math.cos(dec) * Math.sin(ra), Math.sin(dec)];
  const [x, y, up] = GALACTIC.map((row) => row[0] * equatorial[0] + row[1] * equatorial[1] + row[2] * equatorial[2]); // prettier-ignore
  const emissivity = (s: number): number => {
    const fromAxis = Math.hypot(8.5 - s * x, s * y);
    return 43.1 * ((fromAxis + 0.1) / 3.41) ** 0.46 * Math.exp(-fromAxis / 3.41 - Math.abs((s * up) / 1.12) ** 1.23); // prettier-ignore
  };
  // s = e^w − 0.05
  const [first, last, steps] = [Math.log(0.05), Math.log(50.05), 160];
  const h = (last - first) / steps;
  let sum = 0;
  for (let k = 0; k <= steps; k++) {
    const w = first + k * h;
    const weight = k === 0 || k === steps ? 1 : k % 2 === 1 ? 4 : 2;
    sum += weight * emissivity(Math.exp(w) - 0.05) * Math.exp(w);
  }
  return ((sum * h) / 3) * (FREQUENCY / 408e6) ** -2.51 + 1.2 * (FREQUENCY / 1e9) ** -2.58;
}

/** A short dipole over ground, X and Y. */
const voltage = (east: number, north: number, up: number): readonly [number, number] => {
  const height = (2 * Math.PI * 0.278 * FREQUENCY) / C;
  const ground = Math.sin(height * up) / Math.sin(height);
  return [ground * Math.sqrt(1 - east ** 2), ground * Math.sqrt(1 - north ** 2)];
};
const gain = (s: number, p: number): readonly [number, number] => {
  const [size, turn] = [1 + 0.1 * Math.sin(3 * s + p), 2.1 * s + 0.7 * p];
  return [size * Math.cos(turn), size * Math.sin(turn)];
};

/** East, north, up and Jy. */
type Point = readonly [east: number, north: number, up: number, jy: number];

/** Squares of direction cosines, 0.02 along each side: dΩ = dl dm / n. */
function hemisphere(): Point[] {
  const frame = skyFrame(knownTelescope(sky).site, { ...START, unixSeconds: START.unixSeconds + 1 });
  const step = 0.02;
  const points: Point[] = [];
  for (let east = -1 + step / 2; east < 1; east += step)
    for (let north = -1 + step / 2; north < 1; north += step) {
      const up = Math.sqrt(1 - east ** 2 - north ** 2);
      if (!(up > 0.02)) continue;
      const { raDeg, decDeg } = frame.positionOf({ x: east, y: north, z: up });
      const jy = (2 * 1.380649e-23 * kelvinAt(raDeg, decDeg) * (FREQUENCY / C) ** 2 * step ** 2) / up / 1e-26;
      points.push([east, north, up, jy]);
    }
  return points;
}

async function write(path: string, points: readonly Point[]): Promise<void> {
  const telescope = knownTelescope(sky);
  const count = 1e10;
  const baselines = (STATIONS * (STATIONS + 1)) / 2;
  const values = new Float64Array(8 * baselines);
  for (const [east, north, up, jy] of points) {
    const seen = voltage(east, north, up);
    const turns = telescope.stations.map(({ eastM, northM }) => (2 * Math.PI * FREQUENCY * (eastM * east + northM * north)) / C); // prettier-ignore
    let at = 0;
    for (let i = 0; i < STATIONS; i++)
      for (let j = 0; j <= i; j++, at += 8)
        for (let p = 0; p < 2; p++) {
          values[at + 6 * p] += jy * seen[p] ** 2 * Math.cos(turns[i] - turns[j]);
          values[at + 6 * p + 1] += jy * seen[p] ** 2 * Math.sin(turns[i] - turns[j]);
        }
  }
  let at = 0;
  for (let i = 0; i < STATIONS; i++)
    for (let j = 0; j <= i; j++, at += 8)
      for (let p = 0; p < 2; p++) {
        const [[a, b], [c, d]] = [gain(i, p), gain(j, p)];
        const [re, im] = [a * c + b * d, b * c - a * d];
        const [vRe, vIm] = values.subarray(at + 6 * p);
        values.set([count * (re * vRe - im * vIm), count * (re * vIm + im * vRe)], at + 6 * p);
      }
  const writer = await visibilityFormatFor(path).createVisibilities(path, {
    telescope,
    polarisations: 2,
    frequenciesHz: Float64Array.of(FREQUENCY),
    channelWidthHz: 1e5,
    object: 'zenith',
    history: [],
    phaseCentre: skyFrame(telescope.site, START).zenith,
  });
  await writer.append({
    start: START,
    durationS: 2,
    channels: 1,
    stations: STATIONS,
    polarisations: 2,
    visibilities: visibilitiesCBPP(values, 1, baselines, 2),
    counts: countsCB(new Float64Array(baselines).fill(count), 1, baselines),
    flaggedInputs: new Uint8Array(2 * STATIONS),
  });
  await writer.finish();
}

const reportSchema = z.looseObject({
  model: z.looseObject({ unexplained: z.number(), diffuse: z.string().optional() }),
});

describe('a diffuse sky', () => {
  const folder = temporaryFolder('diffuse');
  const model = ['--sources', `sun@${SPOT.altDeg}:${SPOT.azDeg}:${SPOT.jy}`, '--element', 'mwa-dipole', '--min-baseline', '2wl'] as const; // prettier-ignore
  const calibrate = (...more: readonly string[]) =>
    corellaHere(folder, 'calibrate', 'sky.uvfits', ...model, ...more, '-o', 'g.json', '--overwrite', '--json', '--quiet'); // prettier-ignore
  const worstGain = async (): Promise<number> => {
    const { gains } = await readGainFile(join(folder, 'g.json'));
    let worst = 0;
    for (let s = 0; s < STATIONS; s++)
      for (let p = 0; p < 2; p++) {
        const [[re, im], [a, b]] = [gain(s, p), gain(0, p)];
        const size = Math.hypot(a, b);
        const at = 2 * (2 * s + p);
        const off = [gains[at] - (re * a + im * b) / size, gains[at + 1] - (im * a - re * b) / size];
        worst = Math.max(worst, Math.hypot(...off));
      }
    return worst;
  };
  before(async () => {
    const [alt, az] = [SPOT.altDeg * RADIANS, SPOT.azDeg * RADIANS];
    const spot: Point = [Math.cos(alt) * Math.sin(az), Math.cos(alt) * Math.cos(az), Math.sin(alt), SPOT.jy];
    await write(join(folder, 'sky.uvfits'), [...hemisphere(), spot]);
  });

  it('that the model lacks is reported, and the gains are refused', async () => {
    const ran = await calibrate();
    assert.equal(ran.code, 1, ran.stdout);
    assert.match(ran.stderr, /the model explains \d+ % of the sky's power|none of 2 solves converged/);
  });

  it('by the formula gives the gains that were put in', async () => {
    const ran = await calibrate('--diffuse', 'galaxy');
    assert.equal(ran.code, 0, ran.stderr);
    const { model: found } = reportSchema.parse(JSON.parse(ran.stdout));
    assert.equal(found.diffuse, 'galaxy');
    assert.ok(found.unexplained < 1e-3, ran.stdout);
    assert.ok((await worstGain()) < 0.03, String(await worstGain()));
    const full = await calibrate('--diffuse', 'galaxy', '--polarisation', 'full');
    assert.equal(full.code, 0, full.stderr);
    assert.ok((await worstGain()) < 0.03, String(await worstGain()));
  });

  it("by a map's CSV does as well, in either coordinates; what is no map is refused", async () => {
    const rows: string[] = [];
    for (let decDeg = -89; decDeg < 90; decDeg += 1.25)
      for (let raDeg = 0.5; raDeg < 360; raDeg += 1.25 / Math.cos(decDeg * RADIANS))
        rows.push(`${raDeg.toFixed(3)},${decDeg},${kelvinAt(raDeg, decDeg).toFixed(2)},${FREQUENCY}`);
    await writeFile(join(folder, 'map.csv'), `ra_deg,dec_deg,temperature_k,frequency_hz\n${rows.join('\n')}\n`); // prettier-ignore
    const ran = await calibrate('--diffuse', 'map.csv');
    assert.equal(ran.code, 0, ran.stderr);
    // Four values per cell: their mean is of a position slightly off its centre.
    assert.ok((await worstGain()) < 0.08, String(await worstGain()));
    for (const [name, text, reason] of [
      [
        'few.csv',
        'ra_deg,dec_deg,temperature_k\n0,0,100\n',
        /has no value within two cells of \d+ of \d+ cells/,
      ],
      ['odd.csv', 'ra_deg,dec_deg,kelvin\n0,0,100\n', /has the column 'kelvin'/],
      ['lost.csv', 'ra_deg,temperature_k\n0,100\n', /does not state where its temperatures are/],
    ] as const) {
      await writeFile(join(folder, name), text);
      assert.match((await calibrate('--diffuse', name)).stderr, reason);
    }
    assert.match((await calibrate('--diffuse', 'haslam')).stderr, /'haslam' is no diffuse sky/);
  });
});
