/**
 * A TART's web API: its description, antenna positions, latest correlations and gains. Each is a separate request, so
 * positions and gains may change in between.
 */
import type { z } from 'zod';
import { CorellaError, refuse } from '../../core/errors.js';
import type { Telescope } from '../../telescope/telescope.js';
import { firstIssue } from '../telescope-json.js';
import { factsOf, positionsOf, tartInstant, telescopeFrom, type TartFacts } from './description.js';
import type { TartGains } from './gains.js';
import { apiGains, apiVisibilities } from './json.js';
import { refuseStrangers, type TartSnapshot } from './snapshots.js';

const ANSWER_MS = 10_000;
/** The API's path on a TART, and the possible one behind a server. */
const PLACES = ['', '/api/v1'];

export interface TartApi {
  readonly url: string;
  readonly facts: TartFacts;
  readonly telescope: Telescope;
  /** Fails if the antenna positions have changed. */
  checkPositions(): Promise<void>;
  /** Undefined if it has none. */
  gains(): Promise<TartGains | undefined>;
  snapshot(): Promise<TartSnapshot>;
}

/** The server answered that the name does not exist. */
class Nothing extends CorellaError {}

async function ask(url: string): Promise<unknown> {
  const fail = (what: string, cause?: unknown): never => {
    throw new CorellaError(
      { where: url, what, fix: "check the TART's address, and that it is running" },
      { cause },
    );
  };
  let answer: Response;
  try {
    answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = (cause as { code?: unknown } | undefined)?.code;
    return fail(`cannot be reached (${typeof code === 'string' ? code : String(cause)})`, error);
  }
  if (answer.status === 404)
    throw new Nothing({ where: url, what: 'is not there', fix: "give the address of a TART's API" });
  if (!answer.ok) return fail(`answers ${answer.status}`);
  try {
    return await answer.json();
  } catch (error) {
    return fail('is not JSON', error);
  }
}

function checked<Schema extends z.ZodType>(schema: Schema, url: string, found: unknown): z.output<Schema> {
  const result = schema.safeParse(found);
  if (result.success) return result.data;
  return refuse(url, `is no answer of a TART (${firstIssue(result.error, found)})`, 'check the address');
}

export async function openTartApi(address: string, named?: Telescope): Promise<TartApi> {
  if (!URL.canParse(address))
    refuse(address, 'is no address', 'write it like tart:https://host or tart:http://10.0.0.5:5000');
  const given = address.replace(/\/+$/, '');
  const { url, info } = await describe(given);
  const facts = factsOf(`${url}/info`, info);
  const places = `${url}/imaging/antenna_positions`;
  const positions = positionsOf(places, await ask(places));
  const own = telescopeFrom(places, facts, positions);
  if (named && named.stations.length !== facts.antennas)
    refuse(
      'telescope',
      `${named.name} has ${named.stations.length} stations, and ${url} ${facts.antennas} antennas`,
      'leave it out, or give the description of this one',
    );
  const first = JSON.stringify(positions);
  return {
    url,
    facts,
    telescope: named ?? own,
    checkPositions: async () => {
      if (JSON.stringify(positionsOf(places, await ask(places))) !== first)
        refuse(places, 'the antennas are not where they were when this run began', 'begin a new one');
    },
    gains: async () => {
      const path = `${url}/calibration/gain`;
      try {
        const { gain, phase_offset: phasesRad } = checked(apiGains, path, await ask(path));
        return gain.some((one) => one > 0) ? { amplitudes: gain, phasesRad } : undefined;
      } catch (error) {
        if (error instanceof Nothing) return undefined;
        throw error;
      }
    },
    snapshot: async () => {
      const path = `${url}/imaging/vis`;
      const { timestamp, data } = checked(apiVisibilities, path, await ask(path));
      refuseStrangers(path, facts, data);
      return { time: tartInstant(timestamp, path), values: data };
    },
  };
}

async function describe(given: string): Promise<{ readonly url: string; readonly info: unknown }> {
  for (const place of PLACES)
    try {
      const url = `${given}${place}`;
      return { url, info: await ask(`${url}/info`) };
    } catch (error) {
      if (!(error instanceof Nothing)) throw error;
    }
  return refuse(given, 'has no /info and no /api/v1/info', "give the address of a TART's API");
}
