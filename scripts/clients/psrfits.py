"""PSRFITS of ours by astropy: python3 psrfits.py FILE.sf FILE.fil START_UTC. FILE.fil: the same beam as 32-bit floats."""
import sys

import numpy as np
from astropy import units as u
from astropy.coordinates import AltAz, EarthLocation, SkyCoord
from astropy.io import fits
from astropy.time import Time
from astropy.utils import iers

iers.conf.auto_download = False
iers.conf.auto_max_age = None
path, floats, start = sys.argv[1:]
with open(floats, 'rb') as file:
    content = file.read()
end = content.index(b'HEADER_END') + 10


def keyword(name, kind):
    at = content.index(name.encode()) + len(name)
    return np.frombuffer(content[at:at + 8], '<f8')[0] if kind == 'real' else np.frombuffer(content[at:at + 4], '<i4')[0]


channels, planes = keyword('nchans', 'whole'), keyword('nifs', 'whole')
wanted = np.frombuffer(content[end:], '<f4').reshape(-1, planes, channels)
with fits.open(path) as hdus:
    hdus.verify('exception')
    primary, subint = hdus[0].header, hdus['SUBINT'].header
    rows = hdus['SUBINT'].data
    data = np.asarray(rows['DATA'], dtype=float)
    assert data.shape[1:] == (subint['NSBLK'], subint['NPOL'], subint['NCHAN']), data.shape
    shape = (len(rows), 1, planes, channels)
    data = data * rows['DAT_SCL'].reshape(shape) + rows['DAT_OFFS'].reshape(shape)
    data = data.reshape(-1, planes, channels)[:subint['NSTOT']]
    assert data.shape == wanted.shape, (data.shape, wanted.shape)
    # Half a step; values beyond the range are cut to it.
    step = rows['DAT_SCL'].max(axis=0).reshape(planes, channels)
    within = np.mean(np.abs(data - wanted) <= 0.51 * step + 1e-5 * np.abs(wanted))
    assert within > 0.98, within
    began = Time(primary['STT_IMJD'], format='mjd', scale='utc') + (primary['STT_SMJD'] + primary['STT_OFFS']) * u.s
    assert abs((began - Time(start, scale='utc')).to_value(u.s)) < 1e-9
    assert np.allclose(rows['DAT_FREQ'][0], keyword('fch1', 'real') + keyword('foff', 'real') * np.arange(channels), rtol=1e-12)
    assert abs(subint['TBIN'] - keyword('tsamp', 'real')) < 1e-12 and np.all(rows['DAT_WTS'] == 1)
    site = EarthLocation.from_geocentric(primary['ANT_X'], primary['ANT_Y'], primary['ANT_Z'], unit='m')
    for row in rows[[0, -1]]:
        moment = began + row['OFFS_SUB'] * u.s
        place = SkyCoord(row['RA_SUB'], row['DEC_SUB'], unit='deg').transform_to(AltAz(obstime=moment, location=site))
        pointed = SkyCoord(row['TEL_AZ'] * u.deg, (90 - row['TEL_ZEN']) * u.deg)
        off = pointed.separation(SkyCoord(place.az, place.alt)).to_value(u.deg)
        assert off < 0.01, off
    asked = SkyCoord(primary['RA'], primary['DEC'], unit=('hourangle', 'deg'))
    assert asked.separation(SkyCoord(row['RA_SUB'], row['DEC_SUB'], unit='deg')).to_value('arcsec') < 1
print('%d values of %d planes and %d channels agree (%.2f %% within half a step), %s at %s, %.5f degrees from where astropy puts it'
      % (*data.shape, 100 * within, primary['SRC_NAME'], began.isot, off))
