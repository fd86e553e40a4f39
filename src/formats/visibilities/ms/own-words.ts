/** What a Measurement Set has no column for, kept beside it in our own words: JSON in the keyword CORELLA. */
import { z } from 'zod';
import type { Telescope } from '../../../telescope/telescope.js';
import { telescopeSchema } from '../../telescope-json.js';
import type { VisibilityHeader } from '../../format.js';

const schema = z.object({
  telescope: telescopeSchema,
  units: z.string().exactOptional(),
  xOrientation: z.enum(['east', 'north', 'unknown']).exactOptional(),
  instrument: z.string().exactOptional(),
  extraKeywords: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).exactOptional(),
  channelWidthHz: z.number().exactOptional(),
  /** Numbers of the antennas that are in no pair, by their rows. */
  unusedNumbers: z.record(z.string(), z.number()).exactOptional(),
  history: z.array(z.string()),
});
export type OwnWords = z.infer<typeof schema>;

export function ownWordsOf(header: VisibilityHeader): string {
  const { telescope, units, xOrientation, instrument, extraKeywords, channelWidthHz, history } = header;
  const unusedNumbers = Object.fromEntries(
    (header.unusedAntennas ?? []).flatMap(({ station, place }) =>
      station.number === undefined ? [] : [[String(place), station.number]],
    ),
  );
  return JSON.stringify({
    ...{ telescope, units, xOrientation, instrument, extraKeywords, channelWidthHz, unusedNumbers, history },
  });
}

/** Believed where the antennas stand as the set has them; other programs leave our words in sets they changed. */
export function readOwnWords(text: string, stations: Telescope['stations']): OwnWords | undefined {
  if (text === '') return undefined;
  try {
    const own = schema.safeParse(JSON.parse(text)).data;
    const isAlike =
      own?.telescope.stations.length === stations.length &&
      own.telescope.stations.every(({ name, eastM, northM, upM }, s) => {
        const there = stations[s];
        const apartM = Math.hypot(eastM - there.eastM, northM - there.northM, upM - there.upM);
        return name === there.name && apartM < 1;
      });
    return isAlike ? own : undefined;
  } catch {
    return undefined;
  }
}
