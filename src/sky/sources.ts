/** The brightest sources of the low-frequency sky, by name. A new one is one entry in a table below. */
import { refuse } from '../core/errors.js';
import type { SkyPosition } from './frame.js';
import { unpolarised, type Source } from './source.js';
import { sun } from './sun.js';

interface Spectrum {
  readonly position: SkyPosition;
  /** log₁₀(S/Jy) = Σ aₙ · log₁₀(f/GHz)ⁿ */
  readonly logFlux: readonly number[];
}

/**
 * J2000 positions. Spectra from Perley & Butler (2017, ApJS 230, 7), fitted from 50 MHz for Cyg A, Vir A, Tau A
 * and Hyd A and from 200 MHz for the rest, whose curves are drawn on below that: Cas A comes out at 18 kJy at
 * 74 MHz, as measured. Cen A, whole with its lobes: 1330 Jy at 1.4 GHz (Cooper et al. 1965) with the single
 * power law of index −0.70 found from 10 MHz up by Alvarez et al. (2000, A&A 355, 863).
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

const fixedSources = Object.entries(spectra).map(
  ([name, { position, logFlux }]: readonly [string, Spectrum]): Source => ({
    name,
    position: () => position,
    fluxJy: (frequencyHz) => {
      const x = Math.log10(frequencyHz / 1e9);
      return 10 ** logFlux.reduceRight((sum, coefficient) => sum * x + coefficient, 0);
    },
    stokes: unpolarised,
  }),
);

const named: readonly Source[] = [...fixedSources, sun];

/** Every source of the catalogue. */
export const sourceNames = (): readonly string[] => named.map(({ name }) => name);

/** "Cyg A", "cyga" and "cyg-a" are one. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[\s_-]/g, '');

/** Sources of the catalogue by name; a name that is not known is refused. */
export function findSources(names: readonly string[] | 'all'): readonly Source[] {
  if (names === 'all') return named;
  return names.map((name) => {
    const found = named.find((source) => plain(source.name) === plain(name));
    return found ?? refuse('source', `'${name}' is not one we know`, `choose ${sourceNames().join(', ')}`);
  });
}
