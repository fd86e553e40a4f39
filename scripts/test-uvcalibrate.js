// Compares corella apply with pyuvdata's uvcalibrate: the same visibilities and the same CalH5, every value within 1e-6
// of the largest and every flag equal, in UVH5 and UVFITS. uvcalibrate has no full-polarisation matrices; these are
// read by pyuvdata and applied in numpy. Without pyuvdata (PYTHONPATH gives its location) this reports so and passes.
import { compareDishes, correlated, needPyuvdata, sources } from './clients/dishes.js';

needPyuvdata('uvcalibrate not compared');

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

/** Over 300 m. @type {[number, number, number][]} */
const places = [
  [0, 0, 0],
  [18, 9, 2],
  [-46, 36, -3],
  [127, 57, -1.5],
  [-142, 45, 4],
  [151, -18, 1],
  [60, -90, 0],
];

compareDishes('uvcalibrate', places, ['--noise', '10', '--type', 'cf32'], (bench) => {
  for (const ending of ['uvh5', 'uvfits'])
    bench.corella('correlate', 'voltages.sigmf-meta', '-o', `raw.${ending}`, ...correlated);
  const solve = [...sources, '--flag', 'dish3:Y', '--accept-model', '--odd', '0', '--backend', 'cpu'];
  bench.corella('calibrate', 'raw.uvh5', '-o', 'each.json', ...solve);
  bench.corella('calibrate', 'raw.uvh5', '-o', 'full.json', '--polarisation', 'full', ...solve);
  for (const gains of ['each', 'full'])
    for (const ending of ['uvh5', 'uvfits']) {
      const made = `${gains}.${ending}`;
      bench.corella('apply', `raw.${ending}`, `${gains}.json`, made, '--cross-hand', 'known');
      bench.python(compare, [`raw.${ending}`, `${gains}.calh5`, made]);
    }
});
