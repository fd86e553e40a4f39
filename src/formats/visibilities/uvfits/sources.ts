/** The AIPS SU table: names and positions of a file's sources. */
import { refuse } from '../../../core/errors.js';
import { DEGREES_PER_RADIAN, withMinus } from '../../../core/units.js';
import type { SkyPosition } from '../../../sky/frame.js';
import type { FitsUnit } from '../../fits/fits.js';
import { readTable } from '../../fits/table.js';
import type { InputFile } from '../../io/input.js';

export interface Source {
  readonly name: string;
  readonly position: SkyPosition | undefined;
  readonly equinox: number;
}

/** By the source numbers in the groups. */
export type Sources = ReadonlyMap<number, Source>;

export async function readSources(file: InputFile, unit: FitsUnit | undefined): Promise<Sources | undefined> {
  if (!unit) return undefined;
  const table = await readTable(file, unit);
  if (table.rowCount === 0) return undefined;
  const first = (name: string): number[] | undefined =>
    table.has(name) ? table.numbers(name, 1).map(([value]) => value) : undefined;
  const [ids, ra, dec, equinoxes] = ['ID. NO.', 'RAEPO', 'DECEPO', 'EPOCH'].map(first);
  const names = table.has('SOURCE') ? table.texts('SOURCE') : undefined;
  return new Map(
    Array.from({ length: table.rowCount }, (_, row) => [
      ids?.[row] ?? row + 1,
      {
        name: names?.[row].trim() ?? 'unknown',
        position: ra && dec ? { raDeg: ra[row], decDeg: dec[row] } : undefined,
        equinox: equinoxes?.[row] ?? 2000,
      },
    ]),
  );
}

/** Rounding difference of one position between two programs. */
const SAME_PLACE_DEG = 1 / 3600;

/**
 * The source of the groups. If they give a number, the position comes from the table, as in casacore: headers of
 * several sources hold zeros, or the first position, and some headers of one source use another unit. If they give
 * none, nothing links them to the table, and the header is used.
 */
export function sourceOf(
  path: string,
  sources: Sources | undefined,
  of: { readonly headerPlace: SkyPosition; readonly id: number | undefined },
): { readonly source?: Source; readonly assumed: readonly string[] } {
  const { headerPlace, id } = of;
  if (!sources) return { assumed: [] };
  const isHeaderBlank = headerPlace.raDeg === 0 && headerPlace.decDeg === 0;
  const header = `its header's RA and DEC, ${inWords(headerPlace)}`;
  const lone = sources.size === 1 ? [...sources.values()][0] : undefined;
  const source = id === undefined ? (lone ?? sources.get(1)) : sources.get(id);
  if (!source) {
    const missing = `group 0 is of source ${id ?? 1}, which its AIPS SU table lacks`;
    if (isHeaderBlank) refuse(path, missing, 'correct either');
    return { assumed: [`${missing}: taken to be at ${header}`] };
  }
  const { name, position, equinox } = source;
  if (!position) return { assumed: [] };
  const contradicts =
    !isHeaderBlank && [...sources.values()].every((one) => !one.position || !near(one.position, headerPlace));
  if (id === undefined && !isHeaderBlank)
    return {
      assumed: contradicts
        ? [`no group names its source, and its AIPS SU table has ${name} elsewhere: ${header}, are taken`]
        : [],
    };
  if (equinox !== 2000 && equinox !== 0)
    refuse(path, `its AIPS SU table gives places for the equinox ${equinox}`, 'export it in J2000');
  if (!(Math.abs(position.raDeg) <= 360 && Math.abs(position.decDeg) <= 90))
    refuse(path, `its AIPS SU table has ${name} at ${inWords(position)}`, 'it is damaged: copy it again');
  return {
    source,
    assumed: contradicts
      ? [
          `its AIPS SU table has ${name} at ${inWords(position)}, which is used, as in casacore; ${header}, are ignored`,
        ]
      : [],
  };
}

const inWords = ({ raDeg, decDeg }: SkyPosition): string =>
  `${withMinus(raDeg.toFixed(4))}° ${withMinus(decDeg.toFixed(4))}°`;

function near(one: SkyPosition, other: SkyPosition): boolean {
  const turns = (one.raDeg - other.raDeg) / 360;
  const eastDeg = 360 * (turns - Math.round(turns)) * Math.cos(one.decDeg / DEGREES_PER_RADIAN);
  return Math.hypot(eastDeg, one.decDeg - other.decDeg) < SAME_PLACE_DEG;
}
