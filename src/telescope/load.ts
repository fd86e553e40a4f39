/** Loads a telescope by a preset's name or from a user's file. */
import { readFile } from 'node:fs/promises';
import { dirname, extname, isAbsolute, join, basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CorellaError, refuse } from '../core/errors.js';
import { meantBeside } from '../core/spelling.js';
import { parseDescription } from './description.js';
import { parsePositions, siteOfPositions } from './positions.js';
import { presets, telescopeNames } from './registry.js';
import type { Station, Telescope } from './telescope.js';
import { checkedSite } from './site.js';

/** A file's text, and its name for messages. */
interface NamedText {
  readonly path: string;
  readonly text: string;
}

export function parseTelescope(files: {
  readonly description: NamedText;
  readonly positions: NamedText;
}): Telescope {
  const description = parseDescription(files.description.text, files.description.path);
  const places = parsePositions(files.positions.text, files.positions.path, description.site);
  const stations = withElements(places, description.elements, files.description.path);
  const { name, title, site, polarisations, band, recording, beamExponent, delays, mount, feedAngleDeg } =
    description;
  return {
    name,
    title,
    site,
    stations,
    polarisations,
    band,
    recording,
    beamExponent,
    ...(mount && { mount }),
    ...(feedAngleDeg !== undefined && { feedAngleDeg }),
    ...(delays && { delays }),
  };
}

function withElements(
  stations: readonly Station[],
  elements: Readonly<Record<string, string>> | undefined,
  path: string,
): readonly Station[] {
  if (!elements) return stations;
  const names = new Set(stations.map(({ name }) => name));
  const stranger = Object.keys(elements).find((name) => name !== '*' && !names.has(name));
  if (stranger !== undefined)
    refuse(path, `"elements" names '${stranger}', which is no station`, 'name stations of its positions');
  return stations.map((station) => {
    const word = Object.hasOwn(elements, station.name) ? station.name : '*';
    if (!Object.hasOwn(elements, word))
      refuse(
        path,
        `"elements" says nothing of ${station.name}`,
        'say one for every station, or "*" for all others',
      );
    return { ...station, element: elements[word] };
  });
}

/**
 * `nameOrPath`: a name of the registry, else the path of a .json description with its CSV beside it, of such a CSV
 * alone, or of an SSMIF. `polarisations` is the number in the recording, which a CSV alone does not give.
 */
export async function loadTelescope(nameOrPath: string, polarisations: 1 | 2 = 2): Promise<Telescope> {
  const path = Object.hasOwn(presets, nameOrPath)
    ? fileURLToPath(new URL(`data/${presets[nameOrPath as keyof typeof presets]}`, import.meta.url))
    : nameOrPath;
  if (!path.endsWith('.json')) {
    if (isPlacesPath(path))
      return parsePlaces(await readText(path, 'table of positions'), path, polarisations);
    const text = await readFile(path, 'utf8').catch(() => '');
    if (isSsmif(text)) return parseSsmif(text, path);
    refuse(
      'telescope',
      `'${nameOrPath}' is not known`,
      `choose ${telescopeNames().join(', ')}, or give the path of a .json description, a .csv of positions in ITRF or longitude and latitude, or an LWA station's SSMIF`,
    );
  }
  const description = { path, text: await readText(path, 'telescope description') };
  const named = parseDescription(description.text, path).positions;
  const positionsPath = isAbsolute(named) ? named : join(dirname(path), named);
  const positions = {
    path: positionsPath,
    text: await readText(positionsPath, `positions named by ${path}`),
  };
  return parseTelescope({ description, positions });
}

async function readText(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const reason = error instanceof Error ? error.message : String(error);
    throw new CorellaError(
      {
        where: path,
        what: `the ${what} cannot be ${missing ? 'found' : `read (${reason})`}`,
        fix: (missing ? await meantBeside(path, extname(path)) : undefined) ?? 'check the path',
      },
      { cause: error },
    );
  }
}

const isPlacesPath = (path: string): boolean => extname(path).toLowerCase() === '.csv';

/** Heights of plausible telescope sites; others are probably in other units. */
const [LOWEST_M, HIGHEST_M] = [-500, 10_000];

/** Assumes no beam. */
function parsePlaces(text: string, path: string, polarisations: 1 | 2): Telescope {
  const site =
    siteOfPositions(text, path) ??
    refuse(
      path,
      'positions in local metres do not state where on Earth they are',
      'write name,x_m,y_m,z_m (ITRF) or name,longitude_deg,latitude_deg,height_m; or name them in a JSON description, which has the site',
    );
  if (!(site.heightM >= LOWEST_M && site.heightM <= HIGHEST_M))
    refuse(
      path,
      `its stations are ${site.heightM.toFixed(0)} m above the ellipsoid`,
      'write metres and degrees',
    );
  return {
    name: basename(path, extname(path)),
    title: `the stations of ${basename(path)}`,
    site,
    stations: parsePositions(text, path, site),
    polarisations,
    band: { lowHz: 1, highHz: 1e12 },
    recording: { centreFrequencyHz: 1e8, sampleRateHz: 1e6, channels: 64, bits: 8 },
    beamExponent: 0,
  };
}

const isSsmif = (text: string): boolean => /^\s*STATION_ID\s+\S/m.test(text) && /^\s*N_STD\s+\d/m.test(text);

function parseSsmif(text: string, path: string): Telescope {
  const facts = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const match = /^\s*([A-Z_]+(?:\[\d+\])?)\s+(\S+)/.exec(line.split('#')[0]);
    if (match) facts.set(match[1], match[2]);
  }
  const number = (key: string, otherwise?: number): number => {
    const given = facts.get(key);
    const value = given === undefined ? otherwise : Number(given);
    if (value === undefined || !Number.isFinite(value))
      refuse(path, given === undefined ? `lacks ${key}` : `says ${key} ${given}`, 'give a whole SSMIF');
    return value;
  };
  const count = number('N_STD');
  if (!Number.isSafeInteger(count) || count < 1 || count > 10_000)
    refuse(path, `says N_STD ${count}`, 'give a whole SSMIF');
  const id = facts.get('STATION_ID') ?? 'LWA';
  // By the format's definition, stands that are not listed are at the centre.
  const stations = Array.from({ length: count }, (_, k): Station => ({
    name: `stand${k + 1}`,
    eastM: number(`STD_LX[${k + 1}]`, 0),
    northM: number(`STD_LY[${k + 1}]`, 0),
    upM: number(`STD_LZ[${k + 1}]`, 0),
  }));
  return {
    name: id,
    title: `Long Wavelength Array station ${id}`,
    site: checkedSite(path, {
      latitudeDeg: number('GEO_N'),
      longitudeDeg: number('GEO_E'),
      heightM: number('GEO_EL'),
    }),
    stations,
    polarisations: 2,
    band: { lowHz: 3e6, highHz: 88e6 },
    recording: { centreFrequencyHz: 58e6, sampleRateHz: 1.6e6, channels: 64, bits: 4 },
    beamExponent: 0.8,
    mount: 'fixed',
  };
}
