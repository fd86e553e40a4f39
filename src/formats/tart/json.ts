/**
 * Snapshots of a TART's web API, collected in one JSON file: `info`, `ant_pos`, `gains`, and in `data` the visibilities
 * of each snapshot, alone or with a catalogue of the satellites above the horizon.
 */
import { z } from 'zod';
import { refuse } from '../../core/errors.js';
import { secondsBetween } from '../../core/instant.js';
import { checkedDirection, unpolarised, type Source } from '../../sky/source.js';
import type { OpenOptions, VisibilityFile } from '../format.js';
import type { GainsFile } from '../gains/gains.js';
import { readJson } from '../io/input.js';
import { firstIssue } from '../telescope-json.js';
import { factsOf, positionsOf, tartInstant, telescopeFrom, type TartFacts } from './description.js';
import { gainsFileFrom } from './gains.js';
import { refuseStrangers, snapshotsAsFile } from './snapshots.js';

export const apiVisibilities = z.object({
  timestamp: z.string(),
  data: z
    .array(
      z.object({
        i: z.number().int().min(0),
        j: z.number().int().min(0),
        re: z.number(),
        im: z.number(),
      }),
    )
    .min(1),
});
const satellite = z.object({
  name: z.string(),
  az: z.number(),
  el: z.number(),
  jy: z.number().exactOptional(),
  r: z.number().exactOptional(),
});
export const apiGains = z.object({ gain: z.array(z.number()), phase_offset: z.array(z.number()) });
const schema = z.object({
  info: z.unknown(),
  ant_pos: z.unknown(),
  gains: apiGains.exactOptional(),
  data: z
    .array(
      z.union([z.tuple([apiVisibilities, z.array(satellite)]), z.tuple([apiVisibilities]), apiVisibilities]),
    )
    .min(1),
});

/** Keys near the beginning of the file. */
export const isTartJson = (head: string): boolean =>
  /^\s*\{/.test(head) && /"(?:ant_pos|L0_frequency|phase_offset)"/.test(head);

async function readSnapshots(path: string) {
  const found = await readJson(path);
  const checked = schema.safeParse(found);
  if (!checked.success)
    refuse(
      path,
      `is no snapshot of a TART (${firstIssue(checked.error, found)})`,
      'it needs info, ant_pos and data, as the API gives them',
    );
  const { info, ant_pos: places, gains: own, data } = checked.data;
  const facts = factsOf(path, info);
  const snapshots = data.map((one) => {
    const [vis, catalogue] = Array.isArray(one) ? [one[0], one[1]] : [one, undefined];
    return { time: tartInstant(vis.timestamp, path), values: vis.data, catalogue };
  });
  for (const { values } of snapshots) refuseStrangers(path, facts, values);
  snapshots.sort((one, other) => secondsBetween(other.time, one.time));
  return { facts, places, own, snapshots };
}

const telescopeIn = (path: string, facts: TartFacts, places: unknown) =>
  telescopeFrom(path, facts, positionsOf(path, places));

export async function openTartJson(path: string, { telescope: given }: OpenOptions): Promise<VisibilityFile> {
  const { facts, places, own, snapshots } = await readSnapshots(path);
  const [{ catalogue }] = snapshots;
  return snapshotsAsFile({
    path,
    facts,
    telescope: given ?? telescopeIn(path, facts, places),
    times: snapshots.map(({ time }) => time),
    gains: own && { amplitudes: own.gain, phasesRad: own.phase_offset },
    snapshot: (k) => snapshots[k],
    details: {
      antennas: facts.antennas,
      baselines: snapshots[0].values.length,
      ...(catalogue && {
        catalogue: catalogue.map(({ name, az, el, jy }) => ({
          name,
          azimuthDeg: az,
          altitudeDeg: el,
          fluxJy: jy,
        })),
      }),
    },
    close: () => Promise.resolve(),
  });
}

/**
 * The satellites of its catalogue as a sky model. Their positions are fixed to the ground, independent of time: the
 * model is valid for this snapshot only.
 */
export async function satellitesInJson(path: string): Promise<readonly Source[]> {
  const { snapshots } = await readSnapshots(path);
  const { catalogue = [] } = snapshots[0];
  if (catalogue.length === 0)
    refuse(path, 'has no catalogue of satellites', 'give orbits: FILE, and name satellites');
  return catalogue.map(({ name, az, el, jy = 1 }) => {
    const direction = checkedDirection(`${path}: ${name}`, el, az);
    return {
      name,
      position: (frame) => frame.positionOf(direction),
      fluxJy: () => jy,
      stokes: unpolarised,
    };
  });
}

export async function gainsInJson(path: string): Promise<GainsFile> {
  const { facts, places, own, snapshots } = await readSnapshots(path);
  if (!own) return refuse(path, 'holds no gains', 'make gains with corella calibrate');
  return gainsFileFrom(path, telescopeIn(path, facts, places), facts.skyFrequencyHz, snapshots[0].time, {
    amplitudes: own.gain,
    phasesRad: own.phase_offset,
  });
}
