/**
 * A user's own beam: CSV with the columns za_deg, x_power, y_power, and az_deg and frequency_hz if it depends on them;
 * x_re, x_im, y_re, y_im instead of powers if it has phases. Rows form a full grid; values between grid points are
 * interpolated linearly, values outside are unknown.
 */
import { refuse } from '../../core/errors.js';
import { numberTable, readText } from '../read-text.js';
import type { ElementBeam } from './element-beam.js';

const PLACES = ['za_deg', 'az_deg', 'frequency_hz'] as const;
const POWERS = ['x_power', 'y_power'] as const;
/** In the order of Voltages. */
const VOLTAGES = ['x_re', 'y_re', 'x_im', 'y_im'] as const;
type Column = (typeof PLACES | typeof POWERS | typeof VOLTAGES)[number];

export const readBeamTable = (path: string): ElementBeam =>
  parseBeamTable(readText(path, 'the table of a beam cannot be read'), path);

export function parseBeamTable(text: string, path: string): ElementBeam {
  const { names, rows: values } = numberTable(text, path, (columns) => {
    checkColumns(columns, path);
  });
  const hasPhases = names.includes('x_re');
  const held = hasPhases ? VOLTAGES : POWERS;
  const rows = values.map((row) => {
    const of = (name: Column): number => (names.includes(name) ? row[names.indexOf(name)] : 0);
    return {
      frequencyHz: of('frequency_hz'),
      zenithDeg: of('za_deg'),
      azimuthDeg: of('az_deg'),
      values: held.map(of),
    };
  });
  const axis = (of: (row: (typeof rows)[number]) => number): number[] =>
    [...new Set(rows.map(of))].sort((a, b) => a - b);
  const frequencies = axis(({ frequencyHz }) => frequencyHz);
  const zeniths = axis(({ zenithDeg }) => zenithDeg);
  const azimuths = axis(({ azimuthDeg }) => azimuthDeg);
  const size = frequencies.length * zeniths.length * azimuths.length;
  const grids = held.map(() => new Float64Array(size).fill(Number.NaN));
  for (const { frequencyHz, zenithDeg, azimuthDeg, values } of rows) {
    const at =
      (frequencies.indexOf(frequencyHz) * zeniths.length + zeniths.indexOf(zenithDeg)) * azimuths.length +
      azimuths.indexOf(azimuthDeg);
    values.forEach((value, p) => {
      grids[p][at] = value;
    });
  }
  const isRefused = (value: number): boolean => Number.isNaN(value) || (!hasPhases && value < 0);
  if (rows.length !== size || grids.some((values) => values.some(isRefused)))
    refuse(
      path,
      `${rows.length} rows do not make a grid of ${frequencies.length} frequencies × ${zeniths.length} zenith angles × ${azimuths.length} azimuths${hasPhases ? '' : ' of powers'}`,
      `give each combination once${hasPhases ? '' : ', with powers of 0 or more'}`,
    );
  /** The index below, and the fraction towards the next. */
  const between = (values: readonly number[], value: number): readonly [number, number, number] => {
    if (values.length === 1) return [0, 0, 0];
    if (!(value >= values[0] && value <= values[values.length - 1])) return [0, 0, Number.NaN];
    const next = Math.max(
      1,
      values.findIndex((one) => one >= value),
    );
    return [next - 1, next, (value - values[next - 1]) / (values[next] - values[next - 1])];
  };
  const look = (frequencyHz: number, zenithDeg: number, azimuthDeg: number): number[] => {
    const f = between(frequencies, frequencyHz);
    const z = between(zeniths, zenithDeg);
    // Azimuths wrap: a table that starts at 0 need not include 360.
    const last = azimuths[azimuths.length - 1];
    const isGap = azimuths.length > 1 && azimuthDeg > last;
    const a = isGap
      ? ([azimuths.length - 1, 0, (azimuthDeg - last) / (azimuths[0] + 360 - last)] as const)
      : between(azimuths, azimuthDeg);
    const value = (p: number): number => {
      let sum = 0;
      for (const [i, wf] of [
        [f[0], 1 - f[2]],
        [f[1], f[2]],
      ] as const)
        // prettier-ignore
        for (const [j, wz] of [[z[0], 1 - z[2]], [z[1], z[2]]] as const) // prettier-ignore
          for (const [k, wa] of [[a[0], 1 - a[2]], [a[1], a[2]]] as const) // prettier-ignore
            sum += wf * wz * wa * grids[p][(i * zeniths.length + j) * azimuths.length + k];
      return sum;
    };
    return held.map((_, p) => value(p));
  };
  return {
    name: path,
    title: `table ${path}`,
    pointing: 'zenith',
    states: 'each',
    voltage: (frequencyHz, { x, y, z }) => {
      if (z <= 0) return [0, 0];
      const zenithDeg = (Math.atan2(Math.hypot(x, y), z) * 180) / Math.PI;
      const azimuthDeg = ((Math.atan2(x, y) * 180) / Math.PI + 360) % 360;
      const [ofX, ofY, xIm, yIm] = look(frequencyHz, zenithDeg, azimuthDeg);
      return hasPhases ? [ofX, ofY, xIm, yIm] : [Math.sqrt(ofX), Math.sqrt(ofY)];
    },
  };
}

function checkColumns(names: readonly string[], path: string): void {
  const held = VOLTAGES.some((name) => names.includes(name)) ? VOLTAGES : POWERS;
  const needed = ['za_deg', ...held].find((name) => !names.includes(name));
  const strange = names.find((name) => ![...PLACES, ...held].some((column) => column === name));
  if (needed !== undefined || strange !== undefined)
    refuse(
      path,
      needed === undefined ? `has the column '${strange ?? ''}'` : `lacks the column '${needed}'`,
      `columns are ${[...PLACES, ...POWERS].join(', ')}, or ${VOLTAGES.join(', ')} instead of powers; az_deg and frequency_hz may be left out`,
    );
}
