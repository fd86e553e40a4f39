/** The telescope of a UVH5 file: as its arrays have it, or in full where we wrote it ourselves. */
import { mounts, type Site, type Station, type Telescope } from '../../../telescope/telescope.js';
import type { Hdf5File } from '../../hdf5/read.js';
import { telescopeSchema } from '../../telescope-json.js';
import { recordingSeen } from '../as-stored.js';
import { mountWords } from './plan.js';
import { optionalText } from './optional-text.js';

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

/** Where all antennas have the same. */
function mountIn(file: Hdf5File): Pick<Telescope, 'mount'> {
  if (!file.has('Header/mount_type')) return {};
  const words = new Set(file.texts('Header/mount_type').map((word) => word.trim().toLowerCase()));
  const mount = mounts.find((one) => words.size === 1 && words.has(mountWords[one]));
  return mount ? { mount } : {};
}

/** Other programs leave our words in a file whose antennas they chose, reordered or moved: then the arrays hold. */
const standAlike = (own: readonly Station[], seen: readonly Station[]): boolean =>
  own.length === seen.length &&
  own.every(({ name, eastM, northM, upM, number }, s) => {
    const there = seen[s];
    const apartM = Math.hypot(eastM - there.eastM, northM - there.northM, upM - there.upM);
    // Single precision places a station on the Earth to half a metre.
    return name === there.name && apartM < 1 && (number ?? s) === there.number;
  });

/** The telescope as we wrote it; someone else's text of that name is left alone. */
function ownTelescope(text: string | undefined): Telescope | undefined {
  if (text === undefined) return undefined;
  try {
    return telescopeSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
