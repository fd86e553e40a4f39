/** Arrays with different stations: each station's own beam in the model, and the mean of its pairs in images. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { countsCB, spectraCAT, visibilitiesCBPP } from '../core/axes.js';
import { parseInstant } from '../core/instant.js';
import { randomStream } from '../core/random.js';
import { temporaryFolder } from '../core/testing/temporary-folder.js';
import { createSigmfSpectra, readFitsImage, readGainFile, visibilityFormatFor } from '../formats/index.js';
import { directionFromAltAz, skyFrame } from '../sky/frame.js';
import { corellaHere } from './corella.js';
import { knownTelescope } from './known-sky.js';

const C = 299_792_458;
const STATIONS = 9;
const FREQUENCY = 150e6;
const START = parseInstant('2026-03-01T12:00:00Z', 'mixed');
const RADIANS = Math.PI / 180;
/**
 * Every third station is a dipole over ground, the others have cos(z)³, or another power: voltages of X and Y, computed
 * independently.
 */
const voltage = (s: number, altDeg: number, azDeg: number, power = 3): readonly [number, number] => {
  const up = Math.sin(altDeg * RADIANS);
  if (s % 3 !== 0) return [up ** power, up ** power];
  const height = (2 * Math.PI * 0.278 * FREQUENCY) / C;
  const ground = Math.sin(height * up) / Math.sin(height);
  const [east, north] = [Math.cos(altDeg * RADIANS) * Math.sin(azDeg * RADIANS), Math.cos(altDeg * RADIANS) * Math.cos(azDeg * RADIANS)]; // prettier-ignore
  return [ground * Math.sqrt(1 - east ** 2), ground * Math.sqrt(1 - north ** 2)];
};
/** Within the accuracy of kernels: direct images refuse stations that differ more. */
const KERNELS_POWER = 1.5;
const gain = (s: number, p: number): readonly [number, number] => {
  const [size, turn] = [1 + 0.1 * Math.sin(3 * s + p), 2.1 * s + 0.7 * p];
  return [size * Math.cos(turn), size * Math.sin(turn)];
};
/** Unpolarised. */
interface Spot {
  readonly altDeg: number;
  readonly azDeg: number;
  readonly jy: number;
}
const sky = { stations: STATIONS, radiusM: 25, frequenciesHz: [FREQUENCY], sources: [] };

/** V_ij = g_i conj(g_j) Σ x_i x_j S e^(+2πi f (r_i − r_j)·ŝ/c), by hand. */
async function write(
  path: string,
  spots: readonly Spot[],
  phases?: (s: number, altDeg: number) => readonly [number, number],
): Promise<void> {
  const telescope = knownTelescope(sky);
  const places = telescope.stations;
  const values: number[] = [];
  for (let i = 0; i < STATIONS; i++)
    for (let j = 0; j <= i; j++)
      for (let p = 0; p < 2; p++)
        for (let q = 0; q < 2; q++) {
          let [re, im] = [0, 0];
          for (const { altDeg, azDeg, jy } of p === q ? spots : []) {
            const early =
              (places[i].eastM - places[j].eastM) * Math.cos(altDeg * RADIANS) * Math.sin(azDeg * RADIANS) +
              (places[i].northM - places[j].northM) * Math.cos(altDeg * RADIANS) * Math.cos(azDeg * RADIANS);
            const own = phases ? phases(i, altDeg)[p] - phases(j, altDeg)[q] : 0;
            const angle = (2 * Math.PI * FREQUENCY * early) / C + own;
            const size = phases ? 1 : voltage(i, altDeg, azDeg)[p] * voltage(j, altDeg, azDeg)[q];
            const seen = jy * size;
            re += seen * Math.cos(angle);
            im += seen * Math.sin(angle);
          }
          const [a, b] = gain(i, p);
          const [c, d] = gain(j, q);
          const [pairRe, pairIm] = [a * c + b * d, b * c - a * d];
          values.push(100 * (pairRe * re - pairIm * im), 100 * (pairRe * im + pairIm * re));
        }
  const baselines = (STATIONS * (STATIONS + 1)) / 2;
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
    visibilities: visibilitiesCBPP(Float64Array.from(values), 1, baselines, 2),
    counts: countsCB(new Float64Array(baselines).fill(100), 1, baselines),
    flaggedInputs: new Uint8Array(2 * STATIONS),
  });
  await writer.finish();
}

/** The same sky as channelised voltages: x_i = g_i Σ b_i √S·n(t) e^(+2πi f r_i·ŝ/c), n of size 1, X and Y separate. */
async function record(path: string, spots: readonly Spot[]): Promise<void> {
  const telescope = knownTelescope(sky);
  const samples = 64;
  const random = randomStream(12, 'mixed');
  const values = new Float32Array(2 * 2 * STATIONS * samples);
  for (const { altDeg, azDeg, jy } of spots)
    for (let p = 0; p < 2; p++)
      for (let t = 0; t < samples; t++) {
        const phase = 2 * Math.PI * random.uniform();
        telescope.stations.forEach(({ eastM, northM }, s) => {
          const early =
            eastM * Math.cos(altDeg * RADIANS) * Math.sin(azDeg * RADIANS) +
            northM * Math.cos(altDeg * RADIANS) * Math.cos(azDeg * RADIANS);
          const angle = phase + (2 * Math.PI * FREQUENCY * early) / C;
          const size = Math.sqrt(jy) * voltage(s, altDeg, azDeg, KERNELS_POWER)[p];
          const [re, im] = gain(s, p);
          const at = 2 * ((2 * s + p) * samples + t);
          values[at] += size * (re * Math.cos(angle) - im * Math.sin(angle));
          values[at + 1] += size * (re * Math.sin(angle) + im * Math.cos(angle));
        });
      }
  const writer = await createSigmfSpectra(path, {
    telescope,
    inputs: 2 * STATIONS,
    polarisations: 2,
    type: 'cf32',
    start: START,
    history: [],
    description: 'by hand',
    channels: 1,
    spectrumRateHz: 1e5,
    channelWidthHz: 1e5,
    frequenciesHz: Float64Array.of(FREQUENCY),
    centreFrequencyHz: FREQUENCY,
  });
  const spectra = spectraCAT(values, 'cf32', 1, 2 * STATIONS, samples);
  await writer.append({ samples, spectra, gaps: [], start: START });
  await writer.finish();
}

describe('an array of unlike stations', () => {
  const folder = temporaryFolder('mixed');
  const corella = async (...words: string[]) => {
    const ran = await corellaHere(folder, ...words, '--quiet');
    assert.equal(ran.code, 0, ran.stderr);
    return ran;
  };
  const SPOTS = ['--sources', 'a@35:70:100,b@60:200:80'] as const;
  const MIXED = ['--element', 's0=mwa-dipole,s3=mwa-dipole,s6=mwa-dipole,*=cosine:3'] as const;
  const worstGain = async (name: string): Promise<number> => {
    const { gains } = await readGainFile(join(folder, name));
    let worst = 0;
    for (let s = 0; s < STATIONS; s++)
      for (let p = 0; p < 2; p++) {
        const [re, im] = gain(s, p);
        const [ref, refIm] = gain(0, p);
        const size = Math.hypot(ref, refIm);
        const wanted = [(re * ref + im * refIm) / size, (im * ref - re * refIm) / size];
        const at = 2 * (2 * s + p);
        worst = Math.max(worst, Math.hypot(gains[at] - wanted[0], gains[at + 1] - wanted[1]));
      }
    return worst;
  };

  before(() =>
    write(join(folder, 'sky.uvfits'), [
      { altDeg: 35, azDeg: 70, jy: 100 },
      { altDeg: 60, azDeg: 200, jy: 80 },
    ]),
  );

  it('is calibrated with a beam for each, from the command line or the telescope’s description', async () => {
    await corella('calibrate', 'sky.uvfits', ...SPOTS, ...MIXED, '-o', 'mixed.json');
    assert.ok((await worstGain('mixed.json')) < 1e-4, String(await worstGain('mixed.json')));
    // One beam for all is wrong by the differences between stations low in the sky.
    await corella('calibrate', 'sky.uvfits', ...SPOTS, '--element', 'cosine:3', '-o', 'alike.json');
    assert.ok((await worstGain('alike.json')) > 0.05);
    const { stations, site, band, recording } = knownTelescope(sky);
    await writeFile(
      join(folder, 'mixed-array.csv'),
      `name,east_m,north_m,up_m\n${stations.map(({ name, eastM, northM }) => `${name},${eastM},${northM},0`).join('\n')}\n`,
    );
    const description = {
      name: 'known',
      title: 'dipoles and others',
      site,
      positions: 'mixed-array.csv',
      polarisations: 2,
      band,
      recording,
      beamExponent: 0,
      elements: { s0: 'mwa-dipole', s3: 'mwa-dipole', s6: 'mwa-dipole', '*': 'cosine:3' },
    };
    await writeFile(join(folder, 'mixed-array.json'), JSON.stringify(description));
    await corella('calibrate', 'sky.uvfits', ...SPOTS, '--telescope', 'mixed-array.json', '-o', 'given.json');
    assert.ok((await worstGain('given.json')) < 1e-4);
    await corella('calibrate', 'sky.uvfits', ...SPOTS, ...MIXED, '--polarisation', 'full', '-o', 'full.json');
    assert.ok((await worstGain('full.json')) < 1e-3);
    await writeFile(join(folder, 'odd.json'), JSON.stringify({ ...description, elements: { s9: 'none' } }));
    const odd = await corellaHere(folder, 'calibrate', 'sky.uvfits', '--telescope', 'odd.json');
    assert.match(odd.stderr, /"elements" names 's9', which is no station/);
  });

  it('a source of known flux comes out as it is in beam-corrected images', async () => {
    const [altDeg, azDeg] = [30, 120];
    await write(join(folder, 'one.uvfits'), [{ altDeg, azDeg, jy: 100 }]);
    const { site } = knownTelescope(sky);
    const middle = { ...START, unixSeconds: START.unixSeconds + 1 };
    const { raDeg, decDeg } = skyFrame(site, middle).positionOf(directionFromAltAz(altDeg, azDeg));
    await corella('image', 'one.uvfits', '--gains', 'mixed.json', '--centre', `${raDeg.toFixed(6)}deg ${decDeg.toFixed(6)}deg`, '--field', '1', '--pixels', '32', '--no-picture', '--beam-corrected', ...MIXED, '-o', 'one.fits'); // prettier-ignore
    const { values, pixels } = await readFitsImage(join(folder, 'one.fits'));
    const found = values[(pixels / 2) * pixels + pixels / 2];
    assert.ok(Math.abs(found / 100 - 1) < 0.01, `${found} Jy/beam where 100 belong`);
  });

  for (const autos of ['--autos', '--no-autos'] as const)
    it(`is imaged directly with a kernel for each, ${autos}`, async () => {
      // In the centre of a pixel, about 30° up in the south-east.
      const { site } = knownTelescope(sky);
      const frame = skyFrame(site, START);
      const { l, m, n } = frame.tangentAxes(frame.zenith);
      const [row, column] = [128 - 48, 128 + 83];
      const [a, b] = [column - 128, row - 128].map((pixels) => (pixels * 2 * 1.15) / 256);
      const c = Math.sqrt(1 - a * a - b * b);
      const [east, north, up] = (['x', 'y', 'z'] as const).map((axis) => a * l[axis] + b * m[axis] + c * n[axis]); // prettier-ignore
      const [altDeg, azDeg] = [Math.asin(up) / RADIANS, Math.atan2(east, north) / RADIANS];
      await record(join(folder, `one${autos}`), [{ altDeg, azDeg, jy: 100 }]);
      const peakOf = async (...element: readonly string[]) => {
        await corella('image', '--direct', `one${autos}.sigmf-meta`, '--gains', 'mixed.json', '--no-picture', '--pixels', '256', '--kernel', '7', '--feeds', 'corrected', '--beam-corrected', ...element, autos, '-o', 'direct.fits', '--overwrite'); // prettier-ignore
        const { values, pixels } = await readFitsImage(join(folder, 'direct.fits'));
        // Planes I and Q, at the highest pixel of I within four of its position.
        let best = { I: -Infinity, Q: 0, off: 0 };
        for (let r = row - 4; r <= row + 4; r++)
          for (let k = column - 4; k <= column + 4; k++) {
            const [I, Q] = [0, 1].map((plane) => values[(plane * pixels + r) * pixels + k]);
            if (I > best.I) best = { I, Q, off: Math.hypot(r - row, k - column) };
          }
        return best;
      };
      const cosine = `cosine:${KERNELS_POWER}`;
      const { I, Q, off } = await peakOf(
        '--element',
        `s0=mwa-dipole,s3=mwa-dipole,s6=mwa-dipole,*=${cosine}`,
      );
      assert.ok(Math.abs(I / 100 - 1) < 0.01, `${I} Jy/beam where 100 belong`);
      // X and Y differ only in dipoles; the sky is unpolarised.
      assert.ok(Math.abs(Q) < 0.6, `Q ${Q}`);
      assert.ok(off < 1.5, `${off} pixels from its place`);
      const swapped = await peakOf('--element', `s0=${cosine},s3=${cosine},s6=${cosine},*=mwa-dipole`);
      assert.ok(Math.abs(swapped.I / 100 - 1) > 0.05 || Math.abs(swapped.Q) > 5, JSON.stringify(swapped));
    });

  it('is not calibrated where the two kinds are swapped', async () => {
    const swapped = 's0=cosine:3,s3=cosine:3,s6=cosine:3,*=mwa-dipole';
    await corella('calibrate', 'sky.uvfits', ...SPOTS, '--element', swapped, '-o', 'swapped.json');
    assert.ok((await worstGain('swapped.json')) > 0.05);
  });

  it('is calibrated with beams that have phases', async () => {
    // Every third station has a phase low in the sky: e^(1.2i·sin z), X, and half of it, Y.
    const phases = (s: number, altDeg: number): readonly [number, number] =>
      s % 3 === 0 ? [1.2 * Math.cos(altDeg * RADIANS), 0.6 * Math.cos(altDeg * RADIANS)] : [0, 0];
    const rows = Array.from({ length: 46 }, (_, n) => {
      const [turn, zenith] = [1.2 * Math.sin(2 * n * RADIANS), 2 * n];
      return [zenith, Math.cos(turn), Math.sin(turn), Math.cos(turn / 2), Math.sin(turn / 2)].join(',');
    });
    await writeFile(join(folder, 'late.csv'), `za_deg,x_re,x_im,y_re,y_im\n${rows.join('\n')}\n`);
    await write(join(folder, 'late.uvfits'), [{ altDeg: 35, azDeg: 70, jy: 100 }, { altDeg: 60, azDeg: 200, jy: 80 }], phases); // prettier-ignore
    const calibrate = (late: string, out: string) =>
      corella('calibrate', 'late.uvfits', ...SPOTS, '--element', `s0=${late},s3=${late},s6=${late},*=none`, '-o', out); // prettier-ignore
    await calibrate('late.csv', 'late.json');
    assert.ok((await worstGain('late.json')) < 2e-3, String(await worstGain('late.json')));
    await calibrate('none', 'flat.json');
    assert.ok((await worstGain('flat.json')) > 0.05);
    const full = await corellaHere(folder, 'calibrate', 'late.uvfits', ...SPOTS, '--element', 's0=late.csv,*=none', '--polarisation', 'full'); // prettier-ignore
    assert.match(full.stderr, /a beam has phases of its own/);
  });

  it('refuses what it does not understand', async () => {
    for (const [element, reason] of [
      ['s0=mwa-dipole', /--element: says nothing of s1/],
      ['unknown=none,*=none', /'unknown' is no station here/],
      ['s0=,*=none', /'s0=' is not understood/],
      ['s0=none,s0=hera,*=none', /'s0' is there twice/],
    ] as const) {
      const ran = await corellaHere(folder, 'calibrate', 'sky.uvfits', '--element', element);
      assert.equal(ran.code, 1);
      assert.match(ran.stderr, reason);
    }
  });
});
