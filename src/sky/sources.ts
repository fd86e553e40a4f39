/**
 * The brightest sources of the low-frequency sky, the Moon, planets and satellites, by name. A new one is one table
 * entry below.
 */
import { AstroTime, Body, GeoVector, Observer, ObserverVector } from 'astronomy-engine';
import { refuse } from '../core/errors.js';
import { toDate } from '../core/instant.js';
import { positionFromJ2000, type SkyPosition } from './frame.js';
import { joined } from './models/spectrum.js';
import { allSatellites, satellitesNamed } from './orbits/orbits.js';
import { plainName, unpolarised, type Source } from './source.js';

interface Spectrum {
  readonly position: SkyPosition;
  /** log₁₀(S/Jy) = Σ aₙ · log₁₀(f/GHz)ⁿ */
  readonly logFlux: readonly number[];
}

/**
 * J2000 positions. Spectra from Perley & Butler (2017, ApJS 230, 7), fitted from 50 MHz for Cyg A, Vir A, Tau A and Hyd
 * A and from 200 MHz for the rest, whose curves are extrapolated below that: Cas A comes out at 18 kJy at 74 MHz, as
 * measured. Cen A, whole with its lobes: 1330 Jy at 1.4 GHz (Cooper et al. 1965) with the single power law of index
 * −0.70 found from 10 MHz up by Alvarez et al. (2000, A&A 355, 863).
 */
const spectra = {
  'Cas A': {
    position: { raDeg: 350.85, decDeg: 58.815 },
    logFlux: [3.3584, -0.7518, -0.0347, -0.0705],
  },
  'Cyg A': {
    position: { raDeg: 299.86815, decDeg: 40.73392 },
    logFlux: [3.3498, -1.0022, -0.2246, 0.0227, 0.0425],
  },
  'Vir A': { position: { raDeg: 187.70593, decDeg: 12.39112 }, logFlux: [2.4466, -0.8116, -0.0483] },
  'Tau A': { position: { raDeg: 83.63308, decDeg: 22.0145 }, logFlux: [2.9516, -0.2173, -0.0473, -0.0674] },
  'Cen A': { position: { raDeg: 201.36506, decDeg: -43.01911 }, logFlux: [3.2262, -0.7] },
  'Her A': { position: { raDeg: 252.78395, decDeg: 4.99259 }, logFlux: [1.8298, -1.0247, -0.0951] },
  'Hyd A': {
    position: { raDeg: 139.52355, decDeg: -12.09555 },
    logFlux: [1.7795, -0.9176, -0.0843, -0.0139, 0.0295],
  },
  'Pic A': { position: { raDeg: 79.95717, decDeg: -45.77883 }, logFlux: [1.938, -0.747, -0.0739] },
  'For A': { position: { raDeg: 50.67375, decDeg: -37.20822 }, logFlux: [2.2175, -0.6606] },
} as const satisfies Record<string, Spectrum>;

/**
 * Calibrators of Perley & Butler (2017), fitted from 50 MHz except 3C353 and 3C444 (200 MHz); by name only, not in
 * `all`.
 */
const calibrators = {
  '3C48': { position: { raDeg: 24.42208, decDeg: 33.15976 }, logFlux: [1.3253, -0.7553, -0.1914, 0.0498] },
  '3C123': {
    position: { raDeg: 69.26823, decDeg: 29.67051 },
    logFlux: [1.8017, -0.7884, -0.1035, -0.0248, 0.009],
  },
  '3C147': {
    position: { raDeg: 85.65057, decDeg: 49.85201 },
    logFlux: [1.4516, -0.6961, -0.2007, 0.064, -0.0464, 0.0289],
  },
  '3C196': {
    position: { raDeg: 123.40023, decDeg: 48.2174 },
    logFlux: [1.2872, -0.853, -0.1534, -0.02, 0.0201],
  },
  '3C286': { position: { raDeg: 202.78453, decDeg: 30.50916 }, logFlux: [1.2481, -0.4507, -0.1798, 0.0357] },
  '3C295': {
    position: { raDeg: 212.83542, decDeg: 52.20278 },
    logFlux: [1.4701, -0.7658, -0.278, -0.0347, 0.0399],
  },
  '3C353': { position: { raDeg: 260.1175, decDeg: -0.97972 }, logFlux: [1.8627, -0.6938, -0.0998, -0.0732] },
  '3C380': {
    position: { raDeg: 277.38242, decDeg: 48.74617 },
    logFlux: [1.232, -0.7909, 0.0947, 0.0976, -0.1794, -0.1566],
  },
  '3C444': { position: { raDeg: 333.60729, decDeg: -17.02675 }, logFlux: [1.1064, -1.0052, -0.075, -0.0767] },
} as const satisfies Record<string, Spectrum>;

/** The last digit of the positions above; that of Cas A is rounded to 0.001°, a hundredth of its size. */
const accuracyOf = (name: string): number => (name === 'Cas A' ? 1e-3 : 1e-5);

const sourceOf = ([name, { position, logFlux }]: readonly [string, Spectrum]): Source => ({
  name,
  accuracyDeg: accuracyOf(name),
  position: () => position,
  fluxJy: (frequencyHz) => {
    const x = Math.log10(frequencyHz / 1e9);
    return 10 ** logFlux.reduceRight((sum, coefficient) => sum * x + coefficient, 0);
  },
  stokes: unpolarised,
});

/**
 * Flux of the quiet Sun, at sunspot minimum, close to the levels collected by Benz (2009, Landolt–Börnstein VI/4B, 4.1.1.6): a
 * corona of nearly 10⁶ K, so about f² at first, flatter above. Real days are often brighter.
 */
const quietSun = [
  { frequencyHz: 30e6, fluxJy: 1.7e3 },
  { frequencyHz: 50e6, fluxJy: 5.4e3 },
  { frequencyHz: 100e6, fluxJy: 2.4e4 },
  { frequencyHz: 150e6, fluxJy: 5.1e4 },
  { frequencyHz: 200e6, fluxJy: 8.1e4 },
  { frequencyHz: 300e6, fluxJy: 1.49e5 },
  { frequencyHz: 400e6, fluxJy: 2.13e5 },
];

const sun: Source = {
  name: 'Sun',
  isMoving: true,
  position: (frame) => frame.sun,
  fluxJy: joined(quietSun),
  stokes: unpolarised,
};

/** The Moon and the planets. The user gives their flux. */
const bodyNames = [
  Body.Moon,
  Body.Mercury,
  Body.Venus,
  Body.Mars,
  Body.Jupiter,
  Body.Saturn,
  Body.Uranus,
  Body.Neptune,
] as const;

/** As seen from the site; the frame adds aberration. */
const bodies: readonly Source[] = bodyNames.map((name) => ({
  name,
  isMoving: true,
  position: ({ moment, site }) => {
    const time = new AstroTime(toDate(moment));
    const centre = GeoVector(name, time, false);
    const own = ObserverVector(time, new Observer(site.latitudeDeg, site.longitudeDeg, site.heightM), false);
    return positionFromJ2000({ x: centre.x - own.x, y: centre.y - own.y, z: centre.z - own.z });
  },
  fluxJy: () => 0,
  stokes: unpolarised,
}));

const bright: readonly Source[] = [...Object.entries(spectra).map(sourceOf), sun];
const named: readonly Source[] = [...bright, ...Object.entries(calibrators).map(sourceOf), ...bodies];

/** Every source of the catalogue. */
export const sourceNames = (): readonly string[] => named.map(({ name }) => name);

/** Sources of the catalogue by name; for `all`, the brightest and all satellites. Unknown names are refused. */
export function findSources(names: readonly string[] | 'all'): readonly Source[] {
  if (names === 'all') return [...bright, ...allSatellites()];
  return names.flatMap((name) => {
    const asked = plainName(name);
    if (asked === 'all') return findSources('all');
    if (asked === 'satellites') return needed(allSatellites());
    const own = named.find((source) => plainName(source.name) === asked);
    if (own) return [own];
    const satellites = satellitesNamed(name);
    if (satellites.length > 1)
      refuse(
        'source',
        `'${name}' is ${satellites.length} satellites of the orbits in use`,
        'give its number in the catalogue',
      );
    return satellites.length === 1
      ? satellites
      : refuse(
          'source',
          `'${name}' is unknown`,
          `choose ${sourceNames().join(', ')}; or a satellite of \`orbits\``,
        );
  });
}

const needed = (satellites: readonly Source[]): readonly Source[] =>
  satellites.length > 0
    ? satellites
    : refuse('source', 'no orbits of satellites are known', 'give a file of them with orbits: FILE');

/** NAME:FLUX_JY, the same at every frequency: for objects with a known position, or for all satellites. */
export function withFlux(text: string): readonly Source[] | undefined {
  const match = /^([^:@]+):([\d.eE+-]+)$/.exec(text.trim());
  if (!match) return undefined;
  const [, name, flux] = match;
  const fluxJy = Number(flux);
  if (!(fluxJy > 0 && fluxJy <= 1e15))
    refuse(`source '${text}'`, `its flux is ${flux}`, 'give one above 0 Jy');
  return findSources([name]).map((source) => ({ ...source, fluxJy: () => fluxJy }));
}
