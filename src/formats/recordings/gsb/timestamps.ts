/**
 * Time stamps of the GMRT software backend: one line per frame. Raw dumps have the GPS time; phased arrays have the
 * computer's time, the GPS time, a running number and a memory block. Clocks show Indian time, 5 h 30 min ahead of UTC.
 */
import { refuse } from '../../../core/errors.js';
import { instant, secondsBetween, type Instant } from '../../../core/instant.js';

/** The duration of a frame, whatever it contains. */
export const FRAME_S = 0.25165824;
const INDIAN_TIME_S = 5.5 * 3600;

const TIME = String.raw`(\d{4}) (\d{1,2}) (\d{1,2}) (\d{1,2}) (\d{1,2}) (\d{1,2}) +(0?\.\d+)`;
const RAW_LINE = new RegExp(`^\\s*${TIME}\\s*$`);
const PHASED_LINE = new RegExp(`^\\s*${TIME} +${TIME} +(\\d+) +(\\d+)\\s*$`);

export type GsbKind = 'rawdump' | 'phased';

/** From the first line of a time-stamp file. */
export function gsbKindOf(text: string): GsbKind | undefined {
  const line = text.split(/\r?\n/, 1)[0];
  if (RAW_LINE.test(line)) return 'rawdump';
  return PHASED_LINE.test(line) ? 'phased' : undefined;
}

function utcOf(where: string, fields: readonly string[]): Instant {
  const [year, month, day, hour, minute, second] = fields.slice(0, 6).map(Number);
  const unixS = Date.UTC(year, month - 1, day, hour, minute, second) / 1000;
  const back = new Date(unixS * 1000);
  if (
    back.getUTCMonth() !== month - 1 ||
    back.getUTCDate() !== day ||
    hour > 23 ||
    minute > 59 ||
    second > 60
  )
    refuse(where, `there is no time ${fields.join(' ')}`, 'it is damaged: copy it again');
  return instant(unixS - INDIAN_TIME_S, Number(fields[6]));
}

export interface GsbTimes {
  readonly kind: GsbKind;
  readonly start: Instant;
  /** For each line: how many frames after the first its samples begin. */
  readonly places: readonly number[];
}

/** Largest deviation of a frame's time, in frames: clocks are accurate to some nanoseconds, damaged values are not. */
const MOST_OFF = 1e-3;

export function readTimes(path: string, text: string): GsbTimes {
  const kind =
    gsbKindOf(text) ?? refuse(path, 'holds no time stamps of the GMRT', 'name its .timestamp file');
  const times: Instant[] = [];
  text.split(/\r?\n/).forEach((line, k) => {
    if (line.trim() === '') return;
    const where = `${path}, line ${k + 1}`;
    const fields = (kind === 'rawdump' ? RAW_LINE : PHASED_LINE).exec(line);
    if (!fields) refuse(where, 'is no time stamp', 'it is damaged: copy it again');
    times.push(utcOf(where, fields.slice(kind === 'rawdump' ? 1 : 8)));
  });
  const start = times[0];
  let reached = -1;
  const places = times.map((time, k) => {
    const frames = secondsBetween(start, time) / FRAME_S;
    const place = Math.round(frames);
    if (Math.abs(frames - place) > MOST_OFF || place <= reached)
      refuse(
        `${path}, line ${k + 1}`,
        `its time is ${frames.toFixed(4)} frames after the first, where whole frames follow each other`,
        'it is damaged, or two recordings were joined: cut them apart',
      );
    reached = place;
    return place;
  });
  return { kind, start, places };
}
