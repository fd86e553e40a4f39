/** Checks that the disk has room for the files of a live run. */
import { baselineCount } from '../core/axes.js';
import { checkRoom } from '../formats/index.js';

/** A run that would fill the disk within an hour is refused. */
const HOUR_S = 3600;
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

export async function checkDisk(written: Written): Promise<void> {
  const { out, integrationS, stations, channels, polarisations } = written;
  if (out === undefined) return;
  const integrationBytes = baselineCount(stations) * channels * polarisations ** 2 * STORED_BYTES;
  const seconds = Math.min(HOUR_S, written.for ?? HOUR_S);
  await checkRoom(out, Math.ceil(seconds / integrationS) * integrationBytes);
}
