/**
 * Station positions as a text table, in the axes named by its header: local east, north, up; ITRF x, y, z; or
 * longitude, latitude and height. Without a header: local metres, with or without a name in the first column.
 */
import { refuse } from '../core/errors.js';
import type { Vector3 } from '../core/vector.js';
import { ecefToEnu, ecefToSite, enuToEcef, siteToEcef } from './earth.js';
import type { Site, Station } from './telescope.js';

const local = ['name', 'east_m', 'north_m', 'up_m'] as const;
const forms = {
  local,
  itrf: ['name', 'x_m', 'y_m', 'z_m'],
  geodetic: ['name', 'longitude_deg', 'latitude_deg', 'height_m'],
} as const;
type Form = keyof typeof forms;
/** Local axes are not useful beyond this: probably other units or another frame. */
const farthestM = 1e6;

/** `path` is only for messages, which name the file, the line and the column. */
export function parsePositions(text: string, path: string, site: Site): Station[] {
  const { lines, isBare, form } = formOf(text, path);
  const stations: Station[] = [];
  const lineOf = new Map<string, number>();
  lines.forEach((row, index) => {
    if ((index === 0 && !isBare) || row.trim() === '') return;
    const cells = row.split(',').map((cell) => cell.trim());
    const whole = isBare && cells.length === 3 ? [String(stations.length + 1), ...cells] : cells;
    const station = parseStation(whole, `${path}, line ${index + 1}`, form, site);
    const earlier = lineOf.get(station.name);
    if (earlier !== undefined) {
      refuse(
        `${path}, line ${index + 1}, column name`,
        `'${station.name}' is already on line ${earlier}`,
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

/** Lines of the table, and their axes: those of its header, or local metres without one. */
function formOf(text: string, path: string): { lines: readonly string[]; isBare: boolean; form: Form } {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const header = lines[0].split(',').map((cell) => cell.trim());
  const named = (Object.keys(forms) as Form[]).find(
    (form) => forms[form].join() === header.join().toLowerCase(),
  );
  const isBare = named === undefined && header.slice(-3).length === 3 && header.slice(-3).every(isNumber);
  if (named === undefined && !(isBare && header.length <= 4)) {
    refuse(
      `${path}, line 1`,
      `the header is '${lines[0]}'`,
      `make it ${local.join()}, ${forms.itrf.join()} or ${forms.geodetic.join()}`,
    );
  }
  return { lines, isBare, form: named ?? 'local' };
}

/** The centre of stations given by positions on the Earth; undefined if they are in local metres. */
export function siteOfPositions(text: string, path: string): Site | undefined {
  const { form, lines } = formOf(text, path);
  if (form === 'local') return undefined;
  // Relative to the first station, then to the centre of all; an invalid line is refused when it is read.
  const [, x, y, z] = (lines.slice(1).find((row) => row.trim() !== '') ?? '').split(',').map(Number);
  const isPlace = [x, y, z].every(Number.isFinite);
  const there: Site =
    form === 'itrf' ? ecefToSite({ x, y, z }) : { longitudeDeg: x, latitudeDeg: y, heightM: z };
  const seen = isPlace ? there : { longitudeDeg: 0, latitudeDeg: 0, heightM: 0 };
  const stations = parsePositions(text, path, seen);
  const mean = (axis: 'eastM' | 'northM' | 'upM'): number =>
    stations.reduce((sum, station) => sum + station[axis], 0) / stations.length;
  const middle = enuToEcef({ x: mean('eastM'), y: mean('northM'), z: mean('upM') }, seen);
  const centre = siteToEcef(seen);
  return ecefToSite({ x: centre.x + middle.x, y: centre.y + middle.y, z: centre.z + middle.z });
}

const isNumber = (cell: string): boolean => cell !== '' && Number.isFinite(Number(cell));

function parseStation(cells: readonly string[], where: string, form: Form, site: Site): Station {
  const columns = forms[form];
  if (cells.length !== columns.length) {
    refuse(where, `${cells.length} columns where ${columns.length} belong`, `write ${columns.join()}`);
  }
  if (cells[0] === '') refuse(`${where}, column name`, 'the name is empty', 'name every station');
  const [first, second, third] = ([1, 2, 3] as const).map((column) => {
    if (!isNumber(cells[column]))
      refuse(
        `${where}, column ${columns[column]}`,
        `'${cells[column]}' is not ${columns[column].endsWith('_deg') ? 'an angle in degrees' : 'a length in metres'}`,
        `give a number within ±${farthestM} in local east, north, up`,
      );
    return Number(cells[column]);
  });
  const { x, y, z } = localPlace([first, second, third], { where, form, site });
  [x, y, z].forEach((value, axis) => {
    if (!(Math.abs(value) <= farthestM))
      refuse(
        `${where}, column ${columns[axis + 1]}`,
        `'${cells[axis + 1]}' is not ${form === 'local' ? 'a length in metres' : `within ${farthestM} m of the site`}`,
        form === 'local'
          ? `give a number within ±${farthestM} in local east, north, up`
          : "correct it, or the description's site",
      );
  });
  return { name: cells[0], eastM: x, northM: y, upM: z };
}

function localPlace(
  [first, second, third]: readonly [number, number, number] | number[],
  { where, form, site }: { readonly where: string; readonly form: Form; readonly site: Site },
): Vector3 {
  if (form === 'local') return { x: first, y: second, z: third };
  if (form === 'geodetic' && !(Math.abs(first) <= 360 && Math.abs(second) <= 90))
    refuse(
      where,
      `longitude ${first}°, latitude ${second}° is no place`,
      'write longitude first, in degrees',
    );
  const place =
    form === 'itrf'
      ? { x: first, y: second, z: third }
      : siteToEcef({ longitudeDeg: first, latitudeDeg: second, heightM: third });
  const centre = siteToEcef(site);
  return ecefToEnu({ x: place.x - centre.x, y: place.y - centre.y, z: place.z - centre.z }, site);
}
