# Beside test-wsclean.js and the bench of wide images: a UVFITS or rows of our own as a Measurement Set, by astropy and
# casacore alone, and images compared pixel by pixel.
#   ms UVFITS OUT.ms              every group as it is stored: uvw in metres, V of (antenna 1, antenna 2)
#   joint UVFITS OUT.ms           the same, both parallel hands with the weight of their mean, 2 / (1/a + 1/b), and a hand alone
#                                 for both with half its own: WSClean weighs Stokes I by the lesser of the two
#   rows ROWS OUT.ms              rows and channels (int64), frequencies, uvw (float64), visibilities (complex64)
#   compare OURS THEIRS           prints the largest difference over the peak, where both have a value
#   direct MS OURS THEIRS POL     prints the largest difference of each from the direct sum in float64 (natural weights) over
#                                 the peak: at the peak, where they differ most, and elsewhere
#   peaks IMAGE RA DEC ...        the brightest pixel within two of each place, one a line
import sys
import numpy as np

SPEED_OF_LIGHT = 299792458.0


def write_ms(out, uvw, times, exposures, antennas, data, weights, frequencies, centre, codes, positions):
    from casacore.tables import default_ms, makearrcoldesc, maketabdesc, table

    rows, channels, products = data.shape
    ms = default_ms(out)
    column = makearrcoldesc('DATA', 0j, ndim=2, shape=[channels, products], valuetype='complex',
                            datamanagertype='TiledColumnStMan', datamanagergroup='d')
    manager = dict(TYPE='TiledColumnStMan', NAME='d', SPEC=dict(DEFAULTTILESHAPE=[products, channels, 1024]))
    ms.addcols(maketabdesc(column), manager)
    column = makearrcoldesc('WEIGHT_SPECTRUM', 0.0, ndim=2, shape=[channels, products], valuetype='float',
                            datamanagertype='TiledColumnStMan', datamanagergroup='w')
    manager = dict(TYPE='TiledColumnStMan', NAME='w', SPEC=dict(DEFAULTTILESHAPE=[products, channels, 1024]))
    ms.addcols(maketabdesc(column), manager)
    ms.addrows(rows)
    ms.putcol('UVW', uvw)
    ms.putcol('ANTENNA1', antennas[0].astype('i4'))
    ms.putcol('ANTENNA2', antennas[1].astype('i4'))
    for name in ('TIME', 'TIME_CENTROID'):
        ms.putcol(name, times)
    for name in ('EXPOSURE', 'INTERVAL'):
        ms.putcol(name, exposures)
    ms.putcol('DATA', data)
    ms.putcol('FLAG', ~(weights > 0))
    ms.putcol('FLAG_ROW', np.zeros(rows, bool))
    ms.putcol('WEIGHT_SPECTRUM', np.maximum(weights, 0).astype('f4'))
    for name in ('WEIGHT', 'SIGMA'):
        ms.putcol(name, np.ones((rows, products), 'f4'))
    for name in ('ARRAY_ID', 'DATA_DESC_ID', 'FIELD_ID', 'OBSERVATION_ID', 'PROCESSOR_ID', 'SCAN_NUMBER', 'STATE_ID',
                 'FEED1', 'FEED2'):
        ms.putcol(name, np.zeros(rows, 'i4'))
    ms.close()

    def part(name):
        return table(out + '/' + name, readonly=False, ack=False)

    count = len(positions)
    t = part('ANTENNA')
    t.addrows(count)
    names = ['A%d' % k for k in range(count)]
    for name, value in (('POSITION', positions), ('NAME', names), ('STATION', names), ('MOUNT', ['X'] * count),
                        ('DISH_DIAMETER', np.full(count, 4.0)), ('TYPE', ['GROUND-BASED'] * count),
                        ('OFFSET', np.zeros((count, 3)))):
        t.putcol(name, value)
    t.close()
    t = part('SPECTRAL_WINDOW')
    t.addrows(1)
    t.putcell('CHAN_FREQ', 0, frequencies)
    widths = np.full(channels, frequencies[1] - frequencies[0] if channels > 1 else 40e3)
    for name in ('CHAN_WIDTH', 'EFFECTIVE_BW', 'RESOLUTION'):
        t.putcell(name, 0, widths)
    t.putcell('NUM_CHAN', 0, channels)
    t.putcell('REF_FREQUENCY', 0, frequencies[0])
    t.putcell('TOTAL_BANDWIDTH', 0, widths.sum())
    t.putcell('NAME', 0, 'band')
    t.close()
    t = part('POLARIZATION')
    t.addrows(1)
    t.putcell('CORR_TYPE', 0, np.array(codes, 'i4'))
    t.putcell('NUM_CORR', 0, products)
    t.putcell('CORR_PRODUCT', 0, np.zeros((products, 2), 'i4'))
    t.close()
    t = part('DATA_DESCRIPTION')
    t.addrows(1)
    t.close()
    t = part('FIELD')
    t.addrows(1)
    for name in ('PHASE_DIR', 'DELAY_DIR', 'REFERENCE_DIR'):
        t.putcell(name, 0, np.radians(np.array([centre])))
    t.putcell('NAME', 0, 'centre')
    t.putcell('NUM_POLY', 0, 0)
    t.close()
    t = part('OBSERVATION')
    t.addrows(1)
    t.putcell('TELESCOPE_NAME', 0, 'MWA')
    t.putcell('TIME_RANGE', 0, np.array([times.min(), times.max()]))
    t.close()


def uvfits_to_ms(path, out, joint=False):
    from astropy.io import fits

    hdus = fits.open(path)
    groups, header = hdus[0].data, hdus[0].header
    uvw = np.stack([groups.par(name).astype('f8') for name in ('UU', 'VV', 'WW')], 1) * SPEED_OF_LIGHT
    names = [name.upper() for name in groups.parnames]
    if 'BASELINE' in names:
        baseline = groups.par('BASELINE').astype(int)
        first, second = baseline // 256, baseline % 256
    else:
        first, second = (groups.par(name).astype(int) for name in ('ANTENNA1', 'ANTENNA2'))
    data = groups.data.reshape(len(uvw), header['NAXIS4'], header['NAXIS3'], 3)
    cross = first != second
    frequencies = header['CRVAL4'] + header['CDELT4'] * (np.arange(header['NAXIS4']) + 1 - header['CRPIX4'])
    codes = [{-5: 9, -6: 12, -7: 10, -8: 11, -1: 5, -2: 8, -3: 6, -4: 7}[int(header['CRVAL3'] + k * header['CDELT3'])]
             for k in range(header['NAXIS3'])]
    order = np.argsort(codes)
    data = data[cross][:, :, order]
    weights = data[..., 2].astype('f8')
    if joint:
        both = (weights[..., 0] > 0) & (weights[..., -1] > 0)
        ones = np.where(both[..., None], weights, 1)
        alone = np.maximum(weights[..., 0], weights[..., -1])
        # A hand alone stands for both.
        for lost, kept in ((0, -1), (-1, 0)):
            lone = (weights[..., lost] <= 0) & (weights[..., kept] > 0)
            data[..., lost, :2] = np.where(lone[..., None], data[..., kept, :2], data[..., lost, :2])
        weights[..., 0] = weights[..., -1] = np.where(
            both, 2 / (1 / ones[..., 0] + 1 / ones[..., -1]), np.maximum(alone, 0) / 2)
    antennas = hdus['AIPS AN'].data
    # Whole seconds would do: WSClean reads uvw, not times.
    times = 5e9 + np.unique(groups.par('DATE')[cross], return_inverse=True)[1].astype(float)
    count = int(max(first.max(), second.max()))
    positions = np.zeros((count, 3))
    positions[:min(count, len(antennas))] = antennas['STABXYZ'][:count]
    write_ms(out, uvw[cross], times, np.ones(cross.sum()), (first[cross] - 1, second[cross] - 1),
             (data[..., 0] + 1j * data[..., 1]).astype('c8'), weights, frequencies,
             (header['CRVAL6' if header['CTYPE6'].startswith('RA') else 'CRVAL5'],
              header['CRVAL7' if header['CTYPE6'].startswith('RA') else 'CRVAL6']), sorted(codes), positions)


def rows_to_ms(path, out):
    with open(path, 'rb') as f:
        rows, channels = np.fromfile(f, 'i8', 2)
        frequencies = np.fromfile(f, 'f8', channels)
        uvw = np.fromfile(f, 'f8', 3 * rows).reshape(rows, 3)
        data = np.fromfile(f, 'c8', rows * channels).reshape(rows, channels, 1)
    zeros = np.zeros(rows, int)
    write_ms(out, uvw, 5e9 + np.arange(rows) // 8128 * 1.0, np.ones(rows), (zeros, zeros + 1), data,
             np.ones(data.shape, 'f4'), frequencies, (30.0, -20.0), [9], np.eye(3)[:2] * 1000)


def plane(path):
    from astropy.io import fits

    hdu = fits.open(path)[0]
    values = hdu.data.squeeze()
    # Our columns begin one further east than theirs.
    column = int(round(hdu.header['CRPIX1'])) - 1 - values.shape[1] // 2
    return values, column, hdu.header


def same_pixels(ours, theirs):
    (x, shiftX, hx), (y, shiftY, hy) = plane(ours), plane(theirs)
    assert abs((hx['CRVAL1'] - hy['CRVAL1'] + 180) % 360 - 180) < 1e-9 and abs(hx['CRVAL2'] - hy['CRVAL2']) < 1e-9
    assert abs(hx['CDELT2'] / hy['CDELT2'] - 1) < 1e-9 and hx['CRPIX2'] == hy['CRPIX2']
    shift = shiftY - shiftX
    x, y = x[:, :x.shape[1] - shift], y[:, shift:]
    l = np.radians(hy['CDELT1']) * (np.arange(x.shape[1]) + shift + 1 - hy['CRPIX1'])
    m = np.radians(hy['CDELT2']) * (np.arange(x.shape[0]) + 1 - hy['CRPIX2'])
    return x, y, np.isfinite(x) & np.isfinite(y), *np.meshgrid(l, m)


def compare(ours, theirs):
    x, y, both, _, _ = same_pixels(ours, theirs)
    print(np.abs(x - y)[both].max() / np.abs(y[both]).max())


def direct_sum(path, pol, places):
    from casacore.tables import table

    ms = table(path, ack=False)
    uvw, data, flags, weights = (ms.getcol(name) for name in ('UVW', 'DATA', 'FLAG', 'WEIGHT_SPECTRUM'))
    frequencies = table(path + '/SPECTRAL_WINDOW', ack=False).getcell('CHAN_FREQ', 0)
    hands = [0] if pol != 'I' else [0, -1]
    values = np.mean([data[..., hand].astype('c16') for hand in hands], axis=0)
    weights = np.min([weights[..., hand].astype('f8') for hand in hands], axis=0)
    for hand in hands:
        weights = weights * ~flags[..., hand]
    for l, m in places:
        phase = (uvw @ [l, m, np.sqrt(1 - l * l - m * m) - 1])[:, None] * (2 * np.pi * frequencies / SPEED_OF_LIGHT)
        yield (weights * (values.real * np.cos(phase) + values.imag * np.sin(phase))).sum() / weights.sum()


def direct(path, ours, theirs, pol):
    x, y, both, l, m = same_pixels(ours, theirs)
    apart = np.where(both, np.abs(x - y), 0).ravel()
    size = np.where(both, np.abs(y), 0).ravel()
    elsewhere = np.random.default_rng(1).choice(np.flatnonzero(both), 8)
    at = np.concatenate([[size.argmax()], apart.argsort()[-4:], elsewhere])
    sums = np.array(list(direct_sum(path, pol, zip(l.ravel()[at], m.ravel()[at]))))
    for image in (x, y):
        print(np.abs(image.ravel()[at] - sums).max() / size.max())


def centre(path):
    _, _, header = plane(path)
    print(repr(header['CRVAL1'] % 360), repr(header['CRVAL2']))


def peaks(path, places):
    from astropy.wcs import WCS

    values, _, header = plane(path)
    wcs = WCS(header).celestial
    for ra, dec in zip(places[::2], places[1::2]):
        column, row = np.round(wcs.wcs_world2pix([[ra, dec]], 0)[0]).astype(int)
        print(np.nanmax(values[row - 2:row + 3, column - 2:column + 3]))


verb, *words = sys.argv[1:]
if verb == 'ms':
    uvfits_to_ms(*words)
elif verb == 'joint':
    uvfits_to_ms(*words, joint=True)
elif verb == 'rows':
    rows_to_ms(*words)
elif verb == 'compare':
    compare(*words)
elif verb == 'direct':
    direct(*words)
elif verb == 'centre':
    centre(*words)
elif verb == 'peaks':
    peaks(words[0], [float(word) for word in words[1:]])
else:
    sys.exit('ms, joint, rows, compare, direct, centre or peaks')
