/** The telescope description in TART files: the same facts, with slightly different keys in HDF5 and JSON (API). */
import { z } from 'zod';
import { refuse } from '../../core/errors.js';
import { parseInstant, type Instant } from '../../core/instant.js';
import { formatHz } from '../../core/units.js';
import { checkedSite } from '../../telescope/site.js';
import type { Station, Telescope } from '../../telescope/telescope.js';
import type { Hdf5File } from '../hdf5/read.js';
import { firstIssue } from '../telescope-json.js';

const place = { lat: z.number(), lon: z.number(), alt: z.number() };
const schema = z
  .object({
    name: z.string().min(1),
    L0_frequency: z.number().positive(),
    baseband_frequency: z.number().positive(),
    sampling_frequency: z.number().positive(),
    bandwidth: z.number().positive(),
    num_antenna: z.number().int().min(1).max(65_536),
    frequency: z.number().positive().exactOptional(),
    operating_frequency: z.number().positive().exactOptional(),
    orientation: z.number().exactOptional(),
  })
  .and(z.union([z.object(place), z.object({ location: z.object(place) })]));

export interface TartFacts {
  readonly title: string;
  readonly site: Telescope['site'];
  readonly antennas: number;
  /** Centre of the filter passband: GPS L1. */
  readonly skyFrequencyHz: number;
  /** The sky frequency converted to 0 Hz. */
  readonly oscillatorHz: number;
  readonly sampleRateHz: number;
  readonly bandwidthHz: number;
  /** Display lines. */
  readonly assumed: readonly string[];
}

/** Tolerance for frequencies of one crystal, written in whole hertz. */
const SAME_HZ = 1;

/** The API wraps its answer in `info`. */
export function factsOf(path: string, given: unknown): TartFacts {
  const json = typeof given === 'object' && given !== null && 'info' in given ? given.info : given;
  const checked = schema.safeParse(json);
  if (!checked.success)
    refuse(
      path,
      `does not describe its telescope (${firstIssue(checked.error, json)})`,
      'it is damaged, or no file of a TART',
    );
  const { data } = checked;
  const { lat, lon, alt } = 'location' in data ? data.location : data;
  const oscillatorHz = data.L0_frequency;
  const sumHz = oscillatorHz + data.baseband_frequency;
  const skyFrequencyHz = data.operating_frequency ?? data.frequency ?? sumHz;
  if (Math.abs(skyFrequencyHz - sumHz) > SAME_HZ)
    refuse(
      path,
      `receives ${formatHz(skyFrequencyHz)}, and its oscillator and intermediate frequency add up to ${formatHz(sumHz)}`,
      'correct its configuration',
    );
  return {
    title: data.name,
    site: checkedSite(path, { latitudeDeg: lat, longitudeDeg: lon, heightM: alt }),
    antennas: data.num_antenna,
    skyFrequencyHz,
    oscillatorHz,
    sampleRateHz: data.sampling_frequency,
    bandwidthHz: data.bandwidth,
    assumed:
      data.orientation === undefined || data.orientation === 0
        ? []
        : [
            `its array is rotated by ${data.orientation}°: its antenna positions are treated as east, north and up`,
          ],
  };
}

const positionList = z.array(z.array(z.number()).length(3)).min(1);
const positionSchema = z.union([
  z.object({ antenna_positions: positionList }).transform(({ antenna_positions: list }) => list),
  z.object({ ant_pos: positionList }).transform(({ ant_pos: list }) => list),
  positionList,
]);

/** East, north, up in metres: `{"antenna_positions": [[e, n, u], …]}`, or only the list. */
export function positionsOf(path: string, json: unknown): readonly (readonly number[])[] {
  const checked = positionSchema.safeParse(json);
  if (checked.success) return checked.data;
  return refuse(
    path,
    'does not hold antenna positions',
    'write {"antenna_positions": [[east, north, up], …]} in metres',
  );
}

/** All TARTs name antennas by number, from 0. */
export const antennaName = (s: number): string => `ant${s}`;

export function telescopeFrom(
  path: string,
  facts: TartFacts,
  positions: readonly (readonly number[])[],
): Telescope {
  if (positions.length !== facts.antennas)
    refuse(
      path,
      `has ${facts.antennas} antennas, and positions of ${positions.length}`,
      'give the positions of this telescope',
    );
  const { title, site, skyFrequencyHz, sampleRateHz } = facts;
  return {
    name:
      title
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .replace(/^-|-$/g, '') || 'tart',
    title,
    site,
    stations: positions.map(([eastM, northM, upM], s): Station => ({
      name: antennaName(s),
      eastM,
      northM,
      upM,
    })),
    polarisations: 1,
    band: { lowHz: skyFrequencyHz - sampleRateHz / 4, highHz: skyFrequencyHz + sampleRateHz / 4 },
    recording: {
      centreFrequencyHz: skyFrequencyHz,
      sampleRateHz: sampleRateHz / 2,
      channels: 1024,
      bits: 8,
    },
    beamExponent: 0,
  };
}

/** TARTs write UTC with an offset of zero. */
export const tartInstant = (text: string, path: string): Instant =>
  parseInstant(text.replace(/\+00:00$/, 'Z'), path);

/** Of the two kinds of HDF5 files. */
export const POSITIONS = 'antenna_positions';

/** `config` is JSON. */
export function configOf(file: Hdf5File): TartFacts {
  const text = file.text('config');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return refuse(file.path, 'its config is not JSON', 'it is damaged, or no file of a TART');
  }
  return factsOf(file.path, json);
}
