"""Files in the shape of those that others publish, made by hand with astropy and h5py: marked so, none of them is real.

shapes.py FOLDER writes them, reads them back with the same libraries and prints what they hold as JSON.
"""
import json
import sys

import h5py
import numpy as np
from astropy.io import fits
from astropy.table import Table

folder = sys.argv[1]
at = lambda name: '%s/%s' % (folder, name)
random = np.random.default_rng(3)
reported = {}

# GLEAM's catalogue (VizieR VIII/100): some of its columns, one source without a fitted spectrum.
Table(
  {
    'Name': np.array(['GLEAM J000001-300000', 'GLEAM J000002-310000', 'GLEAM J000003-320000']),
    'RAJ2000': np.array([0.0042, 0.0083, 359.9]),
    'DEJ2000': np.array([-30.0, -31.5, -32.25]),
    'int_flux_wide': np.array([2.5, 0.5, 7.0]),
    'alpha': np.array([-0.75, np.nan, -1.1], dtype='f4'),
    'int_flux_fit_200': np.array([2.0, np.nan, 6.5], dtype='f4'),
  },
  meta={'COMMENT': 'made by hand in the shape of GLEAM'},
).write(at('gleam.fits'), overwrite=True)
rows = Table.read(at('gleam.fits'))
reported['gleam.fits'] = [
  [
    str(row['Name']).strip(),
    float(row['RAJ2000']),
    float(row['DEJ2000']),
    float(row['int_flux_fit_200'] * 0.75 ** row['alpha'])
    if np.isfinite(row['alpha'])
    else float(row['int_flux_wide'] * 0.75**-0.8),
  ]
  for row in rows.filled(np.nan)
]

# pyradiosky's skyh5: strings of bytes, units as attributes.
with h5py.File(at('model.skyh5'), 'w') as file:
  header = file.create_group('Header')
  for name, value in {'component_type': 'point', 'spectral_type': 'spectral_index', 'history': 'made by hand'}.items():
    header[name] = np.bytes_(value)
  header['Ncomponents'] = 2
  header['Nfreqs'] = 1
  header['name'] = np.array(['one', 'two'], dtype='S')
  place = header.create_group('skycoord')
  place['frame'] = np.bytes_('icrs')
  for name, values in {'ra': [10.0, 200.5], 'dec': [-30.0, 45.25]}.items():
    place[name] = np.array(values)
    place[name].attrs['unit'] = 'deg'
  header['reference_frequency'] = np.array([150e6, 75e6])
  header['reference_frequency'].attrs['unit'] = 'Hz'
  header['spectral_index'] = np.array([-0.7, 0.3])
  stokes = np.zeros((4, 1, 2))
  stokes[0, 0] = [4.0, 2.0]
  file['Data/stokes'] = stokes
  file['Data/stokes'].attrs['unit'] = 'Jy'
with h5py.File(at('model.skyh5')) as file:
  header = file['Header']
  reported['model.skyh5'] = [
    [
      header['name'][k].decode(),
      header['skycoord/ra'][k],
      header['skycoord/dec'][k],
      file['Data/stokes'][0, 0, k] * (150e6 / header['reference_frequency'][k]) ** header['spectral_index'][k],
    ]
    for k in range(2)
  ]

# pyuvdata's CalFITS: three antennas, two with gains, two channels, two times, two terms; re, im, flag, quality.
gains = random.normal(size=(2, 1, 2, 2, 2, 4))
gains[..., 2] = 0
gains[1, 0, 1, 0, 1, 2] = 1
primary = fits.PrimaryHDU(gains)
for name, value in {
  'CALTYPE': 'gain', 'GNCONVEN': 'divide', 'TELESCOP': 'hand', 'XORIENT': 'east', 'REFANT': 'a', 'HASQLTY': True,
  'CTYPE2': 'JONES', 'CRPIX2': 1, 'CRVAL2': -5, 'CDELT2': -1, 'CTYPE3': 'TIME', 'CRPIX3': 1, 'CRVAL3': 2459560.5,
  'CDELT3': 0.5, 'CTYPE4': 'FREQS', 'CRPIX4': 1, 'CRVAL4': 1e8, 'CDELT4': 1e6, 'CTYPE5': 'IF', 'CTYPE6': 'ANTAXIS',
}.items():
  primary.header[name] = value
antennas = fits.BinTableHDU.from_columns([
  fits.Column(name='ANTNAME', format='8A', array=['a', 'b', 'c']),
  fits.Column(name='ANTINDEX', format='D', array=[4, 5, 6]),
  fits.Column(name='ANTARR', format='D', array=[4, 6, -1]),
], name='ANTENNAS')
fits.HDUList([primary, antennas]).writeto(at('gains.calfits'), overwrite=True)
with fits.open(at('gains.calfits')) as hdus:
  data = hdus[0].data
  # [time][channel][antenna a, c][X, Y] as (re, im), None where flagged.
  reported['gains.calfits'] = [
    [[[None if data[a, 0, c, t, q, 2] else [data[a, 0, c, t, q, 0], -data[a, 0, c, t, q, 1]]
       for q in range(2)] for a in range(2)] for c in range(2)] for t in range(2)
  ]

# UVFITS of VLBI: ehtim's EQUINOX = 'J2000', and Astrogeo's cards that break the rules of FITS.
def uvfits(name, change):
  places = np.array([[-1640953.9, -5014816.0, 3575411.9], [-2112065.2, -3705356.5, 4726813.7], [-1324009.3, -5332181.9, 3231962.4]])
  pairs = [(0, 1), (0, 2), (1, 2)]
  vis = random.normal(size=(3, 1, 1, 1, 1, 2, 3)).astype('f4')
  vis[..., 2] = 5
  lon, ra, dec = 0.0, np.radians(187.7059), np.radians(12.3911)
  days = 2460000.5 + 0.25
  hour = 2 * np.pi * (0.7790572732640 + 1.00273781191135448 * (days - 2451545.0)) - ra + lon
  s, c = np.sin(hour), np.cos(hour)
  axes = np.array([[s, c, 0], [-np.sin(dec) * c, np.sin(dec) * s, np.cos(dec)], [np.cos(dec) * c, -np.cos(dec) * s, np.sin(dec)]])
  uvw = np.array([axes @ (places[i] - places[j]) for i, j in pairs]) / 299792458.0
  data = fits.GroupData(
    vis, bitpix=-32, parnames=['UU---SIN', 'VV---SIN', 'WW---SIN', 'BASELINE', 'DATE', 'DATE', 'INTTIM'],
    pardata=[uvw[:, 0], uvw[:, 1], uvw[:, 2], [256 * (i + 1) + j + 1 for i, j in pairs], [2460000.5] * 3, [0.25] * 3, [10] * 3],
  )
  groups = fits.GroupsHDU(data)
  for k, (kind, value, step) in enumerate([('COMPLEX', 1, 1), ('STOKES', -1, -1), ('FREQ', 8.4e9, 8e6), ('IF', 1, 1), ('RA', 187.7059, 1), ('DEC', 12.3911, 1)]):
    for card, number in {'CTYPE': kind, 'CRVAL': value, 'CDELT': step, 'CRPIX': 1}.items():
      groups.header['%s%d' % (card, k + 2)] = number
  groups.header['OBJECT'] = 'M87'
  groups.header['TELESCOP'] = 'VLBA'
  groups.header['EQUINOX'] = 'J2000'
  groups.header['COMMENT'] = 'made by hand'
  table = fits.BinTableHDU.from_columns([
    fits.Column(name='ANNAME', format='8A', array=['FD', 'BR', 'PT']),
    fits.Column(name='STABXYZ', format='3D', array=places),
    fits.Column(name='NOSTA', format='1J', array=[1, 2, 3]),
    fits.Column(name='MNTSTA', format='1J', array=[0, 0, 0]),
  ], name='AIPS AN')
  for card, value in {'ARRAYX': 0.0, 'ARRAYY': 0.0, 'ARRAYZ': 0.0, 'FRAME': 'ITRF', 'TIMSYS': 'UTC', 'FREQ': 8.4e9}.items():
    table.header[card] = value
  fits.HDUList([groups, table]).writeto(at(name), overwrite=True)
  change(at(name))
  with fits.open(at(name), ignore_missing_end=True) as hdus:
    read = hdus[0].data.data
    reported[name] = [float(np.hypot(*read[k, 0, 0, 0, 0, q, :2])) for k in range(3) for q in range(2)]

def astrogeo(path):
  with open(path, 'r+b') as file:
    text = file.read(2880 * 4)
    start = text.index(b"OBJECT  =")
    file.seek(start)
    file.write(b"OBJECT  = 'M87     '".ljust(80))
    where = text.index(b'COMMENT')
    file.seek(where)
    file.write(b'OBSRA   = 12:30:49.4234  / unquoted'.ljust(80))

uvfits('ehtim.uvfits', lambda path: None)
uvfits('astrogeo_vis.fits', astrogeo)
print(json.dumps(reported))
