/** Sets an observation's Earth orientation and satellite orbits for the whole process. */
import { readEarthOrientation } from './earth/orientation-file.js';
import { useEarthOrientation } from './earth/orientation.js';
import { useOrbits } from './orbits/orbits.js';

export interface SkyFiles {
  readonly eop?: string | undefined;
  readonly orbits?: string | readonly string[] | undefined;
  readonly 'old-orbits'?: boolean | undefined;
}

export async function useSky({ eop, orbits = [], 'old-orbits': old = false }: SkyFiles): Promise<void> {
  useEarthOrientation(eop === undefined ? 'built-in' : await readEarthOrientation(eop));
  await useOrbits(typeof orbits === 'string' ? [orbits] : orbits, { old: old ? 'accepted' : 'refused' });
}
