#!/usr/bin/python3
"""Makes the numbers that src/sky/testing/*.csv hold our geometry to, by ERFA, which shares no code with us.

    erfa-places.py finals2000A.all        (Debian: python3-erfa; needs an IERS finals2000A file)

IAU 2006/2000A, the same Bulletin A drawn straight between its days, no refraction (pressure 0). Directions are apparent:
light deflection by the Sun, annual and diurnal aberration, UT1, polar motion.
"""
import sys

import erfa
import numpy as np

SITES = {  # latitude, longitude, height
    "sevilleta": (34.348358, -106.885783, 1477.8),
    "boolardy": (-26.703319, 116.670813, 377.83),
    "karoo": (-30.721527, 21.428305, 1051.7),
    "exloo": (52.915122, 6.869837, 49.3),
    "chajnantor": (-23.022886, -67.755147, 5064.0),
}
DATES = [
    (2000, 1, 1, 12, 0, 0.0),
    (2001, 7, 4, 3, 14, 15.9265),
    (2003, 10, 28, 11, 10, 0.25),
    (2005, 12, 31, 23, 59, 60.5),
    (2008, 3, 20, 5, 48, 17.125),
    (2010, 9, 23, 3, 9, 59.9),
    (2012, 6, 30, 23, 59, 59.75),
    (2014, 11, 3, 18, 30, 0.0),
    (2016, 12, 31, 23, 59, 60.25),
    (2019, 4, 10, 13, 7, 42.0),
    (2021, 12, 11, 4, 0, 0.5),
    (2024, 5, 11, 0, 0, 1.0),
    (2026, 6, 21, 4, 0, 0.0),
]
SOURCES = {  # right ascension, declination: ICRS degrees
    "Cas A": (350.85, 58.815),
    "Cyg A": (299.86815, 40.73392),
    "Vir A": (187.70593, 12.39112),
    "Tau A": (83.63308, 22.0145),
    "Cen A": (201.36506, -43.01911),
    "Her A": (252.78395, 4.99259),
    "Hyd A": (139.52355, -12.09555),
    "Pic A": (79.95717, -45.77883),
    "near the pole": (37.9, 89.264),
}


def bulletin_a(path):
    rows = []
    for line in open(path):
        if line[18:27].strip() and line[58:68].strip():
            rows.append([float(line[a:b]) for a, b in ((7, 15), (58, 68), (18, 27), (37, 46))])
    mjd, ut1, x, y = np.array(rows).T
    day = erfa.jd2cal(2400000.5, mjd)
    return mjd, ut1 - erfa.dat(day[0], day[1], day[2], 0.0), x, y


TABLE = bulletin_a(sys.argv[1])


def utc_of(date):
    return erfa.dtf2d("UTC", *date)


def orientation(utc1, utc2):
    """UT1 - UTC in seconds, the pole in radians."""
    year, month, day, _ = erfa.jd2cal(utc1, utc2)
    tai_minus_utc = erfa.dat(year, month, day, 0.0)
    mjd = (utc1 - 2400000.5) + utc2
    ut1_tai, x, y = (np.interp(mjd, TABLE[0], column) for column in TABLE[1:])
    return ut1_tai + tai_minus_utc, x * erfa.DAS2R, y * erfa.DAS2R


def observed(utc, site, ra, dec):
    """Azimuth and altitude in degrees."""
    lat, lon, height = site
    dut1, xp, yp = orientation(*utc)
    az, zd, _, _, _, _ = erfa.atco13(
        np.radians(ra), np.radians(dec), 0, 0, 0, 0, utc[0], utc[1], dut1,
        np.radians(lon), np.radians(lat), height, xp, yp, 0, 0, 0, 1)
    return np.degrees(az), 90 - np.degrees(zd)


def greenwich(utc):
    dut1, _, _ = orientation(*utc)
    tt = erfa.taitt(*erfa.utctai(*utc))
    return np.degrees(erfa.gst06a(*erfa.utcut1(*utc, dut1), *tt))


def sun(utc, site):
    """Right ascension and declination (ICRS, degrees) of the line from the site to the Sun as its light arrives."""
    lat, lon, height = site
    dut1, xp, yp = orientation(*utc)
    tt = erfa.taitt(*erfa.utctai(*utc))
    ut1 = erfa.utcut1(*utc, dut1)
    pv = erfa.pvtob(np.radians(lon), np.radians(lat), height, xp, yp, erfa.sp00(*tt), erfa.era00(*ut1))
    here = erfa.trxp(erfa.c2i06a(*tt), pv["p"]) / erfa.DAU
    _, earth = erfa.epv00(*tt)
    light_days = erfa.AULT / erfa.DAYSEC
    heliocentric, barycentric = erfa.epv00(tt[0], tt[1] - light_days)
    line = (barycentric["p"] - heliocentric["p"]) - earth["p"] - here
    ra, dec = erfa.c2s(line)
    return np.degrees(ra) % 360, np.degrees(dec)


def text_of(date):
    year, month, day, hour, minute, second = date
    return f"{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:07.4f}Z"


HEAD = "# Made by scripts/erfa-places.py with ERFA {} and finals2000A."
OUT = "src/sky/testing/"


def write(name, columns, rows):
    with open(OUT + name, "w") as file:
        print(HEAD.format(erfa.__version__), file=file)
        print(columns, file=file)
        for row in rows:
            print(*row, sep=",", file=file)
    print(name, len(rows))


places, sidereal, suns = [], [], []
for date in DATES:
    utc = utc_of(date)
    dut1, xp, yp = orientation(*utc)
    sidereal.append([text_of(date), f"{greenwich(utc):.9f}", f"{dut1:.7f}", f"{xp / erfa.DAS2R:.6f}", f"{yp / erfa.DAS2R:.6f}"])
    for name, site in SITES.items():
        for source, (ra, dec) in SOURCES.items():
            az, alt = observed(utc, site, ra, dec)
            places.append([text_of(date), name, source, f"{az:.8f}", f"{alt:.8f}"])
        az, alt = observed(utc, site, *sun(utc, site))
        suns.append([text_of(date), name, f"{az:.8f}", f"{alt:.8f}"])
write("erfa-places.csv", "utc,site,source,azimuthDeg,altitudeDeg", places)
write("erfa-sidereal.csv", "utc,greenwichDeg,ut1MinusUtcS,poleXArcsec,poleYArcsec", sidereal)
write("erfa-sun.csv", "utc,site,azimuthDeg,altitudeDeg", suns)



def enu(utc, site, ra, dec):
    az, alt = np.radians(observed(utc, site, ra, dec))
    return np.array([np.cos(alt) * np.sin(az), np.cos(alt) * np.cos(az), np.sin(alt)])


# What visibility files tell of a phase centre: sidereal time, apparent place, the catalogue's north, and a baseline's uvw.
BASELINE = np.array([1700.0, -900.0, 12.0])
axes = []
for date, name, (ra, dec) in (
    ((2021, 12, 11, 4, 0, 1.0), "boolardy", (250.0, -30.0)),
    ((2026, 6, 21, 4, 0, 0.0), "sevilleta", SOURCES["Cyg A"]),
    ((2010, 9, 23, 3, 9, 59.9), "exloo", SOURCES["Cas A"]),
):
    utc, site, step = utc_of(date), SITES[name], 1e-5
    w = enu(utc, site, ra, dec)
    north = enu(utc, site, ra, dec + step) - enu(utc, site, ra, dec - step)
    u = np.cross(north, w)
    u /= np.linalg.norm(u)
    v = np.cross(w, u)
    hours, decs = zip(*(erfa.ae2hd(*np.radians(observed(utc, site, ra, dec + k * step)), np.radians(site[0])) for k in (-1, 0, 1)))
    angle = erfa.pas(-hours[0], decs[0], -hours[2], decs[2])
    lst = np.radians((greenwich(utc) + site[1]) % 360)
    numbers = (lst, (lst - hours[1]) % (2 * np.pi), decs[1], angle, *(BASELINE @ axis for axis in (u, v, w)))
    axes.append([text_of(date), name, ra, dec, *(f"{number:.12f}" for number in numbers)])
write("erfa-axes.csv", "utc,site,raDeg,decDeg,siderealRad,apparentRaRad,apparentDecRad,northRad,uM,vM,wM", axes)

# How much earlier than the origin a wave reaches stations a kilometre and more away, through a leap second.
STATIONS = [(1000.0, 0.0, 0.0), (0.0, 1000.0, 0.0), (-2100.0, 1700.0, 35.0)]
delays = []
for start, source in (((2026, 6, 21, 4, 0, 0.0), "Cyg A"), ((2016, 12, 31, 23, 59, 0.0), "Tau A")):
    first = utc_of(start)
    tai = erfa.utctai(*first)
    for seconds in range(0, 121, 5):
        utc = erfa.taiutc(tai[0], tai[1] + seconds / 86400)
        towards = enu(utc, SITES["sevilleta"], *SOURCES[source])
        delays.append([text_of(start), source, seconds, *(f"{np.dot(at, towards) / erfa.CMPS:.17e}" for at in STATIONS)])
write("erfa-delays.csv", "startUtc,source,seconds,eastS,northS,farS", delays)
