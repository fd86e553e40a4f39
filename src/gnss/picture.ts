/** Pictures of satellites. */
import { renderContactSheet, skyPicture } from '../draw/index.js';
import type { Telescope } from '../telescope/telescope.js';
import type { GnssCalibration } from './calibrate.js';
import { imageOf, imagePixel, PIXELS } from './images.js';

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
