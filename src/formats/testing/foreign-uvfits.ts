/** UVFITS as other programs write it, made number by number. */
import { headerBytes, integerCard, logicalCard, paddedBytes, realCard, textCards } from '../fits/fits.js';
import { tableBytes } from '../fits/table.js';

export interface Axis {
  readonly name: string;
  readonly length: number;
  readonly value: number;
  readonly step: number;
}

export interface Foreign {
  readonly axes: readonly Axis[];
  /** Name, PSCAL, PZERO. */
  readonly parameters: readonly (readonly [string, number, number])[];
  readonly groups: readonly (readonly number[])[];
  readonly antennas: readonly number[];
  /** Which of these are listed at (0, 0, 0). */
  readonly placeless?: readonly number[];
  /** STABXYZ of each, instead of a place by its number. */
  readonly places?: readonly (readonly number[])[];
  /** XYZHAND. */
  readonly hand?: 'LEFT' | 'RIGHT';
  readonly tables?: readonly Uint8Array[];
  readonly cards?: readonly string[];
  /** Bytes per number, if not 4. */
  readonly elementBytes?: 8;
  /** POLAA and POLAB of every antenna. */
  readonly feedsDeg?: readonly [number, number];
  /** TIMSYS. */
  readonly clock?: string;
}

export const axis = (name: string, length: number, value = 1, step = 1): Axis => ({
  name,
  length,
  value,
  step,
});
export const direction = [axis('RA', 1, 10), axis('DEC', 1, -20)];

export function foreignBytes(of: Foreign): Uint8Array {
  const { axes, parameters, groups, antennas, placeless = [], tables = [], cards = [] } = of;
  const header = headerBytes([
    logicalCard('SIMPLE', true),
    integerCard('BITPIX', of.elementBytes === 8 ? -64 : -32),
    integerCard('NAXIS', axes.length + 1),
    integerCard('NAXIS1', 0),
    ...axes.map(({ length }, k) => integerCard(`NAXIS${k + 2}`, length)),
    logicalCard('GROUPS', true),
    integerCard('PCOUNT', parameters.length),
    integerCard('GCOUNT', groups.length),
    ...axes.flatMap(({ name, value, step }, k) => [
      ...textCards(`CTYPE${k + 2}`, name),
      realCard(`CRVAL${k + 2}`, value),
      realCard(`CDELT${k + 2}`, step),
      realCard(`CRPIX${k + 2}`, 1),
    ]),
    ...parameters.flatMap(([name, scale, zero], k) => [
      ...textCards(`PTYPE${k + 1}`, name),
      realCard(`PSCAL${k + 1}`, scale),
      realCard(`PZERO${k + 1}`, zero),
    ]),
    ...cards,
  ]);
  const { elementBytes = 4, feedsDeg } = of;
  const data = Buffer.alloc(paddedBytes(elementBytes * groups.flat().length));
  groups.flat().forEach((value, n) => {
    if (elementBytes === 8) data.writeDoubleBE(value, 8 * n);
    else data.writeFloatBE(value, 4 * n);
  });
  const places = antennas.map(
    (number, k) =>
      of.places?.[k] ?? (placeless.includes(number) ? [0, 0, 0] : [-2.1e6 - number, -3.7e6, 4.7e6]),
  );
  const an = tableBytes(
    'AIPS AN',
    [
      { name: 'ANNAME', form: '8A', rows: antennas.map((number) => `A${number}`) },
      { name: 'STABXYZ', form: '3D', rows: places },
      { name: 'NOSTA', form: '1J', rows: antennas.map((number) => [number]) },
      ...['POLAA', 'POLAB'].flatMap((name, k) =>
        feedsDeg ? [{ name, form: '1E', rows: antennas.map(() => [feedsDeg[k]]) } as const] : [],
      ),
    ],
    [
      ...(feedsDeg ? [logicalCard('HASFEED', true)] : []),
      ...(of.hand === undefined ? [] : textCards('XYZHAND', of.hand)),
      ...(of.clock === undefined ? [] : textCards('TIMSYS', of.clock)),
      realCard('ARRAYX', 0),
      realCard('ARRAYY', 0),
      realCard('ARRAYZ', 0),
    ],
  );
  return Buffer.concat([header, data, an, ...tables]);
}

/** Two antennas 41 and 300, one XX value, no WW: the minimal file. */
export const least: Foreign = {
  axes: [axis('COMPLEX', 3), axis('STOKES', 1, -5, -1), axis('FREQ', 1, 1e8, 1e6), ...direction],
  parameters: [
    ['UU', 1, 0],
    ['VV', 1, 0],
    ['WW', 1, 0],
    ['DATE', 1, 2_460_000.5],
    ['BASELINE', 1, 0],
  ],
  groups: [[0, 0, 0, 0.25, 65_536 + 2048 * 41 + 300, 1, 2, 3]],
  antennas: [41, 300],
};
