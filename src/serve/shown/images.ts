/** Images of files on the page. */
import { basename } from 'node:path';
import { instant } from '../../core/instant.js';
import { DEGREES_PER_RADIAN, RADIANS_PER_DEGREE } from '../../core/units.js';
import { readFitsImage, type ReadFitsImage } from '../../formats/index.js';
import { skyFrame } from '../../sky/frame.js';
import { findSources } from '../../sky/sources.js';
import type { Frame } from '../image-history.js';
import type { SkySource } from '../messages.js';
import type { Page } from '../open.js';
import { colourRange } from '../planes.js';

/** 2000-01-01T12:00:00Z. */
const J2000_UNIX_S = 946_728_000;

/** Catalogued sources in an image, in SIN projection, from its middle. */
const sourcesIn = ({
  centre,
  pixels,
  pixelSize,
  reference,
}: Pick<ReadFitsImage, 'centre' | 'pixels' | 'pixelSize' | 'reference'>): SkySource[] =>
  findSources('all')
    .filter(({ name }) => name !== 'Sun')
    .flatMap((source) => {
      // Stars are fixed: any frame will do.
      const { raDeg, decDeg } = source.position(
        skyFrame({ latitudeDeg: 0, longitudeDeg: 0, heightM: 0 }, instant(J2000_UNIX_S)),
      );
      const [dec, dec0] = [decDeg * RADIANS_PER_DEGREE, centre.decDeg * RADIANS_PER_DEGREE];
      const hour = (raDeg - centre.raDeg) * RADIANS_PER_DEGREE;
      const l = Math.cos(dec) * Math.sin(hour);
      const m = Math.sin(dec) * Math.cos(dec0) - Math.cos(dec) * Math.sin(dec0) * Math.cos(hour);
      const n = Math.sin(dec) * Math.sin(dec0) + Math.cos(dec) * Math.cos(dec0) * Math.cos(hour);
      if (n <= 0.03) return [];
      return [
        {
          name: source.name,
          l: l - (pixels / 2 - reference.column) * pixelSize,
          m: m - (pixels / 2 - reference.row) * pixelSize,
          altitudeDeg: Math.asin(Math.min(1, n)) * DEGREES_PER_RADIAN,
          azimuthDeg: (Math.atan2(l, m) * DEGREES_PER_RADIAN + 360) % 360,
        },
      ];
    });

/** The first plane, the mean over channels or times. */
export async function showFits(page: Page, path: string): Promise<void> {
  const image = await readFitsImage(path);
  const { pixels, channels, pixelSize, unit, details, values } = image;
  const size = pixels * pixels;
  const plane = new Float32Array(size);
  for (let at = 0; at < size; at++) {
    let [sum, filled] = [0, 0];
    for (let c = 0; c < channels; c++) {
      const value = values[c * size + at];
      if (Number.isNaN(value)) continue;
      sum += value;
      filled++;
    }
    plane[at] = filled > 0 ? sum / filled : NaN;
  }
  const { 'DATE-OBS': date } = details;
  const time = typeof date === 'string' ? date : '';
  const unixS = Number.isNaN(Date.parse(`${time}Z`))
    ? page.state.imageHistory.all.length
    : Date.parse(`${time}Z`) / 1000;
  const halfWidth = Math.min(1, (pixelSize * pixels) / 2);
  const frame: Frame = {
    unixS,
    plane,
    head: {
      topic: 'sky',
      file: path,
      shape: [pixels, pixels],
      time: `${time}Z`,
      durationS: Number(details.EXPTIME ?? NaN),
      number: page.state.totals.images + 1,
      ageS: 0,
      everyS: Infinity,
      pixelSize,
      halfWidth,
      unit,
      method: basename(path),
      ...colourRange(plane),
      sources: sourcesIn(image),
    },
  };
  page.state.show(frame);
}
