/**
 * Shared by all frames of the Long Wavelength Array: a sync word, an identifying byte, big-endian headers and time tags
 * in ticks of the 196 MHz clock since 1970 (UTC). The sync word allows resynchronisation after damage.
 */
import { baselineCount, countsCB, visibilitiesCBPP } from '../../../core/axes.js';
import type { Integration } from '../../../core/blocks.js';
import { refuse } from '../../../core/errors.js';
import { instant, type Instant } from '../../../core/instant.js';
import { emptyTally, isSync, nextSync, walkFrames, type Frame, type FrameReading } from '../frames.js';
import type { FrameTally } from '../../format.js';
import { headOf, type InputFile } from '../../io/input.js';

export const CLOCK_HZ = 196_000_000;
export const SYNC = [0xde, 0xc0, 0xde, 0x5c] as const;

export type LwaKind = 'tbn' | 'tbw' | 'tbf' | 'tbx' | 'drx' | 'drx8' | 'cor';

export const headerBytes = {
  tbn: 24,
  tbw: 24,
  tbf: 24,
  tbx: 28,
  drx: 32,
  drx8: 32,
  cor: 32,
} satisfies Record<LwaKind, number>;

export interface LwaShape {
  readonly kind: LwaKind;
  readonly frameBytes: number;
  /** From the stations' newer processor, which has different channels (TBF). */
  readonly isNewer?: boolean;
}

/**
 * The identifying byte gives the kind: zero TBN, or TBW if the top bit of the stand is set; one TBF, five that of the
 * newer processor; two COR, eight TBX; DRX gives beam and tuning, and DRX8 the same with frames twice as long.
 */
function kindOf(bytes: Uint8Array, at: number): Exclude<LwaKind, 'drx8'> | undefined {
  const id = bytes[at + 4];
  const tuning = (id >>> 3) & 7;
  if (id === 0) return bytes[at + 12] >>> 7 === 1 ? 'tbw' : 'tbn';
  if (id === 1 || id === NEWER_TBF) return 'tbf';
  if (id === 2) return 'cor';
  if (id === 8) return 'tbx';
  return (id & 7) > 0 && (tuning === 1 || tuning === 2) ? 'drx' : undefined;
}
const NEWER_TBF = 5;
const isOfKind = (bytes: Uint8Array, at: number, kind: LwaKind): boolean =>
  kindOf(bytes, at) === (kind === 'drx8' ? 'drx' : kind);

const DRX_BYTES = 4128;
const DRX8_BYTES = 8224;

const isFrameLength = {
  tbn: (bytes: number) => bytes === 1048,
  tbw: (bytes: number) => bytes === 1224,
  tbf: (bytes: number) => bytes > 24 && (bytes - 24) % 48 === 0,
  tbx: (bytes: number) => bytes > 28,
  drx: (bytes: number) => bytes === DRX_BYTES,
  drx8: (bytes: number) => bytes === DRX8_BYTES,
  cor: (bytes: number) => bytes > 32 && (bytes - 32) % 32 === 0,
} satisfies Record<LwaKind, (bytes: number) => boolean>;

const FRONT_BYTES = 1 << 18;

/** Only the frame spacing distinguishes four-bit from eight-bit beam frames: the more frequent spacing decides. */
function drxKind(front: Uint8Array, first: number): 'drx' | 'drx8' {
  let [near, far] = [0, 0];
  for (let at = first; at + 4 <= front.length; at = nextSync(SYNC, front, at + 4)) {
    const distance = nextSync(SYNC, front, at + 4) - at;
    if (distance === DRX_BYTES) near++;
    if (distance === DRX8_BYTES) far++;
  }
  if (near + far > 0) return far > near ? 'drx8' : 'drx';
  return front.length - first >= DRX8_BYTES ? 'drx8' : 'drx';
}

/** TBF states its number of stands since there have been stations of 64; before, it follows from the frame length. */
const tbfBytes = (front: Uint8Array, view: DataView, at: number): number => {
  const stands = view.getUint16(at + 14);
  return stands === 0 ? nextSync(SYNC, front, at + 4) - at : headerBytes.tbf + 24 * stands;
};

/** The kind and length of a file's frames, from its first sync words. */
export async function shapeOf(file: InputFile): Promise<LwaShape> {
  const { path } = file;
  const front = await headOf(file, FRONT_BYTES);
  const view = new DataView(front.buffer);
  for (let at = nextSync(SYNC, front, 0); at + 32 <= front.length; at = nextSync(SYNC, front, at + 1)) {
    const family = kindOf(front, at);
    if (!family) continue;
    const kind = family === 'drx' ? drxKind(front, at) : family;
    const frameBytes = {
      tbn: () => 1048,
      tbw: () => 1224,
      tbf: () => tbfBytes(front, view, at),
      tbx: () => headerBytes.tbx + 2 * view.getUint16(at + 16) * view.getUint16(at + 18),
      drx: () => DRX_BYTES,
      drx8: () => DRX8_BYTES,
      cor: () => nextSync(SYNC, front, at + 4) - at,
    }[kind]();
    if (!isFrameLength[kind](frameBytes) || at + frameBytes > file.sizeBytes) continue;
    // Two frames at this spacing are enough; a single frame is accepted.
    const next = at + frameBytes;
    if (next + 4 <= front.length && !isSync(SYNC, front, next)) continue;
    return { kind, frameBytes, ...(kind === 'tbf' && { isNewer: front[at + 4] === NEWER_TBF }) };
  }
  return refuse(path, 'no whole LWA frame is in it', 'it is damaged, cut short, or in another format');
}

/** Makes a frame of the bytes, or reports that they are damaged or belong to another stream. */
type LwaVisit = (view: DataView, at: number, payload: Uint8Array) => Frame | 'invalid' | 'other' | undefined;

/** Reads from sync word to sync word. */
export function lwaReading(
  file: InputFile,
  { kind, frameBytes }: LwaShape,
  tally: FrameTally,
  visit: LwaVisit,
): FrameReading {
  return {
    file,
    from: 0,
    bufferBytes: Math.max(1 << 20, 4 * frameBytes),
    tally,
    parse: (bytes, view, at) => {
      if (!isSync(SYNC, bytes, at)) {
        const sync = nextSync(SYNC, bytes, at);
        if (sync === at) return { consumed: 0 };
        tally.spareBytes += sync - at;
        return { consumed: sync - at };
      }
      if (at + frameBytes > bytes.length) return { consumed: 0 };
      if (!isOfKind(bytes, at, kind)) {
        tally.invalid++;
        return { consumed: 4 };
      }
      const made = visit(view, at, bytes.subarray(at + headerBytes[kind], at + frameBytes));
      if (made === 'invalid') tally.invalid++;
      return { consumed: frameBytes, frame: typeof made === 'string' ? undefined : made };
    },
  };
}

const WINDOW_BYTES = 8 * 2 ** 20;

/** The headers at both ends of the file, to learn its content before reading it; refused if there are none. */
export async function headersAtEnds<Header>(
  file: InputFile,
  shape: LwaShape,
  read: (view: DataView, at: number) => Header,
): Promise<readonly Header[]> {
  const seen: Header[] = [];
  const reading = lwaReading(file, shape, emptyTally(), (view, at) => {
    seen.push(read(view, at));
    return undefined;
  });
  const ends =
    file.sizeBytes <= 2 * WINDOW_BYTES
      ? [{ from: 0, end: file.sizeBytes }]
      : [
          { from: 0, end: WINDOW_BYTES },
          { from: file.sizeBytes - WINDOW_BYTES, end: file.sizeBytes },
        ];
  for (const end of ends) await walkFrames({ ...reading, ...end });
  if (seen.length === 0)
    refuse(file.path, `no whole ${shape.kind.toUpperCase()} frame is in it`, 'it is damaged or cut short');
  return seen;
}

const ticksPerSecond = BigInt(CLOCK_HZ);
export const instantOfTag = (tag: bigint): Instant =>
  instant(Number(tag / ticksPerSecond), Number(tag % ticksPerSecond) / CLOCK_HZ);
/** A tuning word is in units of the clock divided by 2³². */
export const tuningHz = (word: number): number => (word * CLOCK_HZ) / 2 ** 32;

/** An integration of two polarisations without data. */
export function emptyIntegration(
  when: Pick<Integration, 'start' | 'durationS'>,
  channels: number,
  stations: number,
): Integration {
  const baselines = baselineCount(stations);
  return {
    ...when,
    channels,
    stations,
    polarisations: 2,
    visibilities: visibilitiesCBPP(new Float64Array(channels * baselines * 4 * 2), channels, baselines, 2),
    counts: countsCB(new Float64Array(channels * baselines), channels, baselines),
    flaggedInputs: new Uint8Array(2 * stations),
  };
}
