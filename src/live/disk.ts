/** How long the disk has room for the files of a live run. */
import { dirname, resolve } from 'node:path';
import { baselineCount } from '../core/axes.js';
import { refuse } from '../core/errors.js';
import { formatBytes, formatSeconds } from '../core/units.js';
import { checkRoom, freeBytesFor } from '../formats/index.js';
import { message, type Message } from '../messages/index.js';

/** A run with an end that would fill the disk in this time is refused, and one without an end in a minute. */
const HOUR_S = 3600;
const MINUTE_S = 60;
const DAY_S = 86_400;
/** A visibility, its flag and its weight. */
const STORED_BYTES = 13;

interface Written {
  readonly out?: string;
  readonly for?: number;
  readonly integrationS: number;
  readonly stations: number;
  readonly channels: number;
  readonly polarisations: number;
}

/** Returns until when there is room; nothing if it is enough. */
export async function checkDisk(written: Written): Promise<Message | undefined> {
  const { out, integrationS, stations, channels, polarisations, for: forS } = written;
  if (out === undefined) return undefined;
  const integrationBytes = baselineCount(stations) * channels * polarisations ** 2 * STORED_BYTES;
  if (forS !== undefined)
    await checkRoom(out, Math.ceil(Math.min(HOUR_S, forS) / integrationS) * integrationBytes);
  const freeBytes = await freeBytesFor(out);
  const bytesPerS = integrationBytes / integrationS;
  const fullInS = freeBytes / bytesPerS;
  if (!Number.isFinite(fullInS) || fullInS > (forS ?? Infinity)) return undefined;
  const folder = dirname(resolve(out));
  if (fullInS < MINUTE_S)
    refuse(
      out,
      `grows by ${formatBytes(bytesPerS)} a second, and the disk of ${folder} has ${formatBytes(freeBytes)} left: it would be full in ${formatSeconds(fullInS)}`,
      'make room, write less, or name another place',
      'disk.full',
    );
  const facts = { folder, bytesPerS, freeBytes, fullInS };
  return fullInS < DAY_S ? message('disk.full-soon', facts) : message('disk.full-in', facts);
}
