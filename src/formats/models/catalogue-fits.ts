/** Catalogues as FITS tables, with the same columns as CSV: GLEAM is one. Read in pieces: GLEAM has 400 MB. */
import { refuse } from '../../core/errors.js';
import type { OnProgress } from '../../core/progress.js';
import { brightestOf, type SkyModel } from '../../sky/models/brightest.js';
import { catalogueColumns, catalogueNotes, catalogueRow } from '../../sky/models/catalogue.js';
import { unitsFrom, type FitsUnit } from '../fits/fits.js';
import { columnPlaces, isBinaryTable, numberAt, type ColumnPlace } from '../fits/table.js';
import { withInput, type InputFile } from '../io/input.js';

const PIECE_BYTES = 2 ** 24;
const MOST_ROWS = 2 ** 31;

export const readCatalogueFits = (path: string, onProgress?: OnProgress): Promise<SkyModel> =>
  withInput(path, async (file) => {
    const unit = await tableIn(file);
    const { header } = unit;
    const places = columnPlaces(header, path);
    const names = [...places.keys()];
    const columns = catalogueColumns(path, names);
    const list = [...places.values()];
    const rowBytes = header.whole('NAXIS1', 1, PIECE_BYTES);
    const rowCount = header.whole('NAXIS2', 0, MOST_ROWS);
    const brightest = brightestOf();
    const rowsAtOnce = Math.max(1, Math.floor(PIECE_BYTES / rowBytes));
    for (let from = 0; from < rowCount; from += rowsAtOnce) {
      const count = Math.min(rowsAtOnce, rowCount - from);
      const bytes = new Uint8Array(count * rowBytes);
      await file.readExactly(bytes, unit.dataStart + from * rowBytes);
      for (let row = 0; row < count; row++)
        brightest.add(
          catalogueRow(columns, `${path}, row ${from + row + 1}`, (column) =>
            cellOf(bytes, row * rowBytes, list[column]),
          ),
        );
      onProgress?.({ done: from + count, of: rowCount, unit: 'components' });
    }
    const { sources, notes } = brightest.finish();
    if (sources.length === 0) refuse(path, 'holds no source', 'give one with at least one');
    return { sources, notes: [...catalogueNotes(columns), ...notes] };
  });

async function tableIn(file: InputFile): Promise<FitsUnit> {
  for await (const unit of unitsFrom(file, 0)) if (isBinaryTable(unit.header)) return unit;
  return refuse(file.path, 'is FITS without a table of sources', 'give a catalogue, like that of GLEAM');
}

/** Undefined if empty or not a number. */
function cellOf(bytes: Uint8Array, row: number, place: ColumnPlace): string | number | undefined {
  const at = row + place.offset;
  if (place.letter === 'A') {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + at, place.repeat).toString('latin1');
    return text.replace(/\0[^]*$/, '').trim() || undefined;
  }
  const value = numberAt(new DataView(bytes.buffer, bytes.byteOffset), at, place.letter);
  return Number.isNaN(value) ? undefined : value;
}
