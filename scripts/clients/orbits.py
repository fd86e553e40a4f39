"""Places of satellites by python3-sgp4 and python3-skyfield against ours.

    orbits.py PLACES.json

PLACES.json: a list of {one, two, latitudeDeg, longitudeDeg, heightM, utc, altitudeDeg, azimuthDeg}, the last two ours. Of
sgp4 the place in TEME is turned to the ground here, by the sidereal time of IAU 1982. Prints the largest angle between ours
and theirs; fails above 0.01 degrees, or where SGP4 gives no place and we do.
"""
import json
import math
import sys

from sgp4.api import Satrec, jday
from skyfield.api import EarthSatellite, load, wgs84

LIMIT_DEG = 0.01
timescale = load.timescale(builtin=True)


def towards(altitude, azimuth):
    altitude, azimuth = math.radians(altitude), math.radians(azimuth)
    return (math.cos(altitude) * math.sin(azimuth), math.cos(altitude) * math.cos(azimuth), math.sin(altitude))


def apart_deg(a, b):
    cross = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    return math.degrees(math.atan2(math.hypot(*cross), sum(x * y for x, y in zip(a, b))))


def by_sgp4(one, seconds):
    satellite = Satrec.twoline2rv(one['one'], one['two'])
    day, rest = jday(*seconds)
    error, (x, y, z), _ = satellite.sgp4(day, rest)
    if error:
        raise SystemExit(f'sgp4 gives error {error} for\n{one["one"]}\n{one["two"]}')
    t = timescale.utc(*seconds)
    ut1 = t.ut1
    c = (ut1 - 2451545) / 36525
    turn = math.radians((67310.54841 + (876600 * 3600 + 8640184.812866) * c + 0.093104 * c * c - 6.2e-6 * c ** 3) % 86400 / 240)
    x, y = math.cos(turn) * x + math.sin(turn) * y, math.cos(turn) * y - math.sin(turn) * x
    phi, lam = math.radians(one['latitudeDeg']), math.radians(one['longitudeDeg'])
    e2 = (2 - 1 / 298.257223563) / 298.257223563
    normal, height = 6378.137 / math.sqrt(1 - e2 * math.sin(phi) ** 2), one['heightM'] / 1000
    x -= (normal + height) * math.cos(phi) * math.cos(lam)
    y -= (normal + height) * math.cos(phi) * math.sin(lam)
    z -= (normal * (1 - e2) + height) * math.sin(phi)
    east = -math.sin(lam) * x + math.cos(lam) * y
    along = math.cos(lam) * x + math.sin(lam) * y
    return (east, -math.sin(phi) * along + math.cos(phi) * z, math.cos(phi) * along + math.sin(phi) * z)


def by_skyfield(one, seconds):
    t = timescale.utc(*seconds)
    site = wgs84.latlon(one['latitudeDeg'], one['longitudeDeg'], one['heightM'])
    altitude, azimuth, _ = (EarthSatellite(one['one'], one['two'], ts=timescale) - site).at(t).altaz()
    return towards(altitude.degrees, azimuth.degrees)


def main():
    places = json.load(open(sys.argv[1]))
    worst = {'sgp4': 0.0, 'skyfield': 0.0}
    for one in places:
        date, clock = one['utc'].rstrip('Z').split('T')
        hours, minutes, rest = clock.split(':')
        seconds = (*map(int, date.split('-')), int(hours), int(minutes), float(rest))
        ours = towards(one['altitudeDeg'], one['azimuthDeg'])
        for name, theirs in (('sgp4', by_sgp4), ('skyfield', by_skyfield)):
            worst[name] = max(worst[name], apart_deg(ours, theirs(one, seconds)))
    print(f'{len(places)} satellites: at most {worst["sgp4"]:.5f} degrees from sgp4, {worst["skyfield"]:.5f} from skyfield')
    sys.exit(0 if max(worst.values()) < LIMIT_DEG else 1)


main()
