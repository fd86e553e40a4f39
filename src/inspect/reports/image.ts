/** Report of inspect for a FITS image. */
import { formatHz, formatSeconds, withMinus } from '../../core/units.js';
import { holdsFitsImage, readFitsImage } from '../../formats/index.js';
import type { SkyPosition } from '../../sky/frame.js';
import { imagePicture, lookAtImage, type ImageFacts } from '../fits-image.js';
import type { Inspected } from './report.js';
import { line } from './text.js';

/** Undefined if the file is no image. */
export async function inspectedImage(path: string): Promise<Inspected | undefined> {
  if (!(await holdsFitsImage(path))) return undefined;
  return {
    holds: 'image',
    report: async ({ draw = [] }) => {
      const image = await readFitsImage(path);
      const look = lookAtImage(image);
      return {
        json: { path, kind: 'image', ...look.facts, details: image.details },
        lines: imageLines(path, look.facts),
        pictures: draw.includes('picture')
          ? { picture: { picture: imagePicture(look, image, path), widthPx: 1200 } }
          : {},
      };
    },
    close: () => Promise.resolve(),
  };
}

const place = ({ raDeg, decDeg }: SkyPosition): string =>
  `RA ${raDeg.toFixed(4)}°, Dec ${withMinus(decDeg.toFixed(4))}°`;
const level = (value: number, unit: string): string => `${withMinus(Number(value.toPrecision(4)))} ${unit}`;

function imageLines(path: string, look: ImageFacts): string[] {
  const { width, height, pixelDeg, channels, times, stokes, unit, beam } = look;
  return [
    line('file', path),
    line('format', 'fits, image'),
    line('pixels', `${width} × ${height} of ${Number(pixelDeg.toPrecision(4))}° in the middle`),
    line(
      'planes',
      `${stokes.length === 0 ? 'Stokes parameter not stated' : stokes.join(', ')}; ${
        times === undefined ? `${channels} channel${channels === 1 ? '' : 's'}` : `${times} images in time`
      }`,
    ),
    ...(look.frequencyHz === undefined ? [] : [line('frequency', formatHz(look.frequencyHz))]),
    ...(look.integrationS === undefined ? [] : [line('integration', formatSeconds(look.integrationS))]),
    line('centre', place(look.centre)),
    ...(beam === undefined
      ? []
      : [
          line(
            'beam',
            `${Number(beam.majorDeg.toPrecision(3))}° × ${Number(beam.minorDeg.toPrecision(3))}°, position angle ${withMinus(Math.round(beam.positionAngleDeg))}°`,
          ),
        ]),
    line('peak', `${level(look.peak, unit)} at ${place(look.peakAt)}`),
    line('noise', `${level(look.rms, unit)} rms, sources left out`),
  ];
}
