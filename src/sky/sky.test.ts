import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SiderealTime } from 'astronomy-engine';
import { parseInstant, toDate } from '../core/instant.js';
import { dot, cross } from '../core/vector.js';
import type { Telescope } from '../telescope/telescope.js';
import { sourcesUp } from './above.js';
import { elementVoltage } from './beam.js';
import { IDENTITY } from './feeds.js';
import { coherency, mixOf } from './sky-signals.js';
import { altitudeDeg, azimuthDeg, directionFromAltAz, skyFrame } from './frame.js';
import { fixedSource, parseSource, sourceAt } from './source.js';
import { findSources, sourceNames } from './sources.js';

const site = { latitudeDeg: 34.348358, longitudeDeg: -106.885783, heightM: 1477.8 };
const moment = parseInstant('2026-06-21T04:00:00Z');
const frame = skyFrame(site, moment);
const close = (got: number, expected: number, tolerance: number, what = ''): void => {
  assert.ok(Math.abs(got - expected) <= tolerance, `${what} ${got} should be ${expected} ± ${tolerance}`);
};

describe('frame', () => {
  it('puts the zenith at the local sidereal time and the site’s latitude', () => {
    // J2000 against the equator of 2026.5: precession moves RA by 26.5 yr · 46.1″/yr · (1 + tan δ sin α ·
    // 20.04/46.1) and Dec by 26.5 yr · 20.04″/yr · cos α: at most 0.45° and 0.15° here.
    const siderealDeg = (SiderealTime(toDate(moment)) * 15 + site.longitudeDeg + 360) % 360;
    close(frame.zenith.raDeg, siderealDeg, 0.45);
    close(frame.zenith.decDeg, site.latitudeDeg, 0.2);
    close(frame.directionEnu(frame.zenith).z, 1, 1e-12);
  });

  it('lets Vir A cross the meridian at 90° − |latitude − declination|', () => {
    const [virgo] = findSources(['Vir A']);
    let highest = { altitude: -90, azimuth: 0 };
    for (let minute = 0; minute < 24 * 60; minute++) {
      const here = skyFrame(site, { ...moment, unixSeconds: moment.unixSeconds + 60 * minute });
      const direction = here.directionEnu(virgo.position(here));
      const altitude = altitudeDeg(direction);
      if (altitude > highest.altitude) highest = { altitude, azimuth: azimuthDeg(direction) };
    }
    // 90 − (34.348 − 12.391) = 68.04; precession: 26.5 yr · 20.04″ · cos 187.7° = −0.146°
    close(highest.altitude, 68.04 - 0.146, 0.02);
    close(highest.azimuth, 180, 1);
  });

  it('knows east from west and north from south', () => {
    const east = directionFromAltAz(60, 90);
    close(east.x, 0.5, 1e-12);
    close(directionFromAltAz(60, 0).y, 0.5, 1e-12);
    // A position in the east has yet to culminate: its RA is greater than the zenith's.
    const aheadDeg = frame.positionOf(east).raDeg - frame.zenith.raDeg;
    assert.ok((aheadDeg + 360) % 360 < 90, `${aheadDeg}`);
    assert.ok(frame.positionOf(directionFromAltAz(60, 0)).decDeg > frame.zenith.decDeg + 29);
    close(azimuthDeg(frame.directionEnu(frame.positionOf(directionFromAltAz(40, 123)))), 123, 1e-9);
  });

  it('gives orthonormal, right-handed tangent axes', () => {
    const { l, m, n } = frame.tangentAxes({ raDeg: 200, decDeg: 40 });
    for (const axis of [l, m, n]) close(dot(axis, axis), 1, 1e-12);
    close(dot(l, m), 0, 1e-12);
    close(dot(l, n), 0, 1e-12);
    close(dot(cross(l, m), n), 1, 1e-12);
    const atZenith = frame.tangentAxes(frame.zenith);
    // East and north of date and of J2000 differ by a fraction of a degree.
    assert.ok(atZenith.l.x > 0.99 && atZenith.m.y > 0.99 && atZenith.n.z > 0.999999);
  });
});

describe('sources', () => {
  it('are ten, nine calibrators, the Moon and seven planets, and found however they are spelt', () => {
    assert.equal(sourceNames().length, 27);
    assert.deepEqual(
      findSources(['cyg a', 'CasA', 'vir-a']).map(({ name }) => name),
      ['Cyg A', 'Cas A', 'Vir A'],
    );
    assert.equal(findSources('all').length, 10);
    assert.throws(() => findSources(['Cyg B']), /'Cyg B' is unknown; choose Cas A/);
  });

  it('have the fluxes people measure', () => {
    const fluxJy = (name: string, frequencyHz: number): number => findSources([name])[0].fluxJy(frequencyHz);
    // 10^a₀ at 1 GHz
    close(fluxJy('Tau A', 1e9), 894.5, 0.1);
    close(fluxJy('Cyg A', 1e9), 2237.7, 0.1);
    // Cen A at 1.4 GHz, the frequency of its normalisation
    close(fluxJy('Cen A', 1.4e9), 1330, 1);
    // 74 MHz: the usual literature values, to a tenth
    close(fluxJy('Cyg A', 74e6), 17_000, 1_700);
    close(fluxJy('Cas A', 74e6), 18_000, 1_800);
    close(fluxJy('Vir A', 74e6), 2_100, 210);
    for (const { name } of findSources('all')) assert.ok(fluxJy(name, 60e6) > 100, name);
    // The Sun: table points, and halfway between 50 and 100 MHz in the logarithm
    close(fluxJy('Sun', 50e6), 5.4e3, 1e-6);
    close(fluxJy('Sun', Math.sqrt(50e6 * 100e6)), Math.sqrt(5.4e3 * 2.4e4), 1e-6);
    assert.ok(fluxJy('Sun', 10e6) < 1.7e3 && fluxJy('Sun', 1e9) > 2.13e5);
    // Outside the table its end slopes continue: from 30 to 15 MHz as from 30 to 50, and from 400 to 800 as from 300.
    close(fluxJy('Sun', 15e6), 1.7e3 * 0.5 ** (Math.log(5.4 / 1.7) / Math.log(5 / 3)), 1e-6);
    close(fluxJy('Sun', 800e6), 2.13e5 * 2 ** (Math.log(213 / 149) / Math.log(4 / 3)), 1e-4);
    close(fluxJy('Sun', 30e6), 1.7e3, 1e-6);
    // The higher terms of the curves, summed by hand at 10 GHz, where every power of log₁₀ f is one.
    close(fluxJy('Hyd A', 1e10), 10 ** (1.7795 - 0.9176 - 0.0843 - 0.0139 + 0.0295), 1e-9);
    close(fluxJy('Cas A', 1e10), 10 ** (3.3584 - 0.7518 - 0.0347 - 0.0705), 1e-9);
    close(fluxJy('Her A', 1e10), 10 ** (1.8298 - 1.0247 - 0.0951), 1e-9);
    close(fluxJy('Pic A', 1e10), 10 ** (1.938 - 0.747 - 0.0739), 1e-9);
    close(fluxJy('For A', 1e10), 10 ** (2.2175 - 0.6606), 1e-9);
  });

  it('stand where catalogues have them', () => {
    // Hours, minutes, seconds and degrees, minutes, seconds of J2000, in their usual form.
    const catalogue: readonly [
      string,
      readonly [number, number, number],
      readonly [number, number, number],
    ][] = [
      ['Cas A', [23, 23, 24], [58, 48, 54]],
      ['Cyg A', [19, 59, 28.36], [40, 44, 2.1]],
      ['Vir A', [12, 30, 49.42], [12, 23, 28]],
      ['Tau A', [5, 34, 31.94], [22, 0, 52.2]],
      ['Cen A', [13, 25, 27.6], [-43, 1, 8.8]],
      ['Her A', [16, 51, 8.15], [4, 59, 33.3]],
      ['Hyd A', [9, 18, 5.65], [-12, 5, 44]],
      ['Pic A', [5, 19, 49.72], [-45, 46, 43.8]],
      ['For A', [3, 22, 41.7], [-37, 12, 29.6]],
    ];
    for (const [name, [hours, minutes, seconds], [degrees, arcminutes, arcseconds]] of catalogue) {
      const { raDeg, decDeg } = findSources([name])[0].position(frame);
      close(raDeg, 15 * (hours + minutes / 60 + seconds / 3600), 1e-3, name);
      const sign = degrees < 0 ? -1 : 1;
      close(decDeg, sign * (Math.abs(degrees) + arcminutes / 60 + arcseconds / 3600), 1e-3, name);
    }
  });

  it('include the Sun, which stands at RA 6 h, +23.4° at the June solstice', () => {
    const [sun] = findSources(['Sun']);
    // Solstice of 2026: 21 June 08:25 UTC; RA is 90° of date, 0.4° less in J2000.
    const position = sun.position(skyFrame(site, parseInstant('2026-06-21T08:25:00Z')));
    close(position.raDeg, 90 - 0.4, 0.05);
    close(position.decDeg, 23.437, 0.01);
  });

  it('can be given by hand', () => {
    const source = parseSource('blob:187.7:-12.4:1000:-0.5');
    assert.deepEqual(source.position(frame), { raDeg: 187.7, decDeg: -12.4 });
    close(source.fluxJy(100e6), 1000, 1e-9);
    close(source.fluxJy(400e6), 500, 1e-9);
    close(parseSource('flat:0:0:3').fluxJy(1e6), 3, 1e-12);
    for (const wrong of ['blob', 'b:1:2', ':1:2:3', 'b:1:2:x', 'b:1::3', 'b:1:2:3:4:5']) {
      assert.throws(() => parseSource(wrong), /write NAME:RA_DEG:DEC_DEG:FLUX_JY/, wrong);
    }
    assert.throws(() => parseSource('b:1:91:3'), /source b: declination is 91/);
    assert.throws(() => parseSource('b:-1:1:3'), /right ascension is -1/);
    assert.throws(() => parseSource('b:1:1:-3'), /flux in Jy is -3/);
    const stokes = { q: 0.8, u: 0.8, v: 0 };
    assert.throws(
      () => fixedSource({ name: 'b', position: frame.zenith, fluxJy: 1, stokes }),
      /keep √\(q² \+ u² \+ v²\) ≤ 1/,
    );
  });

  it('are sorted by how bright they look, and only those that are up', () => {
    const telescope = { beamExponent: 1 } as Telescope;
    const low = sourceAt(frame, 30, 90, 300, 'low');
    const high = sourceAt(frame, 80, 0, 200, 'high');
    const set = sourceAt(frame, -5, 0, 1000, 'set');
    const names = (options?: object): string[] =>
      sourcesUp([low, set, high], frame, 10, options).map(({ source }) => source.name);
    assert.deepEqual(names(), ['low', 'high']);
    // Through the beam: 300·sin²30° = 75 below 200·sin²80° = 194
    assert.deepEqual(names({ telescope, frequencyHz: 60e6 }), ['high', 'low']);
    const [up] = sourcesUp([low], frame, 10, { telescope });
    close(up.altitudeDeg, 30, 1e-9);
    close(up.azimuthDeg, 90, 1e-9);
    close(up.apparentFluxJy, 75, 1e-6);
    assert.throws(() => sourcesUp([], frame, Number.NaN), /minimum altitude in degrees is NaN/);
  });
});

describe('beam', () => {
  it('is cos(zenith angle)^exponent in voltage and nothing below the horizon', () => {
    const telescope = { beamExponent: 2 } as Telescope;
    close(elementVoltage(telescope, directionFromAltAz(30, 77)), 0.25, 1e-12);
    assert.equal(elementVoltage(telescope, { x: 0, y: 0, z: 1 }), 1);
    assert.equal(elementVoltage(telescope, directionFromAltAz(-10, 0)), 0);
    assert.equal(elementVoltage({ beamExponent: 0 }, directionFromAltAz(-10, 0)), 0);
    // The response at the horizon itself is 0, for any beam.
    for (const beamExponent of [0, 1]) {
      assert.equal(elementVoltage({ beamExponent }, { x: 1, y: 0, z: 0 }), 0);
    }
  });
});

describe('coherency', () => {
  it('follows XX = I − Q, YY = I + Q, XY = U − iV', () => {
    assert.deepEqual(coherency({ q: 0.25, u: 0.5, v: 0.125 }, IDENTITY), {
      xx: 0.75,
      yy: 1.25,
      xyRe: 0.5,
      xyIm: -0.125,
    });
  });

  it('is what the mixed signals have', () => {
    for (const [q, u, v] of [
      [0, 0, 0],
      [0.3, 0.5, -0.4],
      [-1, 0, 0],
      [1, 0, 0],
      [0, 0, 1],
    ]) {
      const wanted = coherency({ q, u, v }, IDENTITY);
      const { x1, y1Re, y1Im, y2 } = mixOf(wanted);
      close(x1 ** 2, wanted.xx, 1e-12);
      close(y1Re ** 2 + y1Im ** 2 + y2 ** 2, wanted.yy, 1e-12);
      // ⟨X conj Y⟩ = x1 · conj(y1)
      close(x1 * y1Re, wanted.xyRe, 1e-12);
      close(-x1 * y1Im, wanted.xyIm, 1e-12);
    }
  });
});
