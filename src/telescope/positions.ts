/** Station positions as a table of text: a header line, then name,east_m,north_m,up_m for each station. */
import { refuse } from '../core/errors.js';
import type { Station } from './telescope.js';

const columns = ['name', 'east_m', 'north_m', 'up_m'] as const;
/** Farther than any array's local axes stay useful: a number in other units, or another frame. */
const farthestM = 1e6;

/** `path` is only for messages: they name the file, the line and the column. */
export function parsePositions(text: string, path: string): Station[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const header = lines[0].split(',').map((cell) => cell.trim());
  if (header.join() !== columns.join()) {
    refuse(`${path}, line 1`, `the header is '${lines[0]}'`, `make it ${columns.join()}`);
  }
  const stations: Station[] = [];
  const lineOf = new Map<string, number>();
  lines.forEach((row, index) => {
    if (index === 0 || row.trim() === '') return;
    const station = parseStation(row, `${path}, line ${index + 1}`);
    const earlier = lineOf.get(station.name);
    if (earlier !== undefined) {
      refuse(
        `${path}, line ${index + 1}, column name`,
        `'${station.name}' already stands on line ${earlier}`,
        'give every station a name of its own',
      );
    }
    lineOf.set(station.name, index + 1);
    stations.push(station);
  });
  if (stations.length === 0) {
    refuse(`${path}, line 1`, 'no stations follow the header', 'add one line per station');
  }
  return stations;
}

function parseStation(row: string, where: string): Station {
  const cells = row.split(',').map((cell) => cell.trim());
  if (cells.length !== columns.length) {
    refuse(where, `${cells.length} columns where ${columns.length} belong`, `write ${columns.join()}`);
  }
  const metres = (column: 1 | 2 | 3): number => {
    const value = cells[column] === '' ? Number.NaN : Number(cells[column]);
    if (!Number.isFinite(value) || Math.abs(value) > farthestM) {
      refuse(
        `${where}, column ${columns[column]}`,
        `'${cells[column]}' is not a length in metres`,
        `give a number within ±${farthestM} in local east, north, up`,
      );
    }
    return value;
  };
  if (cells[0] === '') refuse(`${where}, column name`, 'the name is empty', 'name every station');
  return { name: cells[0], eastM: metres(1), northM: metres(2), upM: metres(3) };
}
