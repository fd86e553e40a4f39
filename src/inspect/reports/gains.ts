/** Report of inspect for gains. */
import { formatInstant } from '../../core/instant.js';
import { formatHz, withMinus } from '../../core/units.js';
import { crossHandKnown, readGainFile, type GainsFile } from '../../formats/index.js';
import { firstWithGains, lookAtGains, timesOf, type GainLook, type GainTimes } from '../gains.js';
import { gainPicture } from '../pictures/gain.js';
import type { Inspected } from './report.js';
import { line, nameList } from './text.js';

export const inspectedGains = (path: string): Inspected => ({
  holds: 'gains',
  report: async ({ draw = [] }) => {
    const file = await readGainFile(path);
    const [gains, times] = [firstWithGains(file), timesOf(file)];
    const look = lookAtGains(gains);
    return {
      json: gainJson(path, gains, look, times),
      lines: gainLines(path, gains, look, times),
      pictures: draw.includes('picture') ? { picture: { picture: gainPicture(gains, path) } } : {},
    };
  },
  close: () => Promise.resolve(),
});

/** Antennas beyond this need attention: half or twice the others' amplitude. */
const ODD_DB = 6;

/** `file` is the time shown, one of `times` if there are several. */
export function gainLines(path: string, file: GainsFile, look: GainLook, times?: GainTimes): string[] {
  const { frequenciesHz, stations, polarisations } = file;
  const channels = frequenciesHz.length;
  const inputs = stations.length * polarisations;
  const odd = look.inputs.filter(({ amplitudeDb = 0 }) => Math.abs(amplitudeDb) > ODD_DB);
  return [
    line('file', path),
    line('format', path.toLowerCase().endsWith('.json') ? 'corella-gains, gains' : 'calh5, gains'),
    line('telescope', file.telescope),
    line(
      'inputs',
      `${inputs} (${stations.length} station${stations.length === 1 ? '' : 's'} × ${polarisations})`,
    ),
    line('channels', String(channels)),
    line(
      'frequencies',
      channels === 1
        ? formatHz(frequenciesHz[0])
        : `${formatHz(frequenciesHz[0])} to ${formatHz(frequenciesHz[channels - 1])}`,
    ),
    ...(times ? [line('times', timesText(times))] : []),
    line('time', `${formatInstant(file.time, 9)}${times ? ', of which all that follows is' : ''}`),
    line('model', file.sources.join(', ') || 'unknown'),
    line('reference', stations[file.referenceStation]),
    ...(polarisations === 2 ? [line('X to Y', crossHandText(file))] : []),
    ...(file.assumed ?? []).map((text) => line('assumed', text)),
    line(
      'solved',
      look.emptyChannels === 0
        ? `${look.solvedInputs} of ${inputs} inputs in every channel`
        : `${look.solvedInputs} of ${inputs} inputs in every channel but ${look.emptyChannels} that ${look.emptyChannels === 1 ? 'has' : 'have'} no gains`,
    ),
    line('unsolved', nameList(look.unsolved, 'no input')),
    line(
      'amplitudes',
      `${Number(look.amplitude.toPrecision(4))} (median), half of them within ${look.spreadDb.toFixed(1)} dB of it`,
    ),
    line(
      'outliers',
      nameList(
        odd.map(({ name, amplitudeDb = 0 }) => `${name} (${withMinus(amplitudeDb.toFixed(1))} dB)`),
        `none: all within ${ODD_DB} dB of the median`,
      ),
    ),
  ];
}

const timesText = ({ count, from, to, without }: GainTimes): string =>
  `${count}, from ${formatInstant(from, 9)} to ${formatInstant(to, 9)}` +
  (without === 0 ? '' : `, ${without} of them without gains`);

/** How the phase between X and Y was determined. */
function crossHandText(file: GainsFile): string {
  const known = crossHandKnown(file, file.frequenciesHz.length).reduce((sum, one) => sum + one, 0);
  if (known === 0 && file.leakage) return 'matrices, a rotation of Q, U and V open: I alone is calibrated';
  if (file.leakage)
    return `matrices (${file.crossHand?.how ?? 'unknown'}), leakage too, in ${known} of ${file.frequenciesHz.length} channels`;
  if (known === 0 || file.crossHand === undefined) return 'phase unknown: U and V are not calibrated';
  return `one phase (${file.crossHand.how}) in ${known} of ${file.frequenciesHz.length} channels`;
}

export const gainJson = (path: string, file: GainsFile, look: GainLook, times?: GainTimes) => ({
  path,
  kind: 'gains',
  telescope: file.telescope,
  stations: file.stations,
  polarisations: file.polarisations,
  frequenciesHz: Array.from(file.frequenciesHz),
  timeUtc: formatInstant(file.time, 9),
  ...(times && {
    times: {
      count: times.count,
      withoutGains: times.without,
      fromUtc: formatInstant(times.from, 9),
      toUtc: formatInstant(times.to, 9),
    },
  }),
  sources: file.sources,
  referenceStation: file.stations[file.referenceStation],
  ...(file.polarisations === 2 && { crossHand: file.crossHand?.how ?? 'unknown' }),
  ...(file.leakage && { fullPolarisation: true }),
  ...look,
  history: file.history,
});
