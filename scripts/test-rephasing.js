// Compares files that we rephase with pyuvdata's own rephasing of the same visibilities: 3 km at 150 MHz, from the
// zenith to a source and from there to another, UVH5 and UVFITS. pyuvdata also reads every kind of file that we write:
// drifting, stopped at the zenith, rephased, tracked, of one polarisation and of two, gains of one time and of several.
// Any warning of pyuvdata is a failure. Without pyuvdata (PYTHONPATH gives its location) this reports so and passes.
import { compareDishes, correlated, needPyuvdata, sources } from './clients/dishes.js';
import { record } from './clients/peers.js';

needPyuvdata('rephasing not checked');

/** Every uvw and every phase of our file compared with pyuvdata's; without a warning on either. */
const compare = `
import sys, warnings
import numpy as np
from astropy.utils import iers
iers.conf.auto_download = False
from pyuvdata import UVData
from pyuvdata.utils import phasing
# It takes the angle of ICRS north between points half a degree either side, and that changes on the way: 1" or so, 16 mm of
# u and v at 3 km, nothing of w. Points 2" apart tell the angle at the place itself.
phasing.calc_frame_pos_angle.__kwdefaults__['offset_pos'] = float(sys.argv[5])
start, ours, ra, dec, frame = sys.argv[1], sys.argv[2], np.radians(float(sys.argv[3])), np.radians(float(sys.argv[4])), 'icrs'
said = []
with warnings.catch_warnings(record=True) as caught:
  warnings.simplefilter('always')
  made = UVData.from_file(ours)
  theirs = UVData.from_file(start)
  said = [str(w.message) for w in caught if 'pyuvdata' in str(w.filename)]
theirs.phase(lon=ra, lat=dec, cat_name='source', phase_frame=frame, use_ant_pos=True)
order = lambda d: np.lexsort((d.ant_2_array, d.ant_1_array, d.time_array))
theirs_at, made_at = order(theirs), order(made)
if not np.array_equal(theirs.ant_1_array[theirs_at], made.ant_1_array[made_at]):
  made.conjugate_bls('ant1<ant2'); theirs.conjugate_bls('ant1<ant2'); theirs_at, made_at = order(theirs), order(made)
cross = theirs.ant_1_array[theirs_at] != theirs.ant_2_array[theirs_at]
uvw = np.abs(theirs.uvw_array[theirs_at] - made.uvw_array[made_at]).max() * 1e3
a = theirs.data_array[theirs_at][cross].ravel(); b = made.data_array[made_at][cross].ravel()
there = np.abs(a) > 1e-3 * np.abs(a).max()
phase = np.degrees(np.abs(np.angle(a[there] * np.conj(b[there])))).max()
longest = np.linalg.norm(made.uvw_array, axis=1).max()
print('%s: %.0f m, uvw within %.4f mm, phases within %.4f degrees, %d warnings' % (ours, longest, uvw, phase, len(said)))
for one in said: print('  pyuvdata: ' + one)
sys.exit(0 if uvw < 1 and phase < 0.1 and not said and longest > 2000 else 1)
`;

/** Reads a file in the ordinary way, with pyuvdata's own checks and warnings. */
const read = `
import sys, warnings
from astropy.utils import iers
iers.conf.auto_download = False
from pyuvdata import UVCal, UVData
failed = 0
for path in sys.argv[1:]:
  with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter('always')
    held = UVCal.from_file(path) if path.endswith('.calh5') else UVData.from_file(path)
    held.check(check_extra=True, run_check_acceptability=True)
  said = sorted({str(w.message) for w in caught if 'pyuvdata' in str(w.filename) or w.filename == '<string>'})
  kinds = '' if path.endswith('.calh5') else ', ' + '+'.join(sorted({c['cat_type'] for c in held.phase_center_catalog.values()}))
  print('%s: %d times%s, %d warnings' % (path, held.Ntimes, kinds, len(said)))
  for one in said: print('  pyuvdata: ' + one)
  failed |= bool(said)
sys.exit(1 if failed else 0)
`;

/** Over 3 km. @type {[number, number, number][]} */
const places = [
  [0, 0, 0],
  [180, 90, 2],
  [-460, 360, -3],
  [1270, 570, -1.5],
  [-1420, 450, 4],
  [1515, -180, 1],
];

compareDishes('rephasing', places, ['--noise', '10', '--perfect', '--type', 'cf32'], (bench) => {
  /**
   * @param {string} start
   * @param {string} ours
   * @param {number} raDeg
   * @param {number} decDeg
   */
  const check = (start, ours, raDeg, decDeg) => {
    bench.python(compare, [start, ours, String(raDeg), String(decDeg), '1e-5']);
  };
  /** @param {string[]} paths */
  const readAll = (...paths) => {
    if (!bench.python(read, paths)) return;
    for (const path of paths)
      record({ format: path.split('.').at(-1) ?? '', direction: 'written', peer: 'pyuvdata', files: 1 });
  };

  for (const ending of ['uvh5', 'uvfits']) {
    const [zenith, first, second] = ['zenith', 'first', 'second'].map((name) => `${name}.${ending}`);
    bench.corella('correlate', 'voltages.sigmf-meta', '-o', zenith, ...correlated);
    bench.corella('convert', zenith, first, '--phase-centre', '200 40');
    bench.corella('convert', first, second, '--phase-centre', '12h40m00s +30d00m00s');
    check(zenith, first, 200, 40);
    check(first, second, 190, 30);
    check(zenith, second, 190, 30);
    const tracked = `tracked.${ending}`;
    bench.corella('correlate', 'voltages.sigmf-meta', '-o', tracked, '--track', '200 40', ...correlated);
    readAll(zenith, first, second, tracked);
  }
  // Whole numbers, with running fringes: drifting.
  const whole = ['--values', 'sums', '--bits', '8'];
  bench.corella('correlate', 'voltages.sigmf-meta', '-o', 'sums.uvh5', ...whole, ...correlated);
  readAll('sums.uvh5');
  const solve = [...sources, '--backend', 'cpu'];
  bench.corella('calibrate', 'zenith.uvh5', '-o', 'once.json', ...solve);
  bench.corella('calibrate', 'zenith.uvh5', '-o', 'often.json', '--every', '20ms', ...solve);
  readAll('once.calh5', 'often.calh5');
});
