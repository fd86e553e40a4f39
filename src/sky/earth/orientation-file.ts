/** Reads the IERS's tables: finals2000A (Bulletin A), EOP C04 old and new, and the table in the package. */
import { readFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { CorellaError, refuse } from '../../core/errors.js';
import { orientationTable, type OrientationRow, type OrientationTable } from './orientation-table.js';

/** A finals2000A or EOP C04 file; the format is detected. */
export async function readEarthOrientation(path: string): Promise<OrientationTable> {
  let text: string;
  try {
    text = await readFile(path, 'latin1');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CorellaError(
      { where: path, what: `cannot be read (${reason})`, fix: 'check the path' },
      { cause },
    );
  }
  return parseEarthOrientation(text, path);
}

export function parseEarthOrientation(text: string, origin: string): OrientationTable {
  const lines = text.split(/\r?\n/);
  const rows = lines.some((line) => FINALS.test(line)) ? finalsRows(lines) : c04Rows(lines);
  if (rows.length === 0) {
    refuse(
      origin,
      "is no table of the Earth's orientation that we read",
      'give the finals2000A.all or eopc04 file of the IERS',
    );
  }
  return orientationTable(origin, rows);
}

/** Year, month and day in two columns each, the MJD with two decimals, the flag of the pole values. */
const FINALS = /^[ \d]\d[ \d]\d[ \d]\d [ \d]{5}\.\d\d [IP ]/;

/** Fixed columns. Rows after the last prediction are blank. */
function finalsRows(lines: readonly string[]): OrientationRow[] {
  return lines
    .filter(
      (line) => FINALS.test(line) && line.slice(18, 27).trim() !== '' && line.slice(58, 68).trim() !== '',
    )
    .map((line) => ({
      mjd: Number(line.slice(7, 15)),
      poleXArcsec: Number(line.slice(18, 27)),
      poleYArcsec: Number(line.slice(37, 46)),
      ut1MinusUtcS: Number(line.slice(58, 68)),
      kind: line[57] === 'P' ? 'predicted' : 'measured',
    }));
}

/** Year, month, day, (since 2023) hour, MJD, x, y, UT1 − UTC. Leap seconds began in 1972; older rows are left out. */
function c04Rows(lines: readonly string[]): OrientationRow[] {
  return lines
    .filter((line) => /^\s*\d{4}\s+\d{1,2}\s+\d{1,2}\s/.test(line))
    .map((line): OrientationRow => {
      const cells = line.trim().split(/\s+/).map(Number);
      const [mjd, poleXArcsec, poleYArcsec, ut1MinusUtcS] = cells.slice(cells[3] > 1000 ? 3 : 4);
      return { mjd, poleXArcsec, poleYArcsec, ut1MinusUtcS, kind: 'measured' };
    })
    .filter(({ mjd }) => !(mjd < FIRST_MJD));
}
/** 1972-01-01. */
const FIRST_MJD = 41_317;

/** The table in the package: every third day of a finals2000A file, written by scripts/earth-orientation.js. */
export const carriedEarthOrientation = (): OrientationTable => (carried ??= readCarried());
let carried: OrientationTable | undefined;

function readCarried(): OrientationTable {
  const text = readFileSync(new URL('data/earth-orientation.csv', import.meta.url), 'utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  const valueOf = (name: string): string =>
    new RegExp(`^# ${name}: (.*)$`, 'm').exec(text)?.[1] ??
    refuse('earth-orientation.csv', `does not say ${name}`, 'install Corella again');
  const firstMjd = Number(valueOf('first MJD'));
  const stepDays = Number(valueOf('step in days'));
  const lastMeasuredMjd = Number(valueOf('last measured MJD'));
  const rows = lines
    .filter((line) => /^-?\d/.test(line))
    .map((line, k): OrientationRow => {
      const [x, y, ut1] = line.split(',').map(Number);
      const mjd = firstMjd + k * stepDays;
      const kind = mjd <= lastMeasuredMjd ? 'measured' : 'predicted';
      return { mjd, poleXArcsec: x / 1e3, poleYArcsec: y / 1e3, ut1MinusUtcS: ut1 / 1e5, kind };
    });
  return orientationTable(`the built-in ${valueOf('origin')}`, rows);
}
