/** Integrations into files by time: each is whole after every integration, and closed when its time is over. */
import { open, readlink, stat, type FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Integration } from '../core/blocks.js';
import { CorellaError } from '../core/errors.js';
import { addSeconds, type Instant } from '../core/instant.js';
import {
  errorCode,
  TRUNCATED,
  visibilityFormatFor,
  type StoredValues,
  type VisibilityHeader,
  type VisibilityWriter,
} from '../formats/index.js';
import { skyFrame } from '../sky/frame.js';
import type { PhaseCentre } from '../sky/phase-centre.js';
import type { Telescope } from '../telescope/telescope.js';
import { nextPath, slotOf } from './file-slots.js';

export interface FileSettings {
  /** The name of the one file; with `everyS`, and after a restart of the senders, each has its start in its name. */
  readonly path: string;
  /** A new file on every multiple of this since midnight UTC. */
  readonly everyS?: number;
  readonly values: StoredValues;
  /** Of whole sums (formats/format.ts). */
  readonly largestSum?: number;
  /** Whether a file of that name may be replaced; else the new one is numbered. */
  readonly overwrite?: boolean;
  readonly header: Omit<VisibilityHeader, 'phaseCentre' | 'object'>;
  /** Where fringes are stopped in the files: the place that is tracked; the zenith unless given. */
  readonly centre?: PhaseCentre;
}

export interface FileEvent {
  /** `full`: no room on the disk. `gone`: what was in it is lost, or no file can be made. `moved`: whole, elsewhere. */
  readonly kind: 'opened' | 'closed' | 'full' | 'gone' | 'moved';
  readonly path: string;
  /** In it, or lost with it. */
  readonly integrations: number;
  /** Of a full disk, or a place that is gone. */
  readonly why?: string;
  /** Where it was moved to. */
  readonly to?: string;
}

/** How long a full disk is left alone. */
const RETRY_MS = 10_000;
const DISK_ENDS = ['ENOSPC', 'EDQUOT', 'EIO', 'EFBIG'];
/** Of a folder that was there before. */
const PLACE_GONE = ['ENOENT', 'ENOTDIR', 'ESTALE'];

interface OpenFile {
  readonly path: string;
  readonly slot: number;
  readonly writer: VisibilityWriter;
  integrations: number;
  /** Of the latest. */
  dateS: number;
  /** Once it has its name. */
  growing?: GrowingFile;
}

/** Readers take times that are closer for one. */
const ONE_DATE_S = 1e-3;

/** The middle, in seconds that leave out leap seconds, as Julian Dates do. */
function dateOf({ start, durationS }: Integration): number {
  const { unixSeconds, fraction } = addSeconds(start, durationS / 2);
  return unixSeconds + fraction;
}

/** Where fringes are stopped in a file: at a place, or at the zenith of a moment. */
export function stoppedAt(
  centre: PhaseCentre | undefined,
  { site }: Telescope,
  moment: Instant,
): Pick<VisibilityHeader, 'phaseCentre' | 'object'> {
  const frame = skyFrame(site, moment);
  return centre
    ? { phaseCentre: centre.position(frame), object: centre.name }
    : { phaseCentre: frame.zenith, object: 'zenith' };
}

export class FilesByTime {
  private open: OpenFile | undefined;
  private opened = 0;
  private retryAtMs = 0;
  private isPlaceGone = false;
  /** Every file that holds something, in the order of time. */
  readonly paths: string[] = [];
  written = 0;
  /** Integrations for which the disk had no room, or whose file was taken away. */
  unwritten = 0;

  constructor(
    private readonly settings: FileSettings,
    private readonly onEvent: (event: FileEvent) => void,
  ) {}

  async append(integration: Integration): Promise<void> {
    await this.look();
    const slot = slotOf(this.settings.everyS, integration.start);
    const dateS = dateOf(integration);
    const leastS = Math.min(ONE_DATE_S, integration.durationS / 4);
    // A leap second and the second after it have the same dates in files: a new one begins.
    if (this.open && (this.open.slot !== slot || dateS - this.open.dateS < leastS)) await this.close();
    if (!this.open && performance.now() < this.retryAtMs) {
      this.unwritten++;
      return;
    }
    try {
      this.open ??= await this.create(integration, slot);
      await this.open.writer.append(integration);
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
      else if (DISK_ENDS.includes(code)) {
        this.retryAtMs = performance.now() + RETRY_MS;
        await this.keep(error.what);
      } else throw error;
      this.unwritten++;
    }
  }

  /** A file that was removed takes its integrations with it, and one that was moved is at its end there. */
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

  /** Another program cut the file: none of its integrations is known to be whole. The next begins a new file. */
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

  /** Tried anew with every integration, and told once. */
  private async withoutPlace(why: string): Promise<void> {
    const { path } = this.open ?? this.settings;
    await this.open?.writer.abandon();
    this.open = undefined;
    if (!this.isPlaceGone) this.onEvent({ kind: 'gone', path, integrations: 0, why });
    this.isPlaceGone = true;
  }

  /** The file is at its end: its time is over, or the senders were started anew. */
  async close(): Promise<void> {
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
      if (!(error instanceof CorellaError) || errorCode(error.cause) !== TRUNCATED) throw error;
      await this.lose(error.what);
      return;
    }
    this.open = undefined;
    await done.growing?.close();
    this.paths.push(path);
    this.onEvent({ kind: 'closed', path, integrations });
  }

  private async keep(why: string): Promise<void> {
    const full = this.open;
    this.open = undefined;
    await full?.growing?.close();
    const integrations = full ? await full.writer.keep() : 0;
    if (full && integrations > 0) this.paths.push(full.path);
    this.onEvent({ kind: 'full', path: full?.path ?? this.settings.path, integrations, why });
  }

  private async create({ start }: Integration, slot: number): Promise<OpenFile> {
    const { header, values, everyS, largestSum, centre } = this.settings;
    const path = await nextPath(this.settings, start, this.opened === 0);
    const middle = addSeconds(start, everyS === undefined ? 0 : everyS / 2);
    const stopped = stoppedAt(centre, header.telescope, middle);
    const writer = await visibilityFormatFor(path).createVisibilities(
      path,
      { ...header, ...stopped, feedFrame: 'feeds' },
      { values, appears: 'first-integration', ...(largestSum !== undefined && { largestSum }) },
    );
    this.opened++;
    this.onEvent({ kind: 'opened', path, integrations: 0 });
    return { path, slot, writer, integrations: 0, dateS: -Infinity };
  }
}

type Whereabouts = 'there' | 'gone' | { readonly movedTo: string };

interface GrowingFile {
  /** Costs a look at the name. */
  whereabouts(): Promise<Whereabouts>;
  close(): Promise<void>;
}

/** Of a file that has its name. */
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

/** Linux alone tells; elsewhere a file that was moved counts as gone. */
async function nameOf({ fd }: FileHandle): Promise<string | undefined> {
  const name = await readlink(`/proc/self/fd/${fd}`).catch(() => undefined);
  // What NFS calls a file that was removed while it is open: it is gone when it is closed.
  return name === undefined || basename(name).startsWith('.nfs') ? undefined : name;
}
