/** Facts for which a Measurement Set has no column: JSON in the keyword CORELLA. */
import { z } from 'zod';
import { enuToEcef, siteToEcef } from '../../../telescope/earth.js';
import type { Telescope } from '../../../telescope/telescope.js';
import { telescopeSchema } from '../../telescope-json.js';
import type { VisibilityHeader } from '../../format.js';

const schema = z.object({
  telescope: telescopeSchema,
  units: z.string().exactOptional(),
  xOrientation: z.enum(['east', 'north', 'unknown']).exactOptional(),
  feedFrame: z.enum(['feeds', 'sky']).exactOptional(),
  instrument: z.string().exactOptional(),
  extraKeywords: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).exactOptional(),
  channelWidthHz: z.number().exactOptional(),
  /** Numbers of the antennas in no pair, by table row. */
  unusedNumbers: z.record(z.string(), z.number()).exactOptional(),
  history: z.array(z.string()),
});
export type OwnWords = z.infer<typeof schema>;

export function ownWordsOf(header: VisibilityHeader): string {
  const { telescope, units, xOrientation, feedFrame, instrument, extraKeywords, channelWidthHz, history } =
    header;
  const unusedNumbers = Object.fromEntries(
    (header.unusedAntennas ?? []).flatMap(({ station, place }) =>
      station.number === undefined ? [] : [[String(place), station.number]],
    ),
  );
  return JSON.stringify({
    telescope,
    units,
    xOrientation,
    feedFrame,
    instrument,
    extraKeywords,
    channelWidthHz,
    unusedNumbers,
    history,
  });
}

/** Used only if the antenna positions match the set: other programs keep our keyword in sets that they changed. */
export function readOwnWords(text: string, seen: Telescope): OwnWords | undefined {
  if (text === '') return undefined;
  try {
    const own = schema.safeParse(JSON.parse(text)).data;
    if (own?.telescope.stations.length !== seen.stations.length) return undefined;
    const [ours, theirs] = [placesOf(own.telescope), placesOf(seen)];
    const isAlike = ours.every(({ name, x, y, z }, s) => {
      const there = theirs[s];
      return name === there.name && Math.hypot(x - there.x, y - there.y, z - there.z) < 1;
    });
    return isAlike ? own : undefined;
  } catch {
    return undefined;
  }
}

/** In ECEF, absolute. */
export const placesOf = ({ site, stations }: Pick<Telescope, 'site' | 'stations'>) => {
  const centre = siteToEcef(site);
  return stations.map(({ name, eastM, northM, upM }) => {
    const { x, y, z } = enuToEcef({ x: eastM, y: northM, z: upM }, site);
    return { name, x: x + centre.x, y: y + centre.y, z: z + centre.z };
  });
};
