/** Integrations and images into files by time: complete after each of them, closed at the end of the time range. */
import { open, readlink, stat, type FileHandle } from 'node:fs/promises';
import { basename, join, parse } from 'node:path';
import type { Integration } from '../../core/blocks.js';
import { CorellaError } from '../../core/errors.js';
import { addSeconds, formatInstant, isInLeapSecond, type Instant } from '../../core/instant.js';
import { leapSecondsBefore } from '../../core/leap-seconds.js';
import {
  errorCode,
  isThere,
  TRUNCATED,
  visibilityFormatFor,
  type StoredValues,
  type VisibilityHeader,
  type VisibilityWriter,
} from '../../formats/index.js';
import { skyFrame } from '../../sky/frame.js';
import type { PhaseCentre } from '../../sky/phase-centre.js';
import type { Telescope } from '../../telescope/telescope.js';
import type { Recorder } from './recorder.js';

export interface FileSettings {
  /** Name of the only file; with `everyS`, or after a restart of the senders, names include the start. */
  readonly path: string;
  /** A new file on every multiple of this since midnight UTC. */
  readonly everyS?: number;
  readonly values: StoredValues;
  /** Of integer sums (formats/format.ts). */
  readonly largestSum?: number;
  /** Whether to replace a file of that name; otherwise the new one is numbered. */
  readonly overwrite?: boolean;
  readonly header: Omit<VisibilityHeader, 'phaseCentre' | 'object'>;
  /** Phase centre of the files: a tracked position; by default the zenith. */
  readonly centre?: PhaseCentre;
}

export interface FileEvent {
  /**
   * `full`: the disk is full, or its folder may not be written. `gone`: the contents are lost, or no file can be made.
   * `moved`: complete, elsewhere. `many`: no file is made, as the data began anew too often.
   */
  readonly kind: 'opened' | 'closed' | 'full' | 'gone' | 'moved' | 'many';
  readonly path: string;
  /** In the file, or lost with it. */
  readonly integrations: number;
  /** Reason, where there is no file or it ended early; of a closed file, what is left out beside it. */
  readonly why?: string;
  /** New path of a moved file. */
  readonly to?: string;
}

/** Writes integrations to files by time, on either thread. */
export interface LiveFiles extends Recorder {
  /** Its arrays may be transferred. */
  append(integration: Integration): Promise<void>;
  readonly written: number;
  readonly unwritten: number;
}

/** Interval between attempts on a full disk. */
const RETRY_MS = 10_000;
const DISK_ENDS = ['ENOSPC', 'EDQUOT', 'EIO', 'EFBIG'];
/** Errors while a folder may not be written: it could be before, and may be again. */
const PLACE_LOCKED = ['EACCES', 'EPERM', 'EROFS'];
/** New stream epochs begin new files; more of them within a minute are a fault of the senders. */
const MOST_FILES_A_MINUTE = 60;
const MINUTE_MS = 60_000;
/** Errors when an existing folder has disappeared. */
const PLACE_GONE = ['ENOENT', 'ENOTDIR', 'ESTALE'];

/** What a file holds: an integration, or an image. */
type Timed = Pick<Integration, 'start' | 'durationS'>;

/** Complete after each item. */
export type GrowingWriter<Item> = Omit<VisibilityWriter, 'append'> & { append(item: Item): Promise<void> };

interface OpenFile<Item> {
  readonly path: string;
  readonly slot: number;
  readonly writer: GrowingWriter<Item>;
  integrations: number;
  /** Date of the latest integration. */
  dateS: number;
  /** Leap seconds before its integrations. */
  readonly leaps: number;
  /** Once the file has its name. */
  growing?: GrowingFile;
}

/** Readers treat closer times as equal. */
const ONE_DATE_S = 1e-3;

type FilePosition = Pick<VisibilityHeader, 'phaseCentre' | 'object'>;

/** Phase centre of a file: a position, or the zenith at an instant. */
export function stoppedAt(
  centre: PhaseCentre | undefined,
  { site }: Telescope,
  moment: Instant,
): FilePosition {
  const frame = skyFrame(site, moment);
  return centre
    ? { phaseCentre: centre.position(frame), object: centre.name }
    : { phaseCentre: frame.zenith, object: 'zenith' };
}

/** Phase centre of a file that begins with an integration. */
export const positionFrom = (
  { header, everyS, centre }: Pick<FileSettings, 'header' | 'everyS' | 'centre'>,
  { start }: Integration,
): FilePosition =>
  stoppedAt(centre, header.telescope, addSeconds(start, everyS === undefined ? 0 : everyS / 2));

/** Files by time of items that are written as they come. */
export abstract class GrowingFiles<Item extends Timed> implements Recorder {
  private open: OpenFile<Item> | undefined;
  private opened = 0;
  private retryAtMs = 0;
  private isPlaceGone = false;
  /** Whether the next file continues none, and when such files were begun. */
  private isAnew = false;
  private begunAnewMs: number[] = [];
  /** Reported with the next file that is closed. */
  private besides: string | undefined;
  /** Every file with data, in time order. */
  readonly paths: string[] = [];
  written = 0;
  /** Integrations that were lost to a full disk or a removed file. */
  unwritten = 0;

  constructor(
    private readonly naming: Naming,
    private readonly onEvent: (event: FileEvent) => void,
  ) {}

  /** The file that begins with an item. */
  protected abstract create(path: string, item: Item): Promise<GrowingWriter<Item>>;

  async append(item: Item): Promise<void> {
    await this.look();
    const slot = slotOf(this.naming.everyS, item.start);
    const middle = addSeconds(item.start, item.durationS / 2);
    if (isInLeapSecond(middle)) {
      const leap = formatInstant({ ...middle, fraction: 1 }, 0);
      this.besides = `the leap second ${leap} is not written: dates of files cannot hold it`;
      await this.finish();
      return;
    }
    const leaps = leapSecondsBefore(middle.unixSeconds);
    const dateS = middle.unixSeconds + middle.fraction;
    const leastS = Math.min(ONE_DATE_S, item.durationS / 4);
    const { open: before } = this;
    if (before && (before.slot !== slot || before.leaps !== leaps || dateS - before.dateS < leastS))
      await this.finish();
    if (!this.open && (performance.now() < this.retryAtMs || this.areTooMany())) {
      this.unwritten++;
      return;
    }
    try {
      this.open ??= await this.begin(item, { slot, leaps });
      await this.open.writer.append(item);
      this.open.growing ??= await growingFile(this.open.path);
      this.open.integrations++;
      this.open.dateS = dateS;
      this.written++;
      this.isPlaceGone = false;
    } catch (error) {
      if (!(error instanceof CorellaError)) throw error;
      const code = errorCode(error.cause);
      if (code === TRUNCATED) await this.lose(error.what);
      else if (this.opened > 0 && PLACE_GONE.includes(code)) await this.withoutPlace(error.what);
      else if (this.endsForNow(code)) await this.keep(error.what);
      else throw error;
      this.unwritten++;
    }
  }

  /** Checks the open file: removal loses its integrations; a moved file ends there. */
  private async look(): Promise<void> {
    const whereabouts = await this.open?.growing?.whereabouts();
    if (whereabouts === undefined || whereabouts === 'there' || !this.open) return;
    const { path, integrations, writer, growing } = this.open;
    this.open = undefined;
    await growing?.close();
    if (whereabouts === 'gone') {
      await writer.abandon();
      this.written -= integrations;
      this.unwritten += integrations;
      this.onEvent({ kind: 'gone', path, integrations, why: 'was removed while it was written' });
      return;
    }
    const { movedTo } = whereabouts;
    await writer.finish();
    this.paths.push(movedTo);
    this.onEvent({ kind: 'moved', path, integrations, to: movedTo });
  }

  /** Another program truncated the file: its integrations are no longer reliable. The next one begins a new file. */
  private async lose(why: string): Promise<void> {
    const lost = this.open;
    this.open = undefined;
    if (!lost) return;
    const { path, integrations, writer, growing } = lost;
    await growing?.close();
    await writer.abandon();
    this.written -= integrations;
    this.unwritten += integrations;
    this.onEvent({ kind: 'gone', path, integrations, why });
  }

  /** Retried with every integration and reported once. */
  private async withoutPlace(why: string): Promise<void> {
    const { path } = this.open ?? this.naming;
    await this.open?.writer.abandon();
    this.open = undefined;
    if (!this.isPlaceGone) this.onEvent({ kind: 'gone', path, integrations: 0, why });
    this.isPlaceGone = true;
  }

  /** Full, or locked after files could be made. */
  private endsForNow(code: string): boolean {
    return DISK_ENDS.includes(code) || (this.opened > 0 && PLACE_LOCKED.includes(code));
  }

  /** Whether senders that restart all the time would make too many files; reported once a minute. */
  private areTooMany(): boolean {
    if (!this.isAnew) return false;
    const now = performance.now();
    this.begunAnewMs = this.begunAnewMs.filter((ms) => now - ms < MINUTE_MS);
    if (this.begunAnewMs.length < MOST_FILES_A_MINUTE) {
      this.begunAnewMs.push(now);
      this.isAnew = false;
      return false;
    }
    this.retryAtMs = this.begunAnewMs[0] + MINUTE_MS;
    const why = `the data began anew ${MOST_FILES_A_MINUTE} times within a minute`;
    this.onEvent({ kind: 'many', path: this.naming.path, integrations: 0, why });
    return true;
  }

  /** Ends the file: the senders restarted, or the run is over. */
  async close(): Promise<void> {
    this.isAnew ||= this.open !== undefined;
    await this.finish();
  }

  /** Ends the file: its time range is over. */
  private async finish(): Promise<void> {
    await this.look();
    const done = this.open;
    if (!done) return;
    const { path, integrations, writer } = done;
    if (integrations === 0) {
      this.open = undefined;
      await done.growing?.close();
      await writer.abandon();
      return;
    }
    try {
      await writer.finish();
    } catch (error) {
      if (!(error instanceof CorellaError)) throw error;
      const code = errorCode(error.cause);
      if (code === TRUNCATED) await this.lose(error.what);
      else if (this.endsForNow(code)) await this.keep(error.what);
      else throw error;
      return;
    }
    this.open = undefined;
    await done.growing?.close();
    this.paths.push(path);
    this.onEvent({ kind: 'closed', path, integrations, ...(this.besides && { why: this.besides }) });
    this.besides = undefined;
  }

  private async keep(why: string): Promise<void> {
    const full = this.open;
    this.open = undefined;
    this.retryAtMs = performance.now() + RETRY_MS;
    await full?.growing?.close();
    const integrations = full ? await full.writer.keep() : 0;
    if (full && integrations > 0) this.paths.push(full.path);
    this.onEvent({ kind: 'full', path: full?.path ?? this.naming.path, integrations, why });
  }

  private async begin(item: Item, times: Pick<OpenFile<Item>, 'slot' | 'leaps'>): Promise<OpenFile<Item>> {
    const path = await nextPath(this.naming, item.start, this.opened === 0);
    const writer = await this.create(path, item);
    this.opened++;
    this.onEvent({ kind: 'opened', path, integrations: 0 });
    return { path, ...times, writer, integrations: 0, dateS: -Infinity };
  }
}

export class FilesByTime extends GrowingFiles<Integration> implements LiveFiles {
  private position: FilePosition | undefined;

  constructor(
    private readonly settings: FileSettings,
    onEvent: (event: FileEvent) => void,
  ) {
    super(settings, onEvent);
  }

  /** `position`: of a file that begins here; by default that of the settings. */
  override append(integration: Integration, position?: FilePosition): Promise<void> {
    this.position = position;
    return super.append(integration);
  }

  protected override create(path: string, integration: Integration): Promise<VisibilityWriter> {
    const { header, values, largestSum } = this.settings;
    return visibilityFormatFor(path).createVisibilities(
      path,
      { ...header, ...(this.position ?? positionFrom(this.settings, integration)), feedFrame: 'feeds' },
      { values, appears: 'first-integration', largestSum },
    );
  }
}

type Whereabouts = 'there' | 'gone' | { readonly movedTo: string };

interface GrowingFile {
  /** Costs one lookup of the name. */
  whereabouts(): Promise<Whereabouts>;
  close(): Promise<void>;
}

/** For a file that has its name. */
async function growingFile(path: string): Promise<GrowingFile> {
  const handle = await open(path).catch(() => undefined);
  const isIt = await sameAs(handle);
  return {
    whereabouts: async () => {
      if (await isIt(path)) return 'there';
      const movedTo = handle && (await nameOf(handle));
      return movedTo !== undefined && (await isIt(movedTo)) ? { movedTo } : 'gone';
    },
    close: async () => {
      await handle?.close();
    },
  };
}

async function sameAs(handle: FileHandle | undefined): Promise<(path: string) => Promise<boolean>> {
  const own = await handle?.stat({ bigint: true });
  return async (path) => {
    const found = await stat(path, { bigint: true }).catch(() => undefined);
    return own !== undefined && found?.ino === own.ino && found.dev === own.dev;
  };
}

/** Only Linux reports the new name; elsewhere a moved file counts as gone. */
async function nameOf({ fd }: FileHandle): Promise<string | undefined> {
  const name = await readlink(`/proc/self/fd/${fd}`).catch(() => undefined);
  // The name that NFS gives to a file removed while open: it disappears on close.
  return name === undefined || basename(name).startsWith('.nfs') ? undefined : name;
}

/** Successive files: one name, or one file per UTC interval with its start in its name. */
interface Naming {
  readonly path: string;
  readonly everyS?: number;
  /** By default, restarting an interrupted run overwrites nothing. */
  readonly overwrite?: boolean;
}

/** The interval that contains an instant. */
export const slotOf = (everyS: number | undefined, { unixSeconds, fraction }: Instant): number =>
  // A start that is before the boundary by a rounding error counts as on it.
  everyS === undefined ? 0 : Math.floor((unixSeconds + fraction + 1e-6) / everyS);

export async function nextPath(
  { path, everyS, overwrite }: Naming,
  start: Instant,
  isFirst: boolean,
): Promise<string> {
  const beside = (of: string, suffix: string | number): string => {
    const { dir, name, ext } = parse(of);
    return join(dir, `${name}-${suffix}${ext}`);
  };
  const stamp = formatInstant(start, everyS !== undefined && everyS < 1 ? 3 : 0).replaceAll(':', '');
  const named = everyS === undefined && isFirst ? path : beside(path, stamp);
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? named : beside(named, number);
    if (overwrite === true || !(await isThere(candidate))) return candidate;
  }
}
