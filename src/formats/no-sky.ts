/** Impossible sky and band values, refused by name before any computation. */
import { refuse } from '../core/errors.js';
import { checkedSite } from '../telescope/site.js';
import type { OpenedFile, VisibilityFile, VisibilityHeader, VoltageRecording } from './format.js';

/** Above it is no radio: a hundred terahertz. */
const HIGHEST_HZ = 1e14;
/** No antenna is beyond the Moon. */
const FARTHEST_M = 1e9;

export function refuseNoSky(file: OpenedFile): void {
  if (file.telescope) checkedSite(file.path, file.telescope.site);
  if (file.kind === 'visibilities') refuseHeader(file.path, file.header);
  else if (file.kind === 'voltages') refuseVoltages(file);
  else refuseBand(file.path, file.frequenciesHz, file.channelWidthHz, 'any');
}

function refuseVoltages({ path, sampleRateHz, centreFrequencyHz }: VoltageRecording): void {
  if (!(sampleRateHz > 0 && sampleRateHz < HIGHEST_HZ))
    refuse(path, `its sample rate is ${sampleRateHz} Hz`, 'correct it: a rate above 0');
  if (!(centreFrequencyHz >= 0 && centreFrequencyHz < HIGHEST_HZ))
    refuse(path, `the middle of its band is at ${centreFrequencyHz} Hz`, 'correct it: 0 or above');
}

/** Allowed values that may mislead, as display lines. */
export function doubtsOf(file: VisibilityFile): readonly string[] {
  const counts = new Map<string, number>();
  for (const { name } of file.header.telescope.stations) counts.set(name, (counts.get(name) ?? 0) + 1);
  const equal = [...counts].filter(([, count]) => count > 1);
  if (equal.length === 0) return [];
  const [[name, count]] = equal;
  const more = equal.length > 1 ? `, and ${equal.length - 1} more names are not unique` : '';
  return [
    `${count} of its antennas are named '${name}'${more}: where an option takes a name, the first is meant`,
  ];
}

function refuseHeader(path: string, header: VisibilityHeader): void {
  const { phaseCentre, frequenciesHz, channelWidthHz, telescope } = header;
  for (const { name, eastM, northM, upM } of telescope.stations) {
    const farM = Math.hypot(eastM, northM, upM);
    if (!(farM < FARTHEST_M))
      refuse(path, `its antenna ${name} is ${farM} m from the site`, 'correct its positions: metres');
  }
  const { raDeg, decDeg } = phaseCentre;
  if (!(Math.abs(raDeg) <= 360))
    refuse(path, `its phase centre is at right ascension ${raDeg}°`, 'correct it: 0 to 360 degrees');
  if (!(Math.abs(decDeg) <= 90))
    refuse(path, `its phase centre is at declination ${decDeg}°`, 'correct it: −90 to 90 degrees');
  refuseBand(path, frequenciesHz, channelWidthHz, 'of the sky');
}

/** The band of a recording may start at its own zero. */
function refuseBand(
  path: string,
  frequenciesHz: Float64Array,
  channelWidthHz: number,
  place: 'of the sky' | 'any',
): void {
  if (!(channelWidthHz > 0 && channelWidthHz < HIGHEST_HZ))
    refuse(path, `its channels are ${channelWidthHz} Hz wide`, 'correct it: a width above 0');
  frequenciesHz.forEach((frequencyHz, c) => {
    const isThere = place === 'of the sky' ? frequencyHz > 0 : !Number.isNaN(frequencyHz);
    if (!isThere || Math.abs(frequencyHz) > HIGHEST_HZ)
      refuse(path, `its channel ${c} is at ${frequencyHz} Hz`, 'correct its frequencies');
    if (c > 0 && frequencyHz === frequenciesHz[c - 1])
      refuse(
        path,
        `its channels ${c - 1} and ${c} both lie at ${frequencyHz} Hz`,
        'correct the step of its frequencies (CDELT of the FREQ axis, freq_array, CHAN_FREQ)',
      );
  });
}
