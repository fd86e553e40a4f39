// Checks our files with our own checkers based on astropy, casacore, WSClean and h5py, which test every item of the
// formats' memos. They are in the folder named by CORELLA_CLIENTS (check_uvfits.sh, check_uvh5.py, check_fits_image.py,
// image_with_wsclean.sh); without it, or without the software, this reports so and passes.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { record } from './peers.js';

const root = new URL('../..', import.meta.url).pathname;
const clients = process.env.CORELLA_CLIENTS ?? skip('set CORELLA_CLIENTS to the folder of checkers');
const python = '/usr/bin/python3';

/**
 * @param {string} why
 * @returns {never}
 */
function skip(why) {
  console.log(`clients not checked: ${why}`);
  process.exit(0);
}
for (const name of ['check_uvfits.sh', 'check_uvh5.py', 'check_fits_image.py', 'image_with_wsclean.sh']) {
  if (!existsSync(join(clients, name))) skip(`${name} is not in ${clients}`);
}
if (spawnSync(python, ['-c', 'import astropy, casacore, h5py']).status !== 0)
  skip('astropy, casacore or h5py is not installed');
if (spawnSync('which', ['wsclean']).status !== 0) skip('wsclean is not installed');

/** UVH5's convention, V = Σ I e^(+2πi (u·l + v·m + w·(n − 1))) with uvw = r₂ − r₁, inverted on a grid by plain sums. */
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

/** Every item that the CalH5 memo requires, its kind and its shape; then the gains applied as in pyuvdata. */
const calh5Check = `
import sys, json
import numpy as np, h5py
from astropy.time import Time
from astropy.utils import iers
import astropy.units as u
iers.conf.auto_download = False
calfile, jsonfile, visfile, fixed = sys.argv[1:5]
f = h5py.File(calfile, 'r'); H, D = f['Header'], f['Data']
value = lambda name: H[name][()]
word = lambda name: value(name).decode()
ants, tel, freqs, jones, spws, times = (int(value('N' + k)) for k in ('ants_data', 'ants_telescope', 'freqs', 'jones', 'spws', 'times'))
texts = 'cal_type cal_style gain_convention telescope_name x_orientation history gain_scale pol_convention ref_antenna_name sky_catalog telescope_frame'.split()
for name in texts: assert H[name].dtype.kind == 'S' and H[name].shape == (), name
shapes = {'latitude': ('f', ()), 'longitude': ('f', ()), 'altitude': ('f', ()), 'antenna_numbers': ('i', (tel,)),
  'antenna_names': ('S', (tel,)), 'antenna_positions': ('f', (tel, 3)), 'ant_array': ('i', (ants,)), 'spw_array': ('i', (spws,)),
  'jones_array': ('i', (jones,)), 'integration_time': ('f', (times,)), 'time_array': ('f', (times,)), 'lst_array': ('f', (times,)),
  'freq_array': ('f', (freqs,)), 'channel_width': ('f', (freqs,)), 'flex_spw_id_array': ('i', (freqs,)), 'wide_band': ('b', ())}
for name, (kind, shape) in shapes.items():
  assert H[name].dtype.kind == kind and H[name].shape == shape, (name, H[name].dtype, H[name].shape)
assert (word('cal_type'), word('cal_style'), word('gain_convention')) == ('gain', 'sky', 'divide') and not value('wide_band')
assert list(value('jones_array')) == [-5, -6] and set(value('ant_array')) <= set(value('antenna_numbers'))
assert word('ref_antenna_name').encode() in list(value('antenna_names'))
for name in ('gains', 'flags'): assert D[name].shape == (ants, freqs, times, jones), name
assert D['gains'].dtype == np.complex128 and D['flags'].dtype == np.bool_
v = h5py.File(visfile, 'r')
for name in ('freq_array', 'antenna_names', 'antenna_positions', 'antenna_numbers'): assert (v['Header'][name][()] == value(name)).all(), name
# UT1 - UTC is beyond the tables of years to come: a second of time is 7e-5.
lst = Time(value('time_array')[0], format='jd', scale='utc', location=(value('longitude') * u.deg, value('latitude') * u.deg))
lst.delta_ut1_utc = 0
assert abs((lst.sidereal_time('apparent').rad - value('lst_array')[0] + np.pi) % (2 * np.pi) - np.pi) < 7e-5, (lst, value('lst_array'))
for part in ('read raw.uvh5 sha256', '"gains":', 'observation {', '"visibilities":"raw.uvh5"', 'read raw.sigmf-meta sha256'):
  assert part in word('history'), part
gains = D['gains'][:, :, 0, :]
own = np.array(json.load(open(jsonfile))['gains'])
own = (own[..., 0] + 1j * own[..., 1]).reshape(freqs, ants, jones).transpose(1, 0, 2)
assert np.allclose(gains, np.conj(own), rtol=1e-12), 'CalH5 is not the conjugate of the JSON'
# What pyuvdata's uvcalibrate does: data of (1, 2) over gain 1 times the conjugate of gain 2.
out = h5py.File(fixed, 'w')
v.copy('Header', out); v.copy('Data', out)
a1, a2 = v['Header/ant_1_array'][()], v['Header/ant_2_array'][()]
pols = {-5: (0, 0), -6: (1, 1), -7: (0, 1), -8: (1, 0)}
data = v['Data/visdata'][()]
for q, code in enumerate(v['Header/polarization_array'][()]):
  p1, p2 = pols[int(code)]
  data[:, :, q] /= gains[a1, :, p1] * np.conj(gains[a2, :, p2])
out['Data/visdata'][...] = data
out.close()
print('gains of', ants, 'antennas,', freqs, 'channels')
`;

/** Whole sums in integers with running fringes, and means in floats with stopped fringes: the same amplitudes. */
const sumsCheck = `
import sys
import numpy as np, h5py
sums, means = (h5py.File(path, 'r') for path in sys.argv[1:3])
v = sums['Data/visdata'][()]
assert v.dtype['r'] == np.int32 and v.dtype['i'] == np.int32, v.dtype
n = sums['Data/nsamples'][()]
assert (n == means['Data/nsamples'][()]).all() and (n > 0).all()
catalogue = sums['Header/phase_center_catalog']
assert [catalogue[k]['cat_type'][()] for k in catalogue] == [b'unprojected']
size = np.abs(v['r'] + 1j * v['i']) / n
assert np.allclose(size, np.abs(means['Data/visdata'][()]), rtol=1e-6, atol=1e-6 * size.max())
`;

const folder = mkdtempSync(join(tmpdir(), 'corella-clients-'));
let failures = 0;

/**
 * Which software checked which file, by the title of the check.
 * @param {string} title
 */
function checkedBy(title) {
  const format = ['uvfits', 'uvh5', 'calh5', 'fits'].find(
    (one) => title.split(':')[0].endsWith(`.${one}`) || title.includes(`→ ${one}:`),
  );
  if (format === undefined) return [];
  const peers = ['astropy', 'casacore', 'WSClean', 'h5py'].filter((one) => title.includes(one));
  const named = title.includes('memo') || title.includes('integers') ? [...peers, 'h5py'] : peers;
  return named.map((peer) => ({ format, peer: peer.toLowerCase() }));
}

/**
 * @param {string} title
 * @param {string} program
 * @param {readonly (string | number)[]} words
 */
function run(title, program, ...words) {
  const ran = spawnSync(program, words.map(String), { cwd: folder, encoding: 'utf8' });
  const ok = ran.status === 0;
  console.log(`${ok ? 'ok  ' : 'FAIL'}  ${title}`);
  if (ok) for (const what of checkedBy(title)) record({ ...what, direction: 'written', files: 1 });
  if (!ok) {
    failures++;
    console.log(`${ran.stdout}${ran.stderr}`.split('\n').slice(-25).join('\n'));
  }
  return ran.stdout;
}
/** @param {readonly (string | number)[]} words */
const corella = (...words) =>
  run(`corella ${words.slice(0, 2).join(' ')}`, process.execPath, join(root, 'dist/cli/main.js'), ...words);

// One bright source away from every symmetry, and a fainter one, so that a mirrored image cannot pass. AAVS2's size and
// 100 MHz give a beam of about 4.5°: half of it is the tolerance.
const TOLERANCE_DEG = 2.2;
const sky = [
  '--sources',
  'main@50:120:50000,side@70:300:20000',
  '--time',
  '2026-03-01T12:00:00Z',
  '--perfect',
];
const simulated = z.object({
  sources: z.array(z.object({ name: z.string(), raDeg: z.number(), decDeg: z.number() })),
});

/**
 * Position of the bright source in a recording made here.
 * @param {string} name
 * @param {string} telescope
 * @param {number} stations
 * @param {string} duration
 * @param {readonly string[]} words of the sky
 */
function simulate(name, telescope, stations, duration, words) {
  const band = ['--rate', '800kHz', '--frequency', '100MHz', '--duration', duration, '--noise', 2000];
  const where = ['--telescope', telescope, '--stations', stations, ...words, ...band];
  const json = corella('simulate', ...where, '-o', `${name}.sigmf-meta`, '--json');
  const main = simulated.parse(JSON.parse(json)).sources.find((source) => source.name === 'main');
  if (main === undefined) throw new Error(`${name} has no source 'main'`);
  return main;
}

try {
  // Antennas with unknown gains: uncorrected the sky is scrambled; with the gains from CalH5 the source is at its
  // position.
  const scrambled = sky.filter((word) => word !== '--perfect');
  const main = simulate('raw', 'aavs2', 48, '5ms', scrambled);
  corella('correlate', 'raw.sigmf-meta', '--channels', 8, '--taps', 4, '-o', 'raw.uvh5', '--quiet');
  corella('calibrate', 'raw.uvh5', ...scrambled.slice(0, 2), '-o', 'solved.json', '--quiet');
  corella(
    'correlate',
    'raw.sigmf-meta',
    '--channels',
    8,
    '--taps',
    4,
    '--values',
    'sums',
    '-o',
    'sums.uvh5',
    '--quiet',
  );
  run('sums.uvh5: every item of the memo', python, join(clients, 'check_uvh5.py'), 'sums.uvh5', '--strict');
  run('sums.uvh5: exact integers', python, '-c', sumsCheck, 'sums.uvh5', 'raw.uvh5');
  run('solved.calh5: every item of the memo', python, '-c', calh5Check, 'solved.calh5', 'solved.json', 'raw.uvh5', 'fixed.uvh5'); // prettier-ignore
  run('fixed.uvh5: h5py', python, join(clients, 'check_uvh5.py'), 'fixed.uvh5', '--strict');
  run('raw.uvh5 over solved.calh5: a plain transform finds the source', python, '-c', uvh5Transform, 'fixed.uvh5',
    main.raDeg, main.decDeg, TOLERANCE_DEG); // prettier-ignore
  for (const [telescope, stations] of Object.entries({ aavs2: 48, hera350: 300 })) {
    const name = `${telescope}-${stations}`;
    const { raDeg, decDeg } = simulate(name, telescope, stations, '1ms', sky);
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
  // An MWA observation with a coarse channel missing between two, and a time present in only one file.
  const { encodeGpubox, encodeMetafits, smallMwa } = await import('../../dist/formats/testing/mwa-files.js');
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
