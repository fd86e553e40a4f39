/** Frames of a set's numbers, as casacore names them: what is not the usual one is converted, told or refused by name. */
import { refuse } from '../../../core/errors.js';
import type { Casacore } from './library.js';

/** Where places are as they stand in the set: ICRS and J2000 differ by 0.03″ at most. */
const ours = ['J2000', 'ICRS'];
/** What casacore turned to J2000 already (ms_tables). */
const turned = ['B1950', 'B1950_VLA'];

export interface FieldFrame {
  /** uvw's axes are those of another north where the frame was. */
  readonly place: 'as stored' | 'turned';
  readonly assumed: readonly string[];
}

export function frameOfField(
  path: string,
  field: { readonly name: string; readonly frame: string },
): FieldFrame {
  const { name, frame } = field;
  if (ours.includes(frame)) return { place: 'as stored', assumed: [] };
  if (turned.includes(frame))
    return { place: 'turned', assumed: [`the place of ${name} is given in ${frame}, and read in J2000`] };
  return refuse(
    path,
    frame.endsWith(' moving')
      ? `its field ${name} follows something that moves`
      : `gives the place of its field ${name} in ${frame}, which is not read`,
    `phase it to a place in J2000 or ICRS (CASA: phaseshift; ${ours.join(', ')}, ${turned.join(', ')} are read)`,
  );
}

/** Of times, antennas and channels; what was taken to be so. */
export function checkFrames(casacore: Casacore, path: string, handle: unknown): readonly string[] {
  const frame = (what: 'timeFrame' | 'antennaFrame' | 'frequencyFrame'): string =>
    casacore.text(path, handle, what);
  const time = frame('timeFrame');
  if (time !== 'UTC') refuse(path, `counts its times in ${time}`, 'write it with times in UTC');
  const place = frame('antennaFrame');
  if (place !== 'ITRF')
    refuse(path, `gives its antennas' places in ${place}`, 'write it with places in ITRF');
  const channels = frame('frequencyFrame');
  return channels === 'TOPO'
    ? []
    : [`its frequencies are said to be in ${channels}: taken as the telescope's own, TOPO`];
}
