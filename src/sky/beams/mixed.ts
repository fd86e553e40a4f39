/** Arrays whose stations have different primary beams. */
import { refuse } from '../../core/errors.js';
import type { Vector3 } from '../../core/vector.js';
import type { Telescope } from '../../telescope/telescope.js';
import type { ElementBeam } from './element-beam.js';
import { PAIRS, powersOf } from './powers.js';

/** Finds a beam by its name. */
type Find = (name: string) => ElementBeam;

/** Whether the telescope's description gives an element for any station. */
export const hasElements = ({ stations }: Pick<Telescope, 'stations'>): boolean =>
  stations.some(({ element }) => element !== undefined);

/** "dish0=airy:14,dish1=airy:25,*=airy:12": by station name; * for all others. */
export function parseElements(
  text: string,
  { stations }: Pick<Telescope, 'stations'>,
): (string | undefined)[] {
  const known = new Map<string, string>();
  for (const pair of text.split(',')) {
    const [station, element = ''] = pair.split(/=(.*)/).map((word) => word.trim()) as [string, string?];
    if (station === '' || element === '')
      refuse('element', `'${pair}' is not understood`, 'write STATION=BEAM, like dish0=airy:14,*=airy:12');
    if (station !== '*' && !stations.some(({ name }) => name === station))
      refuse(
        'element',
        `'${station}' is no station here`,
        `the first is ${stations[0].name}; * is all others`,
      );
    if (known.has(station)) refuse('element', `'${station}' is there twice`, 'say it once');
    known.set(station, element);
  }
  return stations.map(({ name }) => known.get(name) ?? known.get('*'));
}

/** One beam per station; the array's beam is that of its pairs. */
export function beamOfElements(
  elements: readonly (string | undefined)[],
  { stations }: Pick<Telescope, 'stations'>,
  find: Find,
): ElementBeam {
  const missing = elements.indexOf(undefined);
  if (missing >= 0)
    refuse(
      'element',
      `says nothing of ${stations[missing].name}`,
      'say one for every station, or *=BEAM for all others',
    );
  const found = new Map<string, ElementBeam>();
  for (const name of elements) if (name !== undefined && !found.has(name)) found.set(name, find(name));
  const beams = elements.flatMap((name) => (name === undefined ? [] : (found.get(name) ?? [])));
  return found.size === 1 ? beams[0] : mixed(beams);
}

/**
 * For an image of all pairs i ≠ j with equal weights: the mean of x_i·conj(x_j), as the square of one voltage; 0 if
 * negative.
 */
function mixed(beams: readonly ElementBeam[]): ElementBeam {
  const counts = new Map<ElementBeam, number>();
  for (const beam of beams) counts.set(beam, (counts.get(beam) ?? 0) + 1);
  const words = [...counts].map(([{ name }, count]) => `${count} × ${name}`).join(', ');
  const made = {
    name: words,
    title: 'stations of their own; of an image, the mean over its pairs, alike in weight',
    pointing: 'followed',
    perStation: beams,
  } as const;
  const powers = powersOf({ ...made, voltage: () => [0, 0] }, PAIRS);
  return {
    ...made,
    voltage: (frequencyHz: number, directionEnu: Vector3, followedEnu: Vector3) => {
      const { xx, yy } = powers(0, frequencyHz, directionEnu, followedEnu);
      return [Math.sqrt(Math.max(0, xx)), Math.sqrt(Math.max(0, yy))];
    },
  };
}
