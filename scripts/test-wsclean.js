// Our images compared with WSClean's (-use-wgridder), pixel by pixel, and CLEANed fluxes of ten sources: of UVFITS that
// we write, and of the real files in CORELLA_TEST_DATA. Without wsclean, astropy or casacore this reports so and
// passes.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addSeconds, parseInstant, telescope as loadTelescope } from '../dist/index.js';
import { visibilityFormatFor } from '../dist/formats/index.js';
import { baselineCount, baselineIndex, countsCB, visibilitiesCBPP } from '../dist/library/kernels.js';
import { skyFrame } from '../dist/library/stages.js';
import { randomStream } from '../dist/core/random.js';

const root = new URL('..', import.meta.url).pathname;
const python = '/usr/bin/python3';
const helper = join(root, 'scripts/wsclean.py');

/**
 * @param {string} why
 * @returns {never}
 */
function skip(why) {
  console.log(`not compared with WSClean: ${why}`);
  process.exit(0);
}
if (spawnSync(python, ['-c', 'import astropy, casacore']).status !== 0)
  skip('astropy or casacore is not installed (python3-astropy, python3-casacore)');
if (spawnSync('which', ['wsclean']).status !== 0) skip('wsclean is not installed');

const folder = mkdtempSync(join(tmpdir(), 'corella-wsclean-'));
let failures = 0;

/**
 * @param {string} program
 * @param {readonly (string | number)[]} words
 */
function must(program, ...words) {
  const ran = spawnSync(program, words.map(String), {
    cwd: folder,
    encoding: 'utf8',
    // Debian's wsclean refuses to run with OpenBLAS's own threads.
    env: { ...process.env, OPENBLAS_NUM_THREADS: '1' },
  });
  if (ran.status !== 0)
    throw new Error(`${program} ${words.join(' ')}\n${ran.stdout}${ran.stderr}`.slice(-3000));
  return ran.stdout;
}
/** @param {readonly (string | number)[]} words */
const corella = (...words) => must(process.execPath, join(root, 'dist/cli/main.js'), ...words);

/**
 * @param {string} title
 * @param {number} value
 * @param {number} most
 */
function check(title, value, most) {
  const ok = value <= most;
  if (!ok) failures++;
  console.log(`${ok ? 'ok  ' : 'FAIL'}  ${title}: ${value.toExponential(1)}, at most ${most}`);
}

/**
 * @typedef {object} Field
 * @property {number} pixels
 * @property {number} cellDeg
 * @property {string} [pol]
 * @property {'ms' | 'joint'} [as] `joint` if the parallel hands' weights differ: we weight their mean by
 *   2/(1/a + 1/b), and a hand alone by half its weight, WSClean by the smaller of the two
 */

/**
 * Both dirty images of a UVFITS of ours.
 * @param {string} title
 * @param {string} uvfits
 * @param {Field} field
 * @param {{ ours: readonly string[], theirs: readonly string[] }} weights
 */
function compareDirty(title, uvfits, { pixels, cellDeg, pol = 'I', as = 'ms' }, weights) {
  const ms = `${uvfits}.ms`;
  if (!existsSync(join(folder, ms))) must(python, helper, as, uvfits, ms);
  must('wsclean', '-name', 'theirs', '-size', pixels, pixels, '-scale', `${cellDeg}deg`, '-niter', 0, '-pol', pol,
    '-use-wgridder', '-wgridder-accuracy', 1e-6, '-no-small-inversion', '-no-update-model-required', '-reorder',
    ...weights.theirs, ms); // prettier-ignore
  // Files phased at the zenith are imaged at their own zenith by default, slightly off that of the file.
  const centre = must(python, helper, 'centre', 'theirs-dirty.fits').trim();
  corella(
    'image',
    uvfits,
    '--centre',
    centre,
    '-o',
    'ours.fits',
    '--overwrite',
    '--pixels',
    pixels,
    '--cell',
    cellDeg,
    '--accuracy',
    1e-6,
    ...weights.ours,
  );
  check(title, Number(must(python, helper, 'compare', 'ours.fits', 'theirs-dirty.fits')), 1e-5);
  if (weights !== natural) return;
  const sums = must(python, helper, 'direct', ms, 'ours.fits', 'theirs-dirty.fits', pol);
  const [ours, theirs] = sums.trim().split('\n').map(Number);
  console.log(`      from the direct sum: WSClean ${theirs.toExponential(1)}`);
  check('      and ours', ours, 2e-6);
}
const natural = { ours: [], theirs: ['-weight', 'natural'] };
/** The grid cells of the uv plane are the same, and isolated visibilities are unchanged. */
const asOurs = ['-padding', '1', '-weighting-rank-filter', '0'];
const uniform = { ours: ['--weights', 'uniform'], theirs: ['-weight', 'uniform', ...asOurs] };
const briggs = { ours: ['--weights', 'briggs:0.5'], theirs: ['-weight', 'briggs', '0.5', ...asOurs] };

const CELL_DEG = 0.02;
const SOURCES = 10;

/**
 * An hour of the MWA with ten sources on pixels of a field of 10° and noise, by the formula of docs/conventions.md.
 * @param {string} path
 */
async function simulateTen(path) {
  const telescope = await loadTelescope('mwa128');
  const stations = telescope.stations.length;
  const frequenciesHz = Float64Array.from({ length: 8 }, (_, c) => 150e6 + 0.5e6 * c);
  const start = parseInstant('2026-03-01T12:00:00Z');
  const middle = skyFrame(telescope.site, addSeconds(start, 1800));
  // 30° from the zenith, to the north.
  const centre = middle.positionOf({ x: 0, y: Math.sin(Math.PI / 6), z: Math.cos(Math.PI / 6) });
  const random = randomStream(9, 'ten');
  const axes = middle.tangentAxes(centre);
  const sources = Array.from({ length: SOURCES }, (_, k) => {
    const step = (CELL_DEG * Math.PI) / 180;
    const [l, m] = [0, 1].map(() => step * Math.round(200 * (2 * random.uniform() - 1)));
    const n = Math.sqrt(1 - l * l - m * m);
    const along = (/** @type {'x' | 'y' | 'z'} */ axis) =>
      l * axes.l[axis] + m * axes.m[axis] + n * axes.n[axis];
    return { fluxJy: 2 + k, ...middle.positionOf({ x: along('x'), y: along('y'), z: along('z') }) };
  });
  const writer = await visibilityFormatFor(path).createVisibilities(path, {
    telescope,
    ...{
      polarisations: 2,
      frequenciesHz,
      channelWidthHz: 0.5e6,
      phaseCentre: centre,
      object: 'ten',
      history: [],
    },
  });
  const baselines = baselineCount(stations);
  for (let time = 0; time < 12; time++) {
    const begin = addSeconds(start, 300 * time);
    const frame = skyFrame(telescope.site, addSeconds(begin, 1));
    const values = new Float64Array(8 * 4 * 2 * baselines);
    for (let k = 0; k < values.length; k++) values[k] = 5 * random.gaussian();
    for (const { fluxJy, ...position } of sources) {
      const s = frame.directionEnu(position);
      const pathM = telescope.stations.map(
        ({ eastM, northM, upM }) => eastM * s.x + northM * s.y + upM * s.z,
      );
      for (let c = 0; c < 8; c++) {
        for (let i = 0; i < stations; i++) {
          for (let j = 0; j <= i; j++) {
            const angle = (2 * Math.PI * frequenciesHz[c] * (pathM[i] - pathM[j])) / 299_792_458;
            for (const product of [0, 3]) {
              const at = 2 * ((c * baselines + baselineIndex(i, j)) * 4 + product);
              values[at] += fluxJy * Math.cos(angle);
              values[at + 1] += fluxJy * Math.sin(angle);
            }
          }
        }
      }
    }
    await writer.append({
      ...{ start: begin, durationS: 2, channels: 8, stations, polarisations: 2 },
      visibilities: visibilitiesCBPP(values, 8, baselines, 2),
      counts: countsCB(new Float64Array(8 * baselines).fill(1), 8, baselines),
      flaggedInputs: new Uint8Array(2 * stations),
    });
  }
  await writer.finish();
  return sources;
}

try {
  const sources = await simulateTen(join(folder, 'ten.uvfits'));
  const field = { pixels: 600, cellDeg: CELL_DEG };
  compareDirty('MWA, an hour, 30° off the zenith, natural weights', 'ten.uvfits', field, natural);
  compareDirty('the same, uniform weights', 'ten.uvfits', field, uniform);
  compareDirty('the same, Briggs weights', 'ten.uvfits', field, briggs);
  must('wsclean', '-name', 'cleaned', '-size', 600, 600, '-scale', `${CELL_DEG}deg`, '-niter', 50000, '-mgain', 0.8,
    '-gain', 0.1, '-auto-threshold', 3, '-auto-mask', 5, '-pol', 'I', '-use-wgridder', '-no-small-inversion',
    '-no-update-model-required', '-reorder', ...briggs.theirs, 'ten.uvfits.ms'); // prettier-ignore
  corella('image', 'ten.uvfits', '-o', 'ours.fits', '--overwrite', '--pixels', 600, '--cell', CELL_DEG, '--clean',
    ...briggs.ours); // prettier-ignore
  const places = sources.flatMap(({ raDeg, decDeg }) => [raDeg, decDeg]);
  const [ours, theirs] = ['ours.fits', 'cleaned-image.fits'].map((image) =>
    must(python, helper, 'peaks', image, ...places)
      .trim()
      .split('\n')
      .map(Number),
  );
  const worst = (/** @type {(k: number) => number} */ error) =>
    Math.max(...sources.map((_, k) => Math.abs(error(k))));
  check('CLEANed fluxes of ten sources against WSClean', worst((k) => ours[k] / theirs[k] - 1), 0.02); // prettier-ignore
  check('and against the truth', worst((k) => ours[k] / sources[k].fluxJy - 1), 0.02); // prettier-ignore
  console.log(`      ours   ${ours.map((value) => value.toFixed(2)).join(' ')}`);
  console.log(`      theirs ${theirs.map((value) => value.toFixed(2)).join(' ')}`);
  const data = process.env.CORELLA_TEST_DATA;
  if (data === undefined) console.log('real files are not compared: set CORELLA_TEST_DATA to their folder');
  /** @type {readonly (readonly [string, string, Field])[]} */
  const real = [
    ['AAVS2', 'ska-low/aavs2_chan204_20230823T055556.uvfits', { pixels: 160, cellDeg: 0.5, as: 'joint' }],
    ['EDA2', 'ska-low/eda2_correlation_burst_204_20211211_14373_0.hdf5', { pixels: 160, cellDeg: 0.5 }],
    ['LWA1', 'fitsidi/lsl-idi-test.fits', { pixels: 400, cellDeg: 0.25, pol: 'xx' }],
    ['MWA, MWAX', 'mwa/1320409688_20211108122750_mini_ch137_000.fits', { pixels: 1200, cellDeg: 0.015 }],
    ['MWA, gpubox', 'mwa/1061315448_20130823175130_mini_gpubox07_01.fits', { pixels: 1200, cellDeg: 0.015 }],
    ['MWA, simulated by pyuvsim', 'uvfits/sim-ref_1.1_uniform.uvfits', { pixels: 512, cellDeg: 0.02 }],
    ['VLBA', 'uvfits/vlba-mojave.uvfits', { pixels: 400, cellDeg: 6e-8, as: 'joint' }],
  ];
  for (const [title, name, where] of real) {
    if (data === undefined) break;
    if (!existsSync(join(data, name))) {
      console.log(`      ${title}: ${name} is not there`);
      continue;
    }
    corella('convert', join(data, name), 'real.uvfits', '--overwrite');
    rmSync(join(folder, 'real.uvfits.ms'), { recursive: true, force: true });
    compareDirty(title, 'real.uvfits', where, natural);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(failures === 0 ? 'the same pixels as WSClean' : `${failures} comparisons failed`);
process.exit(failures === 0 ? 0 : 1);
