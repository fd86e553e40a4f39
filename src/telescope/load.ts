/** From a preset's name or a user's file to a telescope. */
import { readFile } from 'node:fs/promises';
import { dirname, extname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CorellaError, refuse } from '../core/errors.js';
import { meantBeside } from '../core/spelling.js';
import { parseDescription } from './description.js';
import { isPlacesPath, parsePlaces } from './places.js';
import { parsePositions } from './positions.js';
import { presets, telescopeNames } from './registry.js';
import { isSsmif, parseSsmif } from './ssmif.js';
import type { Station, Telescope } from './telescope.js';

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
    ...{ name, title, site, stations, polarisations, band, recording, beamExponent },
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
 * `nameOrPath`: a name of the registry, else the path of a .json description with its CSV beside it, of such a CSV alone, or of
 * an SSMIF. `polarisations` is what a recording has, for a CSV alone does not say it.
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
      `'${nameOrPath}' is not one we carry`,
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
