/** Every card of a file's header, unchanged: shows what our readers leave out. */
import { closingAfter } from '../core/closing.js';
import { CorellaError } from '../core/errors.js';
import { columnPlaces, isBinaryTable, readTable } from './fits/table.js';
import { unitsFrom, type FitsHeader } from './fits/fits.js';
import { isHdf5, openHdf5, type Hdf5File } from './hdf5/read.js';
import { headOf, openInput, type InputFile } from './io/input.js';

/** Text, a number, a boolean or several of them; tables and arrays of numbers are typed arrays. */
export type CardContent = string | number | boolean | readonly string[] | Float64Array;

/** By location: 'TELESCOP', 'AIPS AN: ARRNAM', 'Header/latitude'. Empty for files that are neither FITS nor HDF5. */
export type Cards = ReadonlyMap<string, CardContent>;

const FITS_START = 'SIMPLE  =';

export function readCards(path: string): Promise<Cards> {
  return closingAfter(async (closers) => {
    const file = closers.keep(await openInput(path));
    const head = await headOf(file, FITS_START.length);
    if (isHdf5(head)) return hdf5Cards(closers.keep(await openHdf5(path)));
    return new TextDecoder('latin1').decode(head) === FITS_START ? fitsCards(file) : new Map();
  });
}

async function fitsCards(file: InputFile): Promise<Cards> {
  const cards = new Map<string, CardContent>();
  let number = 0;
  for await (const unit of unitsFrom(file, 0)) {
    const { header } = unit;
    const prefix = number === 0 ? '' : `${unitName(header, number)}: `;
    number++;
    for (const [keyword, value] of header.values) cards.set(prefix + keyword, value);
    if (header.comments.length > 0) cards.set(`${prefix}COMMENT`, header.comments);
    if (isBinaryTable(header)) {
      const table = await readTable(file, unit);
      for (const [name, { letter }] of columnPlaces(header, header.where))
        cards.set(
          `${prefix}column ${name}`,
          letter === 'A' ? table.texts(name) : Float64Array.from(table.numbers(name, 1).flat()),
        );
    }
  }
  return cards;
}

const unitName = (header: FitsHeader, number: number): string =>
  `${header.text('EXTNAME', `extension ${number}`)}${header.real('EXTVER', 1) === 1 ? '' : ` ${header.real('EXTVER')}`}`;

function hdf5Cards(file: Hdf5File): Cards {
  const cards = new Map<string, CardContent>();
  const walk = (group: string): void => {
    for (const name of file.keys(group)) {
      const item = `${group}/${name}`;
      if (file.keys(item).length > 0) walk(item);
      else {
        const content =
          file.scalar(item) ?? orNothing(() => file.texts(item)) ?? orNothing(() => file.numbers(item));
        if (content !== undefined) cards.set(item, content);
      }
    }
  };
  walk('Header');
  return cards;
}

/** One of several content types fits. */
function orNothing<Content>(read: () => Content): Content | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof CorellaError) return undefined;
    throw error;
  }
}
