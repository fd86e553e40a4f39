/** Summary of a run: the minutes received and written, with their fraction of samples; files and stream epochs. */
import type { FileEvent } from '../products/index.js';
import type { ObservationView } from './messages.js';

interface Minute {
  integrations: number;
  seconds: number;
  present: number;
  written: number;
}

/** Two days of minutes. */
export const MOST_MINUTES = 2880;
const MOST_FILES = 1000;

/** Deletes the oldest entries. */
export function keepLatest<Key>(map: Map<Key, unknown>, most: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}

export class MinuteCounts {
  private readonly minutes = new Map<number, Minute>();
  private readonly files = new Map<string, { integrations: number; state: string }>();
  private readonly sessions: { readonly session: number; readonly start: string }[] = [];
  written = 0;
  unwritten = 0;
  newestUnixS: number | undefined;
  newestPath: string | undefined;

  constructor(private readonly startedUnixS: number) {}

  session(session: number, start: string): void {
    this.sessions.push({ session, start });
    if (this.sessions.length > 100) this.sessions.shift();
  }

  /** Adds an integration at data time `unixS`. */
  integration(unixS: number, present: number, isWritten: boolean, durationS: number): void {
    const minute = Math.floor(unixS / 60);
    const known = this.minutes.get(minute) ?? { integrations: 0, seconds: 0, present: 0, written: 0 };
    known.integrations++;
    known.seconds += durationS;
    known.present += present;
    if (isWritten) known.written++;
    this.minutes.set(minute, known);
    keepLatest(this.minutes, MOST_MINUTES);
  }

  /** Updates the total of written integrations; returns how many are new. */
  wrote(written: number, unwritten: number, unixS: number): number {
    const more = written - this.written;
    if (more > 0) this.newestUnixS = unixS;
    const open = this.newestPath === undefined ? undefined : this.files.get(this.newestPath);
    if (open?.state === 'open') open.integrations += more;
    this.written = written;
    this.unwritten = unwritten;
    return more;
  }

  file({ kind, path, integrations }: FileEvent): void {
    if (kind === 'many') return;
    if (kind === 'gone') this.written -= integrations;
    this.files.set(path, { integrations, state: kind === 'opened' ? 'open' : kind });
    if (kind === 'opened') this.newestPath = path;
    keepLatest(this.files, MOST_FILES);
  }

  get fileCount(): number {
    return this.files.size;
  }

  view(): ObservationView {
    return {
      startedUnixS: this.startedUnixS,
      minutes: [...this.minutes].map(([minute, { integrations, seconds, present, written }]) => ({
        minute,
        integrations,
        seconds: Number(seconds.toFixed(6)),
        written,
        presentPercent: Number(((100 * present) / integrations).toFixed(2)),
      })),
      files: [...this.files].map(([path, file]) => ({ path, ...file })),
      sessions: this.sessions.slice(),
    };
  }
}
