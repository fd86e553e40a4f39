/** A station of the Long Wavelength Array from its own description, the SSMIF: a line a fact, "STD_LX[17] -1.006". */
import { refuse } from '../core/errors.js';
import { checkedSite } from './site.js';
import type { Station, Telescope } from './telescope.js';

export const isSsmif = (text: string): boolean =>
  /^\s*STATION_ID\s+\S/m.test(text) && /^\s*N_STD\s+\d/m.test(text);

export function parseSsmif(text: string, path: string): Telescope {
  const facts = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const match = /^\s*([A-Z_]+(?:\[\d+\])?)\s+(\S+)/.exec(line.split('#')[0]);
    if (match) facts.set(match[1], match[2]);
  }
  const number = (key: string, otherwise?: number): number => {
    const told = facts.get(key);
    const value = told === undefined ? otherwise : Number(told);
    if (value === undefined || !Number.isFinite(value))
      refuse(path, told === undefined ? `lacks ${key}` : `says ${key} ${told}`, 'give a whole SSMIF');
    return value;
  };
  const count = number('N_STD');
  if (!Number.isSafeInteger(count) || count < 1 || count > 10_000)
    refuse(path, `says N_STD ${count}`, 'give a whole SSMIF');
  const id = facts.get('STATION_ID') ?? 'LWA';
  // Stands that are not listed stand at the centre, by the format's own word.
  const stations = Array.from({ length: count }, (_, k): Station => ({
    name: `stand${k + 1}`,
    eastM: number(`STD_LX[${k + 1}]`, 0),
    northM: number(`STD_LY[${k + 1}]`, 0),
    upM: number(`STD_LZ[${k + 1}]`, 0),
  }));
  return {
    name: id,
    title: `Long Wavelength Array station ${id}`,
    site: checkedSite(path, {
      latitudeDeg: number('GEO_N'),
      longitudeDeg: number('GEO_E'),
      heightM: number('GEO_EL'),
    }),
    stations,
    polarisations: 2,
    band: { lowHz: 3e6, highHz: 88e6 },
    recording: { centreFrequencyHz: 58e6, sampleRateHz: 1.6e6, channels: 64, bits: 4 },
    beamExponent: 0.8,
    mount: 'fixed',
  };
}
