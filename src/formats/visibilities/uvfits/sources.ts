/** The AIPS SU table: names and places of a file's sources. */
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

/** By the numbers that groups name them by. */
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

/** What two programs' rounding of one place may differ by. */
const SAME_PLACE_DEG = 1 / 3600;

/**
 * The source that groups are of. Where they name one, the table says where it is, as casacore takes it: headers of
 * several sources hold zeros, or the place of whichever came first, and some of one source hold another unit. Where they
 * name none, nothing ties them to the table, and the header holds.
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
  const isTold =
    !isHeaderBlank && [...sources.values()].every((one) => !one.position || !near(one.position, headerPlace));
  if (id === undefined && !isHeaderBlank)
    return {
      assumed: isTold
        ? [`no group names its source, and its AIPS SU table has ${name} elsewhere: ${header}, are taken`]
        : [],
    };
  if (equinox !== 2000 && equinox !== 0)
    refuse(path, `its AIPS SU table gives places for the equinox ${equinox}`, 'export it in J2000');
  if (!(Math.abs(position.raDeg) <= 360 && Math.abs(position.decDeg) <= 90))
    refuse(path, `its AIPS SU table has ${name} at ${inWords(position)}`, 'it is damaged: copy it again');
  return {
    source,
    assumed: isTold
      ? [
          `its AIPS SU table has ${name} at ${inWords(position)}, which is taken, as casacore does; ${header}, are passed over`,
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
