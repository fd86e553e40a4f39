/** Gains from CalH5, ours or pyuvdata's: a gain per channel, at one or several times. */
import { closingAfter } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import type { Instant } from '../../core/instant.js';
import { CROSS_HAND, DATA_UNITS, ELEMENT, FLUX_SCALE } from './calh5.js';
import { allDataUnits, crossHandHows, fluxScales, type GainsFile } from './gains.js';
import { openHdf5, type Hdf5File } from '../hdf5/read.js';
import { gainsOfUvCal, timeOfJulianDate } from './uvcal.js';

export const readCalH5 = (path: string): Promise<GainsFile> =>
  closingAfter(async (closers) => gainsOf(closers.keep(await openHdf5(path))));

const wordOf = (file: Hdf5File, name: string, otherwise?: string): string =>
  otherwise !== undefined && !file.has(`Header/${name}`) ? otherwise : file.text(`Header/${name}`).trim();

function gainsOf(file: Hdf5File): GainsFile {
  const { path } = file;
  if (wordOf(file, 'cal_type') !== 'gain' || file.number('Header/wide_band') !== 0) {
    refuse(
      path,
      'holds delays or gains of whole bands',
      'give gains of each channel (cal_type gain, not wide_band)',
    );
  }
  const solvedAntennas = file.numbers('Header/ant_array');
  const frequenciesHz = file.numbers('Header/freq_array');
  const codes = file.numbers('Header/jones_array');
  const times = timesOf(file);
  const data = file.dataset('Data/gains');
  const flags = file.dataset('Data/flags');
  const shape = [solvedAntennas.length, frequenciesHz.length, times.length, codes.length];
  for (const [name, found] of [
    ['gains', data.shape],
    ['flags', flags.shape],
  ] as const) {
    if (found.length !== 4 || found.some((length, axis) => length !== shape[axis]))
      refuse(
        path,
        `Data/${name} is [${found.join('][')}] where [${shape.join('][')}] belongs`,
        'give gains of antennas, channels, times and polarisations',
      );
  }
  if (data.parts !== 2) refuse(path, 'contradicts itself', 'it is damaged');
  const word = wordOf(file, `extra_keywords/${CROSS_HAND}`, '');
  const how = crossHandHows.find((one) => one === word && one !== 'unknown');
  return {
    telescope: wordOf(file, 'telescope_name'),
    ...gainsOfUvCal({
      path,
      solvedAntennas,
      frequenciesHz,
      times,
      codes,
      names: file.texts('Header/antenna_names').map((name) => name.replace(/\0+$/, '')),
      numbers: file.numbers('Header/antenna_numbers'),
      convention: wordOf(file, 'gain_convention'),
      xOrientation: wordOf(file, 'x_orientation', 'east'),
      referenceName: wordOf(file, 'ref_antenna_name', ''),
      ...(how && { crossHand: how }),
      antenna: (row) => ({ values: data.rows(row, 1), flagged: flags.rows(row, 1) }),
    }),
    ...factsOf(file),
    sources: wordOf(file, 'sky_catalog', '').split(/, */).filter(Boolean),
    history: wordOf(file, 'history', '').split('\n').filter(Boolean),
  };
}

/** What calibrate stores about the solution, if the file is ours. */
function factsOf(file: Hdf5File): Pick<GainsFile, 'dataUnits' | 'element' | 'fluxScale'> {
  const units = wordOf(file, `extra_keywords/${DATA_UNITS}`, '');
  const dataUnits = allDataUnits.find((one) => one === units);
  const element = wordOf(file, `extra_keywords/${ELEMENT}`, '');
  const scale = wordOf(file, `extra_keywords/${FLUX_SCALE}`, '');
  const fluxScale = fluxScales.find((one) => one === scale);
  return {
    dataUnits,
    ...(fluxScale && { fluxScale }),
    ...(element !== '' && { element }),
  };
}

/** The central times of the solution intervals. */
function timesOf(file: Hdf5File): readonly Instant[] {
  if (file.has('Header/time_array'))
    return Array.from(file.numbers('Header/time_array'), (days) => timeOfJulianDate(file.path, days));
  const range = file.numbers('Header/time_range');
  return Array.from({ length: range.length / 2 }, (_, t) =>
    timeOfJulianDate(file.path, (range[2 * t] + range[2 * t + 1]) / 2),
  );
}
