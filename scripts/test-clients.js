// Reads what we write with the field's own software: astropy, casacore, WSClean, h5py. The checkers are found in
// the folder that CORELLA_CLIENTS names (check_uvfits.sh, check_uvh5.py, check_fits_image.py, image_with_wsclean.sh);
// without it, or without the software, this says so and passes.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = new URL('..', import.meta.url).pathname;
const clients = process.env.CORELLA_CLIENTS;
const python = '/usr/bin/python3';

function skip(why) {
  console.log(`clients not checked: ${why}`);
  process.exit(0);
}
if (clients === undefined) skip('set CORELLA_CLIENTS to the folder of checkers');
for (const name of ['check_uvfits.sh', 'check_uvh5.py', 'check_fits_image.py', 'image_with_wsclean.sh']) {
  if (!existsSync(join(clients, name))) skip(`${name} is not in ${clients}`);
}
if (spawnSync(python, ['-c', 'import astropy, casacore, h5py']).status !== 0)
  skip('astropy, casacore or h5py is not installed');
if (spawnSync('which', ['wsclean']).status !== 0) skip('wsclean is not installed');

/** UVH5's law, V = Σ I e^(+2πi (u·l + v·m + w·(n − 1))) with uvw = r₂ − r₁, inverted on a grid by plain sums. */
const uvh5Transform = `
import sys, json
import numpy as np, h5py
path, ra, dec, tolerance = sys.argv[1], *map(float, sys.argv[2:])
f = h5py.File(path, 'r')
H = f['Header']
v = f['Data/visdata'][:, :, 0]
if v.dtype.names: v = v['r'] + 1j * v['i']
uvw = H['uvw_array'][()]; freq = H['freq_array'][()].ravel()
a1, a2 = H['ant_1_array'][()], H['ant_2_array'][()]
cross = a1 != a2
lam = uvw[cross] * freq[freq.size // 2] / 299792458.0
v = v[cross][:, freq.size // 2].ravel()
g = np.linspace(-0.95, 0.95, 191); l, m = np.meshgrid(g, g)
up = l**2 + m**2 < 0.9; n = np.sqrt(np.maximum(0, 1 - l**2 - m**2))
image = np.zeros(l.shape)
for (u, w, x), value in zip(lam, v): image += (value * np.exp(-2j * np.pi * (u * l + w * m + x * (n - 1)))).real
image[~up] = -np.inf
k = np.unravel_index(np.argmax(image), image.shape); l, m, n = l[k], m[k], n[k]
cat = H['phase_center_catalog']; entry = cat[list(cat)[0]] if not isinstance(cat, h5py.Dataset) else json.loads(cat[()])
ra0, dec0 = np.ravel(entry['cat_lon'][()])[0], np.ravel(entry['cat_lat'][()])[0]
found_dec = np.arcsin(m * np.cos(dec0) + n * np.sin(dec0)); found_ra = ra0 + np.arctan2(l, n * np.cos(dec0) - m * np.sin(dec0))
t = np.radians([ra, dec]); c = np.sin(t[1]) * np.sin(found_dec) + np.cos(t[1]) * np.cos(found_dec) * np.cos(t[0] - found_ra)
off = np.degrees(np.arccos(min(1, c))); print('found', np.degrees([found_ra, found_dec]), 'off by', off, 'degrees')
sys.exit(0 if off < tolerance else 1)
`;

const folder = mkdtempSync(join(tmpdir(), 'corella-clients-'));
let failures = 0;

function run(title, program, ...words) {
  const ran = spawnSync(program, words.map(String), { cwd: folder, encoding: 'utf8' });
  const ok = ran.status === 0;
  console.log(`${ok ? 'ok  ' : 'FAIL'}  ${title}`);
  if (!ok) {
    failures++;
    console.log(`${ran.stdout}${ran.stderr}`.split('\n').slice(-25).join('\n'));
  }
  return ran.stdout;
}
const corella = (...words) =>
  run(`corella ${words.slice(0, 2).join(' ')}`, process.execPath, join(root, 'dist/cli/main.js'), ...words);

// One bright source away from every symmetry, and a fainter one, so that a mirrored image cannot pass. AAVS2's
// size and 100 MHz give a beam of about 4.5°: half of it is the tolerance.
const TOLERANCE_DEG = 2.2;
const sky = [
  '--sources',
  'main@50:120:50000,side@70:300:20000',
  '--time',
  '2026-03-01T12:00:00Z',
  '--perfect',
];
try {
  for (const [telescope, stations] of [
    ['aavs2', 48],
    ['hera350', 300],
  ]) {
    const name = `${telescope}-${stations}`;
    const simulated = JSON.parse(
      corella('simulate', '--telescope', telescope, '--stations', stations, ...sky, '--rate', '800kHz', '--frequency', '100MHz',
        '--duration', '1ms', '--noise', '2000', '-o', `${name}.sigmf-meta`, '--json'), // prettier-ignore
    );
    const { raDeg, decDeg } = simulated.sources.find((source) => source.name === 'main');
    for (const extension of ['uvfits', 'uvh5']) {
      corella(
        'correlate',
        `${name}.sigmf-meta`,
        '--channels',
        8,
        '--taps',
        4,
        '-o',
        `${name}.${extension}`,
        '--quiet',
      );
    }
    run(`${name}.uvfits: astropy and casacore`, 'bash', join(clients, 'check_uvfits.sh'), `${name}.uvfits`);
    run(
      `${name}.uvh5: every item of the memo`,
      python,
      join(clients, 'check_uvh5.py'),
      `${name}.uvh5`,
      '--strict',
    );
    if (telescope === 'aavs2') {
      const where = [256, 0.7, 'I', raDeg, decDeg, TOLERANCE_DEG];
      run(
        `${name}.uvfits: WSClean finds the source`,
        'bash',
        join(clients, 'image_with_wsclean.sh'),
        `${name}.uvfits`,
        `${name}-ws`,
        ...where,
      );
      run(
        `${name}.uvh5: a plain transform of what h5py reads finds the source`,
        python,
        '-c',
        uvh5Transform,
        `${name}.uvh5`,
        raDeg,
        decDeg,
        TOLERANCE_DEG,
      );
      corella('convert', `${name}.uvh5`, 'back.uvfits', '--quiet');
      run(
        'uvh5 → uvfits: WSClean finds the source',
        'bash',
        join(clients, 'image_with_wsclean.sh'),
        'back.uvfits',
        'back-ws',
        ...where,
      );
      corella('image', `${name}.uvfits`, '--pixels', 128, '-o', 'sky.fits', '--quiet');
      corella(
        'image',
        '--direct',
        `${name}.sigmf-meta`,
        '--channels',
        8,
        '--taps',
        4,
        '--pixels',
        128,
        '-o',
        'direct.fits',
        '--quiet',
      );
      for (const image of ['sky.fits', 'direct.fits']) {
        run(`${image}: astropy and casacore find the source`, python, join(clients, 'check_fits_image.py'), image, '--all-sky',
          '--expect', raDeg, decDeg, TOLERANCE_DEG); // prettier-ignore
      }
    }
  }
  // An MWA observation with a coarse channel missing between two, and a time in one file alone.
  const { encodeGpubox, encodeMetafits, smallMwa } = await import('../dist/formats/testing/mwa-files.js');
  const mwa = smallMwa(32);
  writeFileSync(join(folder, '1061315448.metafits'), encodeMetafits(mwa));
  for (const [gpubox, times] of Object.entries({ '01': [0, 0.5], '04': [0.5] })) {
    writeFileSync(
      join(folder, `1061315448_20130823175130_gpubox${gpubox}_00.fits`),
      encodeGpubox(mwa, { channels: 32, times: times.map((second) => 1_377_280_290 + second) }),
    );
  }
  corella('convert', '1061315448.metafits', 'mwa.uvfits', '--quiet');
  corella('convert', '1061315448.metafits', 'mwa.uvh5', '--remove-cables', '--quiet');
  run('mwa.uvfits: astropy and casacore', 'bash', join(clients, 'check_uvfits.sh'), 'mwa.uvfits');
  run('mwa.uvh5: every item of the memo', python, join(clients, 'check_uvh5.py'), 'mwa.uvh5', '--strict');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(failures === 0 ? 'all clients agree' : `${failures} checks failed`);
process.exit(failures === 0 ? 0 : 1);
