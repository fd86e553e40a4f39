"""The same visibilities in UVH5, UVFITS and a Measurement Set, read by h5py, astropy and casacore alone: row by row, value by
value. Arguments: NAME.uvh5 NAME.uvfits [NAME.ms]. What is not installed is passed over and reported; exit 77 where nothing was."""
import sys
import numpy as np

C = 299792458.0
table = {}


def uvh5(path):
    import h5py
    with h5py.File(path, "r") as file:
        head = file["Header"]
        data = file["Data/visdata"][()]
        pols = [int(p) for p in head["polarization_array"][()]]
        # uvw = r2 - r1 with V12 in its own conjugation: both turn against UVFITS.
        rows = zip(head["time_array"][()], head["ant_1_array"][()], head["ant_2_array"][()], head["uvw_array"][()], data,
                   file["Data/flags"][()])
        return pols, {key(t, a, b): (-uvw, {p: np.conj(v[:, k]) for k, p in enumerate(pols)}, {p: f[:, k] for k, p in enumerate(pols)})
                      for t, a, b, uvw, v, f in rows}


def key(jd, one, two):
    # Milliseconds of the day: files round Julian dates each in its own way.
    return (int(round((jd % 1) * 86400e3)), int(one), int(two))


def uvfits(path):
    from astropy.io import fits
    with fits.open(path) as hdus:
        groups = hdus[0].data
        head = hdus[0].header
        axis = next(k for k in range(2, head["NAXIS"] + 1) if head.get("CTYPE%d" % k, "").strip() == "STOKES")
        pols = [int(head["CRVAL%d" % axis] + k * head["CDELT%d" % axis]) for k in range(head["NAXIS%d" % axis])]
        names = [name.strip() for name in groups.parnames]
        base = groups.par("BASELINE") if "BASELINE" in names else None
        one = (base // 256 if base is not None else groups.par("ANTENNA1")).astype(int)
        two = (base % 256 if base is not None else groups.par("ANTENNA2")).astype(int)
        uvw = np.stack([groups.par(next(n for n in groups.parnames if n.strip().startswith(c))) for c in ("UU", "VV", "WW")], -1) * C
        data = np.squeeze(groups.data, axis=(1, 2))
        while data.ndim > 4:
            data = data[:, 0]
        return pols, {key(t, a, b): (w, {p: v[:, k, 0] + 1j * v[:, k, 1] for k, p in enumerate(pols)},
                                     {p: v[:, k, 2] <= 0 for k, p in enumerate(pols)})
                      for t, a, b, w, v in zip(groups.par("DATE") if names.count("DATE") == 1 else dates(groups), one, two, uvw, data)}


def dates(groups):
    # Two parameters of the name DATE are added by astropy; their zero points are not lost in float32.
    return np.asarray(groups.par("DATE"), dtype=float)


def measurement_set(path):
    from casacore.tables import table as open_table
    main = open_table(path, ack=False)
    codes = {9: -5, 10: -7, 11: -8, 12: -6, 5: -1, 6: -3, 7: -4, 8: -2}
    pols = [codes[int(c)] for c in open_table(path + "/POLARIZATION", ack=False).getcell("CORR_TYPE", 0)]
    columns = [main.getcol(name) for name in ("TIME", "ANTENNA1", "ANTENNA2", "UVW", "DATA", "FLAG")]
    return pols, {key(t / 86400 + 0.5, a, b): (uvw, {p: v[:, k] for k, p in enumerate(pols)}, {p: f[:, k] for k, p in enumerate(pols)})
                  for t, a, b, uvw, v, f in zip(*columns)}


readers = [("h5py", uvh5, 1), ("astropy", uvfits, 2), ("casacore", measurement_set, 3)]
found = []
for name, reader, place in readers:
    if len(sys.argv) <= place:
        continue
    try:
        found.append((name, reader(sys.argv[place])))
    except ImportError as error:
        print("passed over: %s (%s)" % (name, error))
if len(found) < 2:
    print("nothing to compare with")
    sys.exit(77)
(first, (_, base)) = found[0]
bad = 0
for name, (pols, rows) in found[1:]:
    shift = {min(a for _, a, _ in rows) - min(a for _, a, _ in base)}
    moved = {(t, a + s, b + s): row for s in shift for (t, a, b), row in base.items()}
    if set(moved) != set(rows):
        print("FAIL %s has %d rows, %s %d, %d in both" % (first, len(base), name, len(rows), len(set(moved) & set(rows))))
        bad += 1
        continue
    scale = max(np.abs(v).max() for _, data, _ in moved.values() for v in data.values())
    value = max(np.abs(moved[k][1][p] - rows[k][1][p]).max() for k in rows for p in pols) / scale
    uvw = max(np.abs(moved[k][0] - rows[k][0]).max() for k in rows)
    longest = max(np.linalg.norm(row[0]) for row in rows.values())
    flags = sum(int((moved[k][2][p] != rows[k][2][p]).sum()) for k in rows for p in pols)
    ok = value < 1e-6 and uvw < 1e-6 * max(longest, 1) + 1e-4 and flags == 0
    print("%s %s and %s: %d rows of %d products, values within %.1e of the largest, uvw within %.1e m of %.0f m, %d flags differ"
          % ("ok" if ok else "FAIL", first, name, len(rows), len(pols), value, uvw, longest, flags))
    bad += not ok
sys.exit(1 if bad else 0)
