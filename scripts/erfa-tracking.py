#!/usr/bin/python3
"""Makes src/acceptance/erfa-tracking.ts: where a source stands during an hour, by ERFA, which shares no code with us.

    erfa-tracking.py finals2000A.all > src/acceptance/erfa-tracking.ts        (Debian: python3-erfa)

Apparent directions as in erfa-places.py: aberration, UT1, polar motion, no refraction. East, north, up, and their change
in a second.
"""
import sys

import erfa
import numpy as np

SITE = (34.348358, -106.885783, 1477.8)
RA, DEC = 234.5, 22.25
START = (2024, 5, 11, 4, 0, 0.0)
MINUTES = range(0, 61, 5)

rows = [[float(line[a:b]) for a, b in ((7, 15), (58, 68), (18, 27), (37, 46))]
        for line in open(sys.argv[1]) if line[18:27].strip() and line[58:68].strip()]
TABLE = np.array(rows).T


def direction(seconds):
    utc1, utc2 = erfa.dtf2d("UTC", *START)
    utc2 = utc2 + seconds / 86400
    mjd = (utc1 - 2400000.5) + utc2
    dut1, x, y = (np.interp(mjd, TABLE[0], column) for column in TABLE[1:])
    az, zd, *_ = erfa.atco13(
        np.radians(RA), np.radians(DEC), 0, 0, 0, 0, utc1, utc2, dut1, np.radians(SITE[1]), np.radians(SITE[0]), SITE[2],
        x * erfa.DAS2R, y * erfa.DAS2R, 0, 0, 0, 1)
    return np.array([np.sin(zd) * np.sin(az), np.sin(zd) * np.cos(az), np.cos(zd)])


print("""/** Where a source stands during an hour, by ERFA (scripts/erfa-tracking.py): unit vectors and their change in a second. */
export const site = { latitudeDeg: %r, longitudeDeg: %r, heightM: %r };
export const source = { raDeg: %r, decDeg: %r };
export const start = '%04d-%02d-%02dT%02d:%02d:%02dZ';
/** [seconds after the start, east, north, up, and what they change by in a second] */
export const directions: readonly (readonly [number, number, number, number, number, number, number])[] = [""" % (*SITE, RA, DEC, *START))
for minute in MINUTES:
    t = 60.0 * minute
    here, rate = direction(t), (direction(t + 10) - direction(t - 10)) / 20
    print("  [%g, %s]," % (t, ", ".join("%.15f" % v for v in here) + ", " + ", ".join("%.17f" % v for v in rate)))
    print("zenith distance %.3f" % np.degrees(np.arccos(here[2])), file=sys.stderr)
print("];")
