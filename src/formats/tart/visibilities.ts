/** TART visibility files: HDF5 with vis [time][pair] and its gains, a minute of snapshots. */
import { refuse } from '../../core/errors.js';
import type { OpenOptions, VisibilityFile } from '../format.js';
import type { GainsFile } from '../gains/gains.js';
import type { Hdf5File } from '../hdf5/read.js';
import { configOf, POSITIONS, tartInstant, telescopeFrom } from './description.js';
import { gainsFileFrom, type TartGains } from './gains.js';
import { snapshotsAsFile, type TartValue } from './snapshots.js';

export function openTartVisibilities(file: Hdf5File, { telescope: given }: OpenOptions): VisibilityFile {
  const { path } = file;
  const facts = configOf(file);
  const vis = file.dataset('vis');
  const pairs = file.numbers('baselines');
  const times = file.texts('timestamp').map((text) => tartInstant(text, path));
  const count = pairs.length / 2;
  if (vis.parts !== 2 || vis.shape.length !== 2 || vis.shape[0] !== times.length || vis.shape[1] !== count)
    refuse(
      path,
      `vis is [${vis.shape.join('][')}] where ${times.length} times and ${count} pairs are listed`,
      'it is damaged',
    );
  if (times.length === 0) refuse(path, 'holds no time', 'it is damaged');
  const stranger = pairs.find((s) => !(s >= 0 && s < facts.antennas));
  if (stranger !== undefined)
    refuse(path, `lists antenna ${stranger} of ${facts.antennas} among its baselines`, 'it is damaged');
  const telescope = given ?? telescopeFrom(path, facts, rowsOf(file.numbers(POSITIONS)));
  const amplitudes = file.has('gains') ? file.numbers('gains') : undefined;
  return snapshotsAsFile({
    path,
    facts,
    telescope,
    times,
    gains: amplitudes && { amplitudes, phasesRad: file.numbers('phases') },
    snapshot: (k) => {
      const row = vis.rows(k, 1);
      const values = Array.from({ length: count }, (_, b): TartValue => ({
        i: pairs[2 * b],
        j: pairs[2 * b + 1],
        re: row[2 * b],
        im: row[2 * b + 1],
      }));
      return { time: times[k], values };
    },
    details: { antennas: facts.antennas, baselines: count, storage: vis.storage },
    close: () => file.close(),
  });
}

const rowsOf = (values: Float64Array): number[][] =>
  Array.from({ length: Math.floor(values.length / 3) }, (_, s) => [...values.subarray(3 * s, 3 * s + 3)]);

export function gainsInHdf5(file: Hdf5File): GainsFile {
  const { path } = file;
  const facts = configOf(file);
  if (!file.has('gains') || !file.has('phases'))
    refuse(path, 'holds no gains', 'make gains with corella calibrate');
  const gains: TartGains = { amplitudes: file.numbers('gains'), phasesRad: file.numbers('phases') };
  const telescope = telescopeFrom(path, facts, rowsOf(file.numbers(POSITIONS)));
  const [first] = file.texts('timestamp');
  return gainsFileFrom(path, telescope, facts.skyFrequencyHz, tartInstant(first, path), gains);
}
