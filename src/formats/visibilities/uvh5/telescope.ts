/** The telescope of a UVH5 file: from its arrays, or in full if we wrote it. */
import { mounts, type Site, type Station, type Telescope } from '../../../telescope/telescope.js';
import type { Hdf5File } from '../../hdf5/read.js';
import { telescopeSchema } from '../../telescope-json.js';
import { recordingSeen } from '../pass-through.js';
import { mountWords } from './plan.js';
import { optionalText } from './centre.js';

export function telescopeOf(of: {
  readonly file: Hdf5File;
  readonly site: Site;
  readonly stations: readonly Station[];
  readonly polarisations: 1 | 2;
  readonly channels: readonly { readonly frequencyHz: number }[];
  readonly channelWidthHz: number;
}): Telescope {
  const { file, site, stations, polarisations, channels, channelWidthHz } = of;
  const name = optionalText(file, 'telescope_name') ?? 'unknown';
  const seen: Telescope = {
    name,
    title: name,
    site,
    stations,
    polarisations,
    ...recordingSeen(channels, channelWidthHz),
    ...mountIn(file),
  };
  const own = ownTelescope(optionalText(file, 'extra_keywords/corella_telescope'));
  return own && standAlike(own.stations, stations) ? { ...own, polarisations } : seen;
}

/** If all antennas have the same. */
function mountIn(file: Hdf5File): Pick<Telescope, 'mount'> {
  if (!file.has('Header/mount_type')) return {};
  const words = new Set(file.texts('Header/mount_type').map((word) => word.trim().toLowerCase()));
  const mount = mounts.find((one) => words.size === 1 && words.has(mountWords[one]));
  return mount ? { mount } : {};
}

/** If other programs selected, reordered or moved the antennas but kept our description, the arrays are used. */
const standAlike = (own: readonly Station[], seen: readonly Station[]): boolean =>
  own.length === seen.length &&
  own.every(({ name, eastM, northM, upM, number }, s) => {
    const there = seen[s];
    const apartM = Math.hypot(eastM - there.eastM, northM - there.northM, upM - there.upM);
    // Single precision locates a station on the Earth to half a metre.
    return name === there.name && apartM < 1 && (number ?? s) === there.number;
  });

/** The telescope as we wrote it; other texts of that name are ignored. */
function ownTelescope(text: string | undefined): Telescope | undefined {
  if (text === undefined) return undefined;
  try {
    return telescopeSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
