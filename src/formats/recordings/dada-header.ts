/** The text header of PSRDADA: its keys, the start of the recording, and the intended length of the file. */
import { refuse, wholeNumber } from '../../core/errors.js';
import { addSeconds, instant, parseInstant, secondsBetween, type Instant } from '../../core/instant.js';
import { numberOf } from './channelised.js';
import { headOf, type InputFile } from '../io/input.js';
import { unixFromMjd } from '../../core/clock/epochs.js';

const DEFAULT_HEADER_BYTES = 4096;
const MOST_HEADER_BYTES = 1 << 20;

/** "KEY value", one per line. */
export type Keys = ReadonlyMap<string, string>;

function parseKeys(bytes: Uint8Array): Keys {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1').split('\0')[0];
  const keys = new Map<string, string>();
  for (const line of text.split('\n')) {
    const match = /^([A-Z][A-Z0-9_]*)\s+(\S.*?)\s*$/.exec(line.split('#')[0]);
    if (match) keys.set(match[1], match[2]);
  }
  return keys;
}

export async function readKeys(file: InputFile): Promise<{ keys: Keys; headerBytes: number }> {
  const { path } = file;
  const keys = parseKeys(await headOf(file, DEFAULT_HEADER_BYTES));
  const headerBytes = wholeNumber(
    path,
    'HDR_SIZE',
    numberOf(path, keys, 'HDR_SIZE', DEFAULT_HEADER_BYTES),
    64,
    MOST_HEADER_BYTES,
  );
  if (headerBytes >= file.sizeBytes)
    refuse(path, 'ends within its header', 'it was cut short: copy it again');
  return { keys: parseKeys(await headOf(file, headerBytes)), headerBytes };
}

/** One may be truncated to whole seconds, and MJD cannot express a leap second. */
const MOST_APART_S = 2;

/**
 * UTC_START, with PICOSECONDS; else MJD_START. If both are present and UTC_START has a rounded fraction, MJD_START may
 * have more digits and is then used.
 */
export function observationStart(path: string, keys: Keys): Instant {
  const utc = keys.get('UTC_START');
  if (utc !== undefined) {
    const match = /^(\d{4}-\d{2}-\d{2})[-T ](\d{2}:\d{2}:\d{2})(\.\d+)?$/.exec(utc);
    if (!match) refuse(path, `its header says UTC_START ${utc}`, 'write it like 2013-07-02-01:37:40');
    const picoseconds = numberOf(path, keys, 'PICOSECONDS', 0);
    const start = parseInstant(`${match[1]}T${match[2]}${match.at(3) ?? ''}`, path);
    const finer = fromMjd(keys);
    const awayS = finer ? Math.abs(secondsBetween(start, finer.start)) : 0;
    if (finer && awayS > MOST_APART_S + finer.roundedToS)
      refuse(
        path,
        `its header contradicts itself: UTC_START ${utc} and MJD_START ${keys.get('MJD_START') ?? ''} are ${awayS.toFixed(1)} s apart`,
        'correct the one that is wrong, or take it out',
      );
    if (picoseconds !== 0 || match.at(3) === undefined) return addSeconds(start, picoseconds * 1e-12);
    const roundedToS = 10 ** -(match[3].length - 1);
    return finer && awayS < roundedToS && awayS > 2 * finer.roundedToS ? finer.start : start;
  }
  return (
    fromMjd(keys)?.start ??
    refuse(path, 'its header has neither UTC_START nor MJD_START', 'it is damaged, or not a recording')
  );
}

function fromMjd(keys: Keys): { readonly start: Instant; readonly roundedToS: number } | undefined {
  const mjd = /^(\d+)(\.\d*)?$/.exec(keys.get('MJD_START') ?? '');
  // Templates leave day 0.
  if (!mjd || Number(mjd[1]) === 0) return undefined;
  const fraction = mjd.at(2) ?? '.';
  return {
    start: instant(unixFromMjd(Number(mjd[1])), Number(`0${fraction}`) * 86_400),
    roundedToS: 86_400 * 10 ** -(fraction.length - 1),
  };
}

/**
 * What the header promises beyond the `heldBytes` present. FILE_SIZE and TRANSFER_SIZE count data without the header,
 * and are the *requested* length: the last file of a recording is legitimately shorter, so its end is reported, not
 * filled with samples that may never have been taken. A recording that ends at TRANSFER_SIZE is complete.
 */
export function promiseOf(
  keys: Keys,
  heldBytes: number,
): { readonly said: string; readonly promisedBytes: number } | undefined {
  // "unset" promises nothing, and no value here justifies refusing a recording.
  const size = (key: string): number => {
    const bytes = Number(keys.get(key));
    return Number.isFinite(bytes) ? bytes : 0;
  };
  const transferBytes = size('TRANSFER_SIZE');
  if (transferBytes > 0 && size('OBS_OFFSET') + heldBytes >= transferBytes) return undefined;
  const promised = (['FILE_SIZE', 'TRANSFER_SIZE'] as const)
    .map((said) => ({ said, promisedBytes: size(said) }))
    .filter(({ promisedBytes }) => promisedBytes > 0)
    .sort((a, b) => a.promisedBytes - b.promisedBytes)
    .at(0);
  return promised && promised.promisedBytes > heldBytes ? promised : undefined;
}
