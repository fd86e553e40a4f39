/**
 * Captures of tcpdump and Wireshark: classic pcap here, pcapng in pcapng.ts, identified by their first bytes. Records
 * are read as the bytes arrive, so a capture may be larger than memory, or a pipe. Of a truncated or damaged capture,
 * everything before that point is read, with the place and the reason of the end.
 */
import { refuse } from '../core/errors.js';
import { viewOf } from './bytes.js';
import type { CaptureParser, CaptureRecord } from './capture-record.js';
import { isPcapng, pcapngBlocks } from './pcapng.js';

export type { CaptureRecord } from './capture-record.js';

/** Where reading stopped early, and why. */
export interface CaptureEnd {
  readonly cause: 'cut' | 'damaged';
  readonly atByte: number;
  readonly why: string;
}

/** No frame is longer: a larger length is damaged. */
const MOST_FRAME_BYTES = 2 ** 20;

export interface Capture {
  readonly kind: 'pcap' | 'pcapng';
  /** Records in batches, in capture order. */
  readonly batches: AsyncGenerator<CaptureRecord[]>;
  /** After the batches: undefined if the capture ended properly. */
  readonly ended: () => CaptureEnd | undefined;
  /** Bytes read so far. */
  readonly bytesRead: () => number;
}

/** Whether a file may be a capture, from its first bytes. */
export const isCapture = (head: Uint8Array): boolean => isPcapng(head) || classicOrder(head) !== undefined;

/**
 * `chunks` is the file from its first byte, in pieces of any size; `name` is for error messages. With memory `reused`,
 * records and chunks are valid until the next batch is requested, and nothing is allocated.
 */
export async function readCapture(
  name: string,
  chunks: AsyncIterable<Uint8Array>,
  { memory = 'fresh' }: { readonly memory?: 'fresh' | 'reused' } = {},
): Promise<Capture> {
  const source = chunks[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array();
  while (head.length < HEADER_BYTES) {
    const next = await source.next();
    if (next.done === true) break;
    head = Uint8Array.from(joined(head, next.value));
  }
  const classic = classicOrder(head);
  if (!classic && !isPcapng(head)) {
    refuse(name, 'is no capture: neither pcap nor pcapng', 'record one with tcpdump -s 0 -w FILE');
  }
  if (head.length < HEADER_BYTES) refuse(name, 'ends inside its header', 'it was cut short: copy it again');
  const [parser, start] = classic ? [classicParser(head, classic), HEADER_BYTES] : [pcapngBlocks(), 0];
  const state: { end?: CaptureEnd; read: number } = { read: head.length };
  return {
    kind: classic ? 'pcap' : 'pcapng',
    batches: walk(
      parser,
      head,
      start,
      { source, join: memory === 'fresh' ? joined : joinerInPlace() },
      state,
    ),
    ended: () => state.end,
    bytesRead: () => state.read,
  };
}

async function* walk(
  parser: CaptureParser,
  head: Uint8Array,
  start: number,
  { source, join }: { readonly source: AsyncIterator<Uint8Array>; readonly join: typeof joined },
  state: { end?: CaptureEnd; read: number },
): AsyncGenerator<CaptureRecord[]> {
  let bytes = head;
  let at = start;
  for (;;) {
    const records: CaptureRecord[] = [];
    while (at < bytes.length) {
      const length = parser.lengthAt(bytes, at);
      if (typeof length !== 'number') {
        state.end = { cause: 'damaged', atByte: state.read - bytes.length + at, why: length.damaged };
        break;
      }
      if (length === 0 || at + length > bytes.length) break;
      const record = parser.recordAt(bytes, at, length);
      if (record) records.push(record);
      at += length;
    }
    if (records.length > 0) yield records;
    if (state.end) return;
    const next = await source.next();
    if (next.done === true) break;
    state.read += next.value.length;
    bytes = join(bytes.subarray(at), next.value);
    at = 0;
  }
  if (at < bytes.length) {
    state.end = {
      cause: 'cut',
      atByte: state.read - bytes.length + at,
      why: 'the capture ends inside a record',
    };
  }
}

/** Plain bytes: slicing a Buffer would give a view. */
function joined(before: Uint8Array, after: Uint8Array): Uint8Array {
  if (before.length === 0) return new Uint8Array(after.buffer, after.byteOffset, after.length);
  const both = new Uint8Array(before.length + after.length);
  both.set(before);
  both.set(after, before.length);
  return both;
}

/** The same in one buffer; each call overwrites the last result. */
function joinerInPlace(): typeof joined {
  let room = new Uint8Array(2 * MOST_FRAME_BYTES);
  return (before, after) => {
    const length = before.length + after.length;
    const into = room.length >= length ? room : new Uint8Array(2 * length);
    // Overlapping memory is copied correctly.
    into.set(before);
    into.set(after, before.length);
    room = into;
    return into.subarray(0, length);
  };
}

const HEADER_BYTES = 24;
const RECORD_BYTES = 16;
const MICROSECONDS = 0xa1b2_c3d4;
const NANOSECONDS = 0xa1b2_3c4d;

interface ClassicOrder {
  readonly littleEndian: boolean;
  /** Nanoseconds per unit of the second field. */
  readonly unitNs: bigint;
}

function classicOrder(head: Uint8Array): ClassicOrder | undefined {
  if (head.length < 4) return undefined;
  for (const littleEndian of [true, false]) {
    const magic = viewOf(head).getUint32(0, littleEndian);
    if (magic === MICROSECONDS) return { littleEndian, unitNs: 1000n };
    if (magic === NANOSECONDS) return { littleEndian, unitNs: 1n };
  }
  return undefined;
}

function classicParser(head: Uint8Array, { littleEndian, unitNs }: ClassicOrder): CaptureParser {
  // The upper half holds flags for check sequences after each frame.
  const link = viewOf(head).getUint32(20, littleEndian) & 0xffff;
  return {
    lengthAt: (bytes, at) => {
      if (at + RECORD_BYTES > bytes.length) return 0;
      const captured = viewOf(bytes).getUint32(at + 8, littleEndian);
      return captured > MOST_FRAME_BYTES
        ? { damaged: `a record of ${captured} bytes` }
        : RECORD_BYTES + captured;
    },
    recordAt: (bytes, at, length) => {
      const view = viewOf(bytes);
      const word = (k: number): number => view.getUint32(at + 4 * k, littleEndian);
      return {
        unixNs: BigInt(word(0)) * 1_000_000_000n + BigInt(word(1)) * unitNs,
        link,
        frame: bytes.subarray(at + RECORD_BYTES, at + length),
        originalBytes: word(3),
      };
    },
  };
}
