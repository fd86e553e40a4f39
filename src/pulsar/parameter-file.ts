/** Reads pulsar parameters from TEMPO files: F0 or P0, F1, DM, PEPOCH. */
import { refuse } from '../core/errors.js';
import { fromJulianDate, type Instant } from '../core/instant.js';

interface PulsarParameters {
  readonly frequencyHz: number;
  readonly frequencyRateHzS: number;
  readonly dm?: number;
  readonly epoch?: Instant;
  readonly name?: string;
}

/** Ignores the lines on orbits, positions and clocks: the file is folded with topocentric times. */
export function parseParameters(text: string, path: string): PulsarParameters {
  const found = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const [name, ...values] = line.trim().split(/\s+/);
    const value = values.at(0);
    if (value !== undefined && !name.startsWith('#')) found.set(name.toUpperCase(), value);
  }
  const number = (name: string): number | undefined => {
    const written = found.get(name);
    if (written === undefined) return undefined;
    const value = Number(written.replace(/[dD]/, 'e'));
    return Number.isFinite(value) ? value : refuse(path, `${name} is '${written}'`, 'give a number');
  };
  for (const name of ['PB', 'A1', 'BINARY'])
    if (found.has(name))
      refuse(path, `has ${name}: pulsars in orbits are not folded here`, 'use other software');
  const period = number('P0') ?? number('P');
  const frequencyHz =
    number('F0') ?? (period === undefined ? refuse(path, 'has neither F0 nor P0', 'give one') : 1 / period);
  const days = number('PEPOCH');
  return {
    frequencyHz,
    frequencyRateHzS: number('F1') ?? 0,
    dm: number('DM'),
    epoch: days === undefined ? undefined : fromJulianDate(Math.floor(days) + 2_400_000.5, days % 1),
    name: found.get('PSRJ') ?? found.get('PSR') ?? found.get('PSRB'),
  };
}
