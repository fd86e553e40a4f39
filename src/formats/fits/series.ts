/** A time series of images in one FITS file: RA, Dec, seconds since the first, and a table of starts and centres. */
import type { PlaneML } from '../../core/axes.js';
import {
  addSeconds,
  formatInstant,
  refuseLeapSecond,
  secondsBetween,
  type Instant,
} from '../../core/instant.js';
import type { SkyPosition } from '../../sky/frame.js';
import type { OutputFile } from '../io/output.js';
import {
  headerBytes,
  integerCard,
  logicalCard,
  paddedBytes,
  realCard,
  remarkCards,
  textCards,
} from './fits.js';
import { axis, beamCards, skyAxes, type FitsImage } from './image.js';
import { tableBytes } from './table.js';

interface SeriesPlane {
  readonly plane: PlaneML;
  readonly start: Instant;
  readonly durationS: number;
  /** Of its integrations together, where there are gaps between them. */
  readonly exposureS?: number;
  /** The sky position at the centre of this image. */
  readonly centre: SkyPosition;
}

/** For all images; one frequency and one Stokes parameter. */
type FitsSeries = Pick<
  FitsImage,
  'pixels' | 'pixelSize' | 'beam' | 'centre' | 'telescope' | 'object' | 'unit' | 'history'
> & { readonly frequencyHz: number; readonly everyS: number; readonly planes: readonly SeriesPlane[] };

export async function encodeFitsSeries(output: OutputFile, series: FitsSeries): Promise<void> {
  const { pixels, planes } = series;
  for (const { start, durationS } of planes)
    refuseLeapSecond(output.path, start, addSeconds(start, durationS / 2));
  await output.write(headerBytes(cardsOf(series)));
  const bytes = new DataView(new ArrayBuffer(4 * pixels * pixels));
  for (const { plane } of planes) {
    for (let row = 0; row < pixels; row++) {
      for (let column = 0; column < pixels; column++) {
        bytes.setFloat32(4 * (row * pixels + column), plane[row * pixels + (pixels - 1 - column)]);
      }
    }
    await output.write(new Uint8Array(bytes.buffer));
  }
  const size = 4 * pixels * pixels * planes.length;
  await output.write(new Uint8Array(paddedBytes(size) - size));
  const [first] = planes;
  await output.write(
    tableBytes(
      'TIMES',
      [
        {
          name: 'START',
          form: '1D',
          unit: 's',
          rows: planes.map(({ start }) => [secondsBetween(first.start, start)]),
        },
        { name: 'DURATION', form: '1D', unit: 's', rows: planes.map(({ durationS }) => [durationS]) },
        {
          name: 'EXPOSURE',
          form: '1D',
          unit: 's',
          rows: planes.map(({ durationS, exposureS = durationS }) => [exposureS]),
        },
        { name: 'RA', form: '1D', unit: 'deg', rows: planes.map(({ centre }) => [centre.raDeg]) },
        { name: 'DEC', form: '1D', unit: 'deg', rows: planes.map(({ centre }) => [centre.decDeg]) },
      ],
      [...textCards('DATE-OBS', formatInstant(first.start, 6).replace('Z', ''), 'what START counts from')],
    ),
  );
}

function cardsOf(series: FitsSeries): string[] {
  const { pixels, planes } = series;
  const [first] = planes;
  const last = planes[planes.length - 1];
  return [
    logicalCard('SIMPLE', true),
    integerCard('BITPIX', -32),
    integerCard('NAXIS', 3),
    integerCard('NAXIS1', pixels),
    integerCard('NAXIS2', pixels),
    integerCard('NAXIS3', planes.length),
    logicalCard('EXTEND', true),
    ...skyAxes(series),
    ...axis(3, 'UTC', 0, series.everyS, 1, 's'),
    ...textCards('RADESYS', 'ICRS'),
    realCard('EQUINOX', 2000),
    realCard('LONPOLE', 180),
    realCard('RESTFRQ', series.frequencyHz, 'Hz'),
    ...textCards('BUNIT', series.unit),
    ...beamCards(series),
    ...textCards('TELESCOP', series.telescope),
    ...textCards('OBJECT', series.object),
    ...textCards('TIMESYS', 'UTC'),
    ...textCards('DATEREF', formatInstant(first.start, 6).replace('Z', ''), 'start of the first image'),
    ...textCards('DATE-OBS', formatInstant(first.start, 6).replace('Z', ''), 'start'),
    realCard(
      'EXPTIME',
      planes.reduce((sum, { durationS, exposureS = durationS }) => sum + exposureS, 0),
      's',
    ),
    realCard('TELAPSE', secondsBetween(first.start, last.start) + last.durationS, 's'),
    ...textCards('ORIGIN', 'corella'),
    ...series.history.flatMap((line) => remarkCards('HISTORY', line)),
  ];
}
