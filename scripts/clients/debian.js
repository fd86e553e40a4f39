// Our files, read with software from Debian's packages only: the same visibilities as UVH5, UVFITS and Measurement Set
// by h5py, astropy and casacore; an image by astropy; the set imaged unchanged by WSClean. Missing software is skipped
// and reported.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { peers, record } from './peers.js';

const root = new URL('../..', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'corella-debian-'));
process.once('exit', () => {
  rmSync(folder, { recursive: true, force: true });
});
let failures = 0;

/**
 * @param {string} program
 * @param {readonly (string | number)[]} words
 */
const run = (program, ...words) =>
  spawnSync(program, words.map(String), {
    cwd: folder,
    encoding: 'utf8',
    // Debian's wsclean refuses to run with OpenBLAS's own threads.
    env: { ...process.env, OPENBLAS_NUM_THREADS: '1' },
  });

/** @param {readonly (string | number)[]} words */
function corella(...words) {
  const ran = run(process.execPath, join(root, 'dist/cli/main.js'), ...words);
  if (ran.status === 0) return ran.stdout;
  console.log(`FAIL  corella ${words.join(' ')}\n${ran.stdout}${ran.stderr}`);
  process.exit(1);
}

/** The brightest pixel of an image by astropy's coordinates, compared with a position: the offset in degrees. */
const peakCheck = `
import sys
import numpy as np
from astropy.io import fits
from astropy.wcs import WCS
path, ra, dec, tolerance = sys.argv[1], *map(float, sys.argv[2:])
with fits.open(path) as hdus:
  plane = hdus[0].data.reshape(-1, *hdus[0].data.shape[-2:])[0]
  y, x = np.unravel_index(np.nanargmax(plane), plane.shape)
  lon, lat = np.radians(WCS(hdus[0].header).celestial.wcs_pix2world([[x, y]], 0)[0])
ra, dec = np.radians([ra, dec])
off = np.degrees(np.arccos(np.clip(np.sin(dec) * np.sin(lat) + np.cos(dec) * np.cos(lat) * np.cos(ra - lon), -1, 1)))
print('the brightest pixel is %.2f degrees from the source' % off)
sys.exit(0 if off < tolerance else 1)
`;

/**
 * @param {string} title
 * @param {ReturnType<typeof run>} ran
 * @param {readonly { readonly format: string, readonly peer: string }[]} what
 */
function judge(title, ran, what) {
  const ok = ran.status === 0;
  const said = ran.stdout.trim().split('\n').join('\n      ');
  console.log(`${ok ? 'ok  ' : 'FAIL'}  ${title}\n      ${said}`);
  if (ok) for (const one of what) record({ ...one, direction: 'written', files: 1 });
  else {
    failures++;
    console.log(ran.stderr.split('\n').slice(-12).join('\n'));
  }
}

for (const name of peers.names) {
  const version = peers.versionOf(name);
  console.log(version === undefined ? `      passed over: ${name} is not here` : `      ${name} ${version}`);
}
const simulated = z.object({ sources: z.array(z.object({ raDeg: z.number(), decDeg: z.number() })) });
const made = corella(
  ...[
    'simulate',
    '--telescope',
    'aavs2',
    '--stations',
    32,
    '--duration',
    '2ms',
    '--perfect',
    '--type',
    'cf32',
  ],
  ...['--sources', 'main@50:120:50000,side@70:300:20000', '--time', '2026-03-01T12:00:00Z', '--seed', 5],
  ...['-o', 'sky.sigmf-meta', '--json'],
);
const { raDeg, decDeg } = simulated.parse(JSON.parse(made)).sources[0];
const words = ['--channels', 8, '--taps', 4, '--integration', '1ms', '--quiet'];
for (const extension of ['uvh5', 'uvfits'])
  corella('correlate', 'sky.sigmf-meta', ...words, '-o', `sky.${extension}`);
// Without casacore's headers there is no set.
const set = run(process.execPath, join(root, 'dist/cli/main.js'), 'convert', 'sky.uvh5', 'sky.ms', '--quiet');
const hasSet = set.status === 0 && existsSync(join(folder, 'sky.ms'));
if (!hasSet) console.log(`      passed over: Measurement Sets (${set.stderr.trim().split('\n')[0]})`);

/** @param {string} name */
const with_ = (name) => peers.has(name);
const files = ['sky.uvh5', 'sky.uvfits', ...(hasSet && with_('casacore') ? ['sky.ms'] : [])];
if (with_('h5py') && with_('astropy'))
  judge(
    `the same visibilities in ${files.join(', ')}`,
    run(peers.python, join(root, 'scripts/clients/same-visibilities.py'), ...files),
    [
      { format: 'uvh5', peer: 'h5py' },
      { format: 'uvfits', peer: 'astropy' },
      ...(files.length > 2 ? [{ format: 'ms', peer: 'casacore' }] : []),
    ],
  );
// 32 of AAVS2's elements have a beam of 4.5° at 100 MHz; half of it is the tolerance.
const where = [raDeg, decDeg, 2.2];
if (with_('astropy')) {
  corella('image', 'sky.uvh5', '--pixels', 128, '-o', 'sky.fits', '--quiet');
  judge('sky.fits: astropy finds the source', run(peers.python, '-c', peakCheck, 'sky.fits', ...where), [
    { format: 'fits', peer: 'astropy' },
  ]);
}
if (with_('astropy')) {
  const beams = (/** @type {string} */ path, /** @type {number} */ bits) =>
    `{ beams: ${path}, towards: [Cas A], detection: IQUV, every: 1ms, bits: ${bits} }`;
  corella(
    ...[
      'simulate',
      '--telescope',
      'eda2',
      '--stations',
      8,
      '--rate',
      '100kHz',
      '--duration',
      '1500ms',
      '--perfect',
    ],
    ...['--time', '2026-03-01T05:00:00.123456Z', '-o', 'beam.sigmf-meta'],
  );
  writeFileSync(
    join(folder, 'beam.yaml'),
    `corella: 1\nsource: { recording: beam.sigmf-meta }\nfront: { channels: 16 }\nproducts:\n` +
      [beams('wanted.fil', 32), beams('eight.sf', 8), beams('sixteen.sf', 16), beams('floats.sf', 32)]
        .map((one) => `  - ${one}\n`)
        .join(''),
  );
  corella('run', 'beam.yaml', '--quiet');
  const { start } = z
    .object({ start: z.string() })
    .parse(JSON.parse(readFileSync(join(folder, 'wanted.fil.json'), 'utf8')));
  for (const name of ['eight.sf', 'sixteen.sf', 'floats.sf'])
    judge(
      `${name}: astropy reads the values, the time and the place`,
      run(peers.python, join(root, 'scripts/clients/psrfits.py'), name, 'wanted.fil', start.replace('Z', '')),
      [{ format: 'psrfits', peer: 'astropy' }],
    );
}
if (hasSet && with_('wsclean') && with_('astropy')) {
  const imaged = run(
    'wsclean',
    ...['-name', 'ws', '-size', 256, 256, '-scale', '0.7deg', '-niter', 0, '-pol', 'I', '-weight', 'natural'],
    ...['-padding', 1.5, '-no-reorder', 'sky.ms'],
  );
  judge(
    'sky.ms: WSClean images it as it is, and finds the source',
    imaged.status === 0 ? run(peers.python, '-c', peakCheck, 'ws-dirty.fits', ...where) : imaged,
    [{ format: 'ms', peer: 'wsclean' }],
  );
}
console.log(failures === 0 ? "what Debian's software reads of ours agrees" : `${failures} checks failed`);
process.exit(failures === 0 ? 0 : 1);
