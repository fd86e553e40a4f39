/** Gains from CalFITS, pyuvdata's older format: antennas × channels × times × Jones terms × (re, im, flag, …). */
import { refuse } from '../../core/errors.js';
import { readUnit, unitsFrom, type FitsHeader, type FitsUnit } from '../fits/fits.js';
import { readTable, type FitsTable } from '../fits/table.js';
import { withInput, type InputFile } from '../io/input.js';
import type { GainsFile } from './gains.js';
import { gainsOfUvCal, timeOfJulianDate } from './uvcal.js';

const MOST = 2 ** 24;

/** From the cards that pyuvdata writes. */
export const isCalFits = (head: string): boolean =>
  head.startsWith('SIMPLE  =') && head.includes('CALTYPE = ');

export const readCalFits = (path: string): Promise<GainsFile> =>
  withInput(path, async (file) => {
    const unit = (await readUnit(file, 0)) ?? refuse(path, 'is empty', 'copy it again');
    return gainsOf(file, unit, await antennasIn(file, unit.end));
  });

async function antennasIn(file: InputFile, from: number): Promise<FitsTable> {
  for await (const unit of unitsFrom(file, from))
    if (unit.header.text('EXTNAME', '').trim() === 'ANTENNAS') return readTable(file, unit);
  return refuse(file.path, 'has no table of antennas', 'write it again with pyuvdata');
}

async function gainsOf(file: InputFile, unit: FitsUnit, table: FitsTable): Promise<GainsFile> {
  const { header, dataStart } = unit;
  const { path } = file;
  const type = header.text('CALTYPE');
  if (type !== 'gain')
    refuse(path, `holds calibration of type ${type}`, 'give gains of each channel (CALTYPE gain)');
  const [parts, terms, times, channels, windows, antennas] = [1, 2, 3, 4, 5, 6].map((axis) =>
    header.whole(`NAXIS${axis}`, 1, MOST),
  );
  if (header.whole('NAXIS', 6, 6) !== 6 || parts < 3 || windows !== 1)
    refuse(
      path,
      `is of ${windows} spectral windows and ${parts} arrays`,
      'give one window with gains and flags',
    );
  const bits = header.real('BITPIX');
  if (bits !== -64 && bits !== -32) refuse(path, `card BITPIX = ${bits} holds no gains`, 'write it again');
  const numbers = table.numbers('ANTINDEX', 1).map(([one]) => one);
  const solvedAntennas = table.numbers('ANTARR', 1).flatMap(([one]) => (one >= 0 ? [one] : []));
  if (solvedAntennas.length !== antennas)
    refuse(path, `holds gains of ${antennas} antennas and names ${solvedAntennas.length}`, 'it is damaged');
  const perAntenna = channels * times * terms;
  const bytes = new Uint8Array((perAntenna * parts * antennas * -bits) / 8);
  await file.readExactly(bytes, dataStart);
  const view = new DataView(bytes.buffer);
  const valueAt = (k: number): number => (bits === -64 ? view.getFloat64(8 * k) : view.getFloat32(4 * k));
  const range = header.text('TMERANGE', '').split(',').map(Number);
  const days =
    times === 1 && range.length === 2 && range.every(Number.isFinite)
      ? [(range[0] + range[1]) / 2]
      : [...axisOf(header, 3, times)];
  return {
    telescope: header.text('TELESCOP', 'unknown'),
    ...gainsOfUvCal({
      path,
      numbers,
      solvedAntennas,
      names: table.texts('ANTNAME'),
      frequenciesHz: axisOf(header, 4, channels),
      times: days.map((one) => timeOfJulianDate(path, one)),
      codes: axisOf(header, 2, terms),
      convention: header.text('GNCONVEN'),
      xOrientation: header.text('XORIENT', 'east'),
      referenceName: header.text('REFANT', ''),
      antenna: (row) => {
        const values = new Float64Array(2 * perAntenna);
        const flagged = new Uint8Array(perAntenna);
        for (let k = 0; k < perAntenna; k++) {
          const from = (row * perAntenna + k) * parts;
          values.set([valueAt(from), valueAt(from + 1)], 2 * k);
          flagged[k] = valueAt(from + 2) === 0 ? 0 : 1;
        }
        return { values, flagged };
      },
    }),
    sources: header.text('CATALOG', '').split(/, */).filter(Boolean),
    history: [...header.remarks],
  };
}

const axisOf = (header: FitsHeader, axis: number, length: number): Float64Array =>
  Float64Array.from(
    { length },
    (_, k) =>
      header.real(`CRVAL${axis}`) + (k + 1 - header.real(`CRPIX${axis}`, 1)) * header.real(`CDELT${axis}`, 1),
  );
