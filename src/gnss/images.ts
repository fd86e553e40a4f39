/** An image of each satellite from its despread correlations, with the gains applied, and pictures of them. */
import { planeML, type PlaneML } from '../core/axes.js';
import type { Vector3 } from '../core/vector.js';
import { renderContactSheet, skyPicture } from '../draw/index.js';
import type { Telescope } from '../telescope/telescope.js';
import type { GnssCalibration } from './calibrate.js';
import { along, WAVENUMBER, type Cosines, type SolvedInputs } from './solve.js';
import type { Wave } from './waves.js';

interface SatelliteImage {
  readonly prn: number;
  /** For a source of 1 in the power of the matrix's wave; NaN below the horizon. */
  readonly plane: PlaneML;
  readonly peak: Cosines;
}

/** Pixels along each side; column 0 west, row 0 south, the zenith at pixel n/2. */
const PIXELS = 128;
export const imagePixel = 2.1 / PIXELS;

export function imageOf(
  wave: Wave,
  positions: readonly Vector3[],
  { gains, solved }: SolvedInputs,
): SatelliteImage {
  const used = [...solved.keys()].filter((a) => solved[a] === 1);
  const inputs = positions.length;
  const phases = used.map((a) => Math.atan2(gains[2 * a + 1], gains[2 * a]));
  const powers = used.map((a) => Math.sqrt(wave.matrix[2 * (a * inputs + a)]) || 1);
  const pairs = used.length * (used.length - 1);
  const values = new Float64Array(PIXELS * PIXELS);
  let [best, peak] = [-Infinity, { l: 0, m: 0 }];
  for (let row = 0; row < PIXELS; row++)
    for (let column = 0; column < PIXELS; column++) {
      const here = { l: (column - PIXELS / 2) * imagePixel, m: (row - PIXELS / 2) * imagePixel };
      const at = row * PIXELS + column;
      if (Math.hypot(here.l, here.m) >= 1) {
        values[at] = NaN;
        continue;
      }
      const turns = used.map((a, k) => phases[k] + WAVENUMBER * along(positions[a], here));
      const [c, s] = [turns.map(Math.cos), turns.map(Math.sin)];
      let sum = 0;
      for (let i = 1; i < used.length; i++)
        for (let j = 0; j < i; j++) {
          const k = 2 * (used[i] * inputs + used[j]);
          const [re, im] = [wave.matrix[k], wave.matrix[k + 1]];
          const [cc, ss] = [c[i] * c[j] + s[i] * s[j], s[i] * c[j] - c[i] * s[j]];
          sum += (re * cc + im * ss) / (powers[i] * powers[j]);
        }
      values[at] = (2 * sum) / pairs;
      if (values[at] > best) [best, peak] = [values[at], here];
    }
  return { prn: wave.prn, plane: planeML(values, PIXELS), peak };
}

const SHEET_WIDTH = 600;

/** An image of each satellite from its despread correlations, with its fitted direction marked. */
export function satellitePicture(
  made: GnssCalibration,
  telescope: Telescope,
  polarisations: 1 | 2,
): Promise<Uint8Array> {
  const places = Array.from({ length: telescope.stations.length * polarisations }, (_, a) => {
    const { eastM, northM, upM } = telescope.stations[Math.floor(a / polarisations)];
    return { x: eastM, y: northM, z: upM };
  });
  const pictures = made.waves.map((wave, s) => {
    const { l, m } = made.solved.satellites[s];
    const n = Math.sqrt(Math.max(0, 1 - l * l - m * m));
    return skyPicture({
      plane: imageOf(wave, places, made.solved).plane,
      plan: {
        pixels: PIXELS,
        pixelSize: imagePixel,
        field: { kind: 'all-sky' },
        axes: { l: { x: 1, y: 0, z: 0 }, m: { x: 0, y: 1, z: 0 }, n: { x: 0, y: 0, z: 1 } },
      },
      title: [
        `GPS PRN ${wave.prn}`,
        `${telescope.title} · despread, Doppler ${wave.dopplerHz.toFixed(0)} Hz`,
        made.solved.tilt === 'known' ? '' : 'tilt of the sky undetermined',
      ],
      unit: 'of full coherence',
      sources: [{ name: `PRN ${wave.prn}`, directionEnu: { x: l, y: m, z: n } }],
    });
  });
  return renderContactSheet(pictures, { columns: Math.min(4, pictures.length), width: SHEET_WIDTH });
}
