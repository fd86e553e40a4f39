/** Frames of a set's values, in casacore's names: any but the default is converted, reported or refused by name. */
import { refuse } from '../../../core/errors.js';
import { FIRST_TAI_MINUS_UTC_S, unixFromElapsed } from '../../../core/leap-seconds.js';
import { instant } from '../../../core/instant.js';
import { earthOrientation } from '../../../sky/earth/orientation.js';
import type { Casacore } from './library.js';
import { MJD_TO_UNIX_S, type Rows } from './rows.js';

/** Frames whose positions are used unchanged: ICRS and J2000 differ by 0.03″ at most. */
const ours = ['J2000', 'ICRS'];
/** Frames already converted to J2000 by casacore (ms_tables). */
const converted = ['B1950', 'B1950_VLA'];

interface FieldFrame {
  /** In a converted frame the axes of uvw refer to another north. */
  readonly place: 'unchanged' | 'converted';
  readonly assumed: readonly string[];
}

export function frameOfField(
  path: string,
  field: { readonly name: string; readonly frame: string },
): FieldFrame {
  const { name, frame } = field;
  if (ours.includes(frame)) return { place: 'unchanged', assumed: [] };
  if (converted.includes(frame))
    return { place: 'converted', assumed: [`the place of ${name} is given in ${frame}, and read in J2000`] };
  return refuse(
    path,
    frame.endsWith(' moving')
      ? `its field ${name} follows something that moves`
      : `gives the place of its field ${name} in ${frame}, which is not read`,
    `phase it to a place in J2000 or ICRS (CASA: phaseshift; ${ours.join(', ')}, ${converted.join(', ')} are read)`,
  );
}

/** Scales of time other than UTC. Birli before 2023 counted in UT1. */
const scales: Readonly<
  Record<string, { readonly utcOf: (path: string, timeS: number) => number; readonly by: string }>
> = {
  UT1: { utcOf: (_path, timeS) => utcOfUt1(timeS), by: "by the table of the Earth's orientation" },
  TAI: { utcOf: utcOfTai, by: 'by the leap seconds' },
};

/** The set's time scale, and its conversion to UTC. */
export function clockOf(
  path: string,
  frame: string,
): { readonly toUtc: (rows: Rows) => Rows; readonly assumed: readonly string[] } {
  if (frame === 'UTC') return { toUtc: (rows) => rows, assumed: [] };
  if (!Object.hasOwn(scales, frame))
    return refuse(path, `counts its times in ${frame}`, 'write it with times in UTC');
  const { utcOf, by } = scales[frame];
  return {
    toUtc: (rows) => {
      const known = new Map<number, number>();
      const times = rows.times.map((timeS) => {
        const utcS = known.get(timeS) ?? utcOf(path, timeS);
        known.set(timeS, utcS);
        return utcS;
      });
      return { ...rows, times };
    },
    assumed: [`its times are in ${frame}: converted to UTC ${by}`],
  };
}

/** An invalid date is refused later, with its row. */
const isDate = (timeS: number): boolean => timeS > 0 && timeS < 1e10;

/** Seconds of MJD, of which a day has 86 400: a leap second has none. */
function utcOfTai(path: string, taiS: number): number {
  if (!isDate(taiS)) return taiS;
  const elapsedS = taiS - MJD_TO_UNIX_S - FIRST_TAI_MINUS_UTC_S;
  const whole = Math.floor(elapsedS);
  const { unixSeconds, leap } = unixFromElapsed(whole);
  if (leap === 1)
    refuse(
      path,
      'an integration has its middle within a leap second',
      'split the set before it (CASA: split)',
    );
  return unixSeconds + (elapsedS - whole) + MJD_TO_UNIX_S;
}

/** Seconds of MJD. UT1 is within a second of UTC, over which the difference changes by less than 0.1 µs. */
function utcOfUt1(ut1S: number): number {
  const unix = ut1S - MJD_TO_UNIX_S;
  if (!isDate(ut1S)) return ut1S;
  const differenceS = (at: number): number =>
    earthOrientation(instant(Math.floor(at), at - Math.floor(at))).ut1MinusUtcS;
  return ut1S - differenceS(unix - differenceS(unix));
}

/** Frames of antennas and channels; returns the assumptions. */
export function checkFrames(casacore: Casacore, path: string, handle: unknown): readonly string[] {
  const frame = (what: 'antennaFrame' | 'frequencyFrame'): string => casacore.text(path, handle, what);
  const place = frame('antennaFrame');
  if (place !== 'ITRF')
    refuse(path, `gives its antennas' places in ${place}`, 'write it with places in ITRF');
  const channels = frame('frequencyFrame');
  return channels === 'TOPO'
    ? []
    : [`its frequencies are labelled ${channels}: TOPO, those at the telescope, is assumed`];
}
