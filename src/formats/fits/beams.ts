/**
 * The beam of every channel, as CASA writes it and CARTA and spectral-cube read it: CASAMBM in the image's header, and a
 * table BEAMS with a row for each channel of each Stokes plane. A channel whose beam nobody knows has zeros, CASA's word
 * for that.
 */
import { integerCard, logicalCard } from './fits.js';
import { tableBytes } from './table.js';

export interface FitsBeam {
  /** Full widths at half maximum. */
  readonly majorDeg: number;
  readonly minorDeg: number;
  readonly positionAngleDeg: number;
}

const ARCSECONDS = 3600;
const UNKNOWN: FitsBeam = { majorDeg: 0, minorDeg: 0, positionAngleDeg: 0 };

export const manyBeamsCards = (): string[] => [
  logicalCard('EXTEND', true),
  logicalCard('CASAMBM', true, 'a beam for each channel, table BEAMS'),
];

/** beams : [c]; the same for each of the Stokes planes. */
export function beamsTable(beams: readonly (FitsBeam | undefined)[], stokes: number): Uint8Array {
  const rows = Array.from({ length: stokes }, (_, pol) =>
    beams.map((beam = UNKNOWN, channel) => ({ ...beam, channel, pol })),
  ).flat();
  return tableBytes(
    'BEAMS',
    [
      {
        ...{ name: 'BMAJ', form: '1E', unit: 'arcsec' },
        rows: rows.map(({ majorDeg }) => [ARCSECONDS * majorDeg]),
      },
      {
        ...{ name: 'BMIN', form: '1E', unit: 'arcsec' },
        rows: rows.map(({ minorDeg }) => [ARCSECONDS * minorDeg]),
      },
      {
        ...{ name: 'BPA', form: '1E', unit: 'deg' },
        rows: rows.map(({ positionAngleDeg }) => [positionAngleDeg]),
      },
      { name: 'CHAN', form: '1J', rows: rows.map(({ channel }) => [channel]) },
      { name: 'POL', form: '1J', rows: rows.map(({ pol }) => [pol]) },
    ],
    [integerCard('NCHAN', beams.length), integerCard('NPOL', stokes)],
  );
}
