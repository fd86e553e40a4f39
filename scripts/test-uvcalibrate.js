// Compares corella apply with pyuvdata's uvcalibrate: the same visibilities and the same CalH5, every value within 1e-6 of the
// largest and every flag alike, in UVH5 and UVFITS. It takes no matrices of full polarisation; those are read by pyuvdata and
// undone in numpy. Without pyuvdata (PYTHONPATH says where it is) this says so and passes.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = new URL('..', import.meta.url).pathname;
const python = '/usr/bin/python3';
if (spawnSync(python, ['-c', 'import pyuvdata']).status !== 0) {
  console.log('uvcalibrate not compared: pyuvdata cannot be imported by /usr/bin/python3 (set PYTHONPATH)');
  process.exit(0);
}

const compare = `
import sys
import numpy as np
from astropy.utils import iers
iers.conf.auto_download = False
from pyuvdata import UVCal, UVData
from pyuvdata.utils import uvcalibrate
raw, gains, ours = sys.argv[1:4]
data, cal, made = UVData.from_file(raw), UVCal.from_file(gains), UVData.from_file(ours)
if cal.Njones == 4:
  # Rows are what is recorded, columns what the sky holds; the file's terms are Jxx, Jyy, Jxy, Jyx.
  order = {code: n for n, code in enumerate(cal.jones_array)}
  terms = cal.gain_array[:, :, 0, :]
  jones = np.stack([np.stack([terms[..., order[-5]], terms[..., order[-7]]], -1),
                    np.stack([terms[..., order[-8]], terms[..., order[-6]]], -1)], -2)
  bad = cal.flag_array[:, :, 0, :].any(-1)
  inverse = np.linalg.inv(jones)
  # By name: UVFITS counts antennas from 1.
  named = dict(zip(data.telescope.antenna_numbers, data.telescope.antenna_names))
  number = dict(zip(cal.telescope.antenna_names, cal.telescope.antenna_numbers))
  place = {ant: n for n, ant in enumerate(cal.ant_array)}
  row = {ant: place[number[name]] for ant, name in named.items()}
  first = np.array([row[a] for a in data.ant_1_array]); second = np.array([row[a] for a in data.ant_2_array])
  pols = list(data.polarization_array)
  products = [pols.index(-5), pols.index(-7), pols.index(-8), pols.index(-6)]
  v = data.data_array[..., products].reshape(data.Nblts, data.Nfreqs, 2, 2).astype(complex)
  fixed = inverse[first] @ v @ np.conj(np.swapaxes(inverse[second], -1, -2))
  lost = bad[first] | bad[second]
  fixed = np.where(lost[..., None, None], v, fixed).reshape(data.Nblts, data.Nfreqs, 4)
  theirs = data.copy()
  theirs.data_array[..., products] = fixed
  theirs.flag_array |= lost[..., None]
  by = 'numpy by its Jones terms'
else:
  theirs = uvcalibrate(data, cal, inplace=False, time_check=False, uvd_pol_convention='avg')
  by = 'uvcalibrate'
for one in (theirs, made):
  one.conjugate_bls('ant1<ant2')
order = lambda d: np.lexsort((d.ant_2_array, d.ant_1_array, d.time_array))
where, here = order(theirs), order(made)
pick = [list(made.polarization_array).index(p) for p in theirs.polarization_array]
a, b = theirs.data_array[where], made.data_array[here][..., pick]
f, g = theirs.flag_array[where], made.flag_array[here][..., pick]
there = ~f & ~g
worst = np.abs(a - b)[there].max() / np.abs(a[there]).max()
moved = np.abs(data.data_array[order(data)] - a)[there].max() / np.abs(a[there]).max()
print('%s, %s, %s: %d values within %.2g of the largest (gains move them by %.2g), %d flags differ of %d set' %
      (ours, gains, by, there.sum(), worst, moved, (f != g).sum(), f.sum()))
sys.exit(0 if worst < 1e-6 and moved > 0.1 and there.sum() > 100 and not (f != g).any() else 1)
`;

const folder = mkdtempSync(join(tmpdir(), 'corella-uvcalibrate-'));
let failed = 0;
try {
  const places = [
    [0, 0, 0],
    [18, 9, 2],
    [-46, 36, -3],
    [127, 57, -1.5],
    [-142, 45, 4],
    [151, -18, 1],
    [60, -90, 0],
  ];
  writeFileSync(
    join(folder, 'dishes.csv'),
    `name,east_m,north_m,up_m\n${places.map((place, n) => [`dish${n}`, ...place].join(',')).join('\n')}\n`,
  );
  writeFileSync(
    join(folder, 'dishes.json'),
    JSON.stringify({
      ...{ name: 'dishes', title: 'dishes over 300 m', positions: 'dishes.csv', polarisations: 2 },
      site: { latitudeDeg: 34.348358, longitudeDeg: -106.885783, heightM: 1477.8 },
      band: { lowHz: 100e6, highHz: 200e6 },
      recording: { centreFrequencyHz: 150e6, sampleRateHz: 1e6, channels: 16, bits: 8 },
      beamExponent: 0,
    }),
  );
  const sources = ['--sources', 'one:200:40:2000,two:190:30:3000'];
  const when = ['--time', '2019-04-10T07:00:00Z', '--duration', '60ms'];
  corella('simulate', '--telescope', 'dishes.json', ...when, ...sources, '--noise', '10', '--type', 'cf32');
  const words = ['--channels', '16', '--integration', '20ms', '--backend', 'cpu'];
  corella('correlate', 'voltages.sigmf-meta', '-o', 'raw.uvh5', ...words);
  corella('correlate', 'voltages.sigmf-meta', '-o', 'raw.uvfits', ...words);
  const solve = [...sources, '--flag', 'dish3:Y', '--accept-model', '--odd', '0', '--backend', 'cpu'];
  corella('calibrate', 'raw.uvh5', '-o', 'each.json', ...solve);
  corella('calibrate', 'raw.uvh5', '-o', 'full.json', '--polarisation', 'full', ...solve);
  for (const gains of ['each', 'full'])
    for (const ending of ['uvh5', 'uvfits']) {
      corella('apply', `raw.${ending}`, `${gains}.json`, `${gains}.${ending}`, '--cross-hand', 'known');
      check(`raw.${ending}`, `${gains}.calh5`, `${gains}.${ending}`);
    }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed);

/** @param {string[]} words */
function corella(...words) {
  const made = spawnSync(process.execPath, [join(root, 'dist/cli/main.js'), ...words], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (made.status === 0) return;
  console.error(`corella ${words.join(' ')}\n${made.stdout}${made.stderr}`);
  process.exit(1);
}

/**
 * @param {string} raw
 * @param {string} gains
 * @param {string} ours
 */
function check(raw, gains, ours) {
  const made = spawnSync(python, ['-c', compare, raw, gains, ours], { cwd: folder, encoding: 'utf8' });
  console.log(made.stdout.trim());
  if (made.status === 0) return;
  if (made.stdout.trim() === '') console.error(made.stderr);
  failed = 1;
}
