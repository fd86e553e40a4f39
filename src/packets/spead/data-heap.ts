/** Shared by F-engine and digitiser heaps: sender, time, and one large item, the payload. */
import type { ParsedPacket, RefusedPacket } from '../packet-format.js';
import { invalid } from '../packet-format.js';
import { isControl, itemOf, speadIds, type SpeadHeader } from './packet.js';

interface HeapIds {
  /** The item that holds the sender's ID. */
  readonly source: number;
  /** The item that holds the payload. */
  readonly samples: number;
}

interface HeapShape {
  readonly heapBytes: number;
  readonly cellBytes: number;
}

interface HeapFacts {
  readonly source: bigint;
  readonly timestamp: bigint;
  /** The packet's number in the heap. */
  readonly packet: number;
}

/**
 * A packet without time or sender is control if it is marked so, or if its heap does not have the length of data.
 * Otherwise its sender omits the items from all but the first packet of a heap, and it cannot be placed.
 */
export function heapFacts(
  { header, payload }: ParsedPacket<SpeadHeader>,
  ids: HeapIds,
  shape: HeapShape,
): HeapFacts | 'control' | RefusedPacket {
  const timestamp = itemOf(header, speadIds.timestamp);
  const source = itemOf(header, ids.source);
  const dataHeap = header.heapBytes === BigInt(shape.heapBytes);
  if (timestamp === undefined || source === undefined) {
    if (isControl(header) || !dataHeap) return 'control';
    return invalid(
      'a packet of a data heap without time or sender: its sender must repeat the items in every packet',
    );
  }
  if (!dataHeap) {
    return invalid(`a heap of ${header.heapBytes ?? 'unknown'} bytes where ${shape.heapBytes} are planned`);
  }
  if (itemOf(header, ids.samples, 'address') !== 0n) {
    return invalid(`item 0x${ids.samples.toString(16)} is not at the start of its heap`);
  }
  if (payload.length !== shape.cellBytes || header.offset % BigInt(shape.cellBytes) !== 0n) {
    return invalid(
      `${payload.length} bytes at ${header.offset} where packets of ${shape.cellBytes} are planned`,
    );
  }
  return { source, timestamp, packet: Number(header.offset / BigInt(shape.cellBytes)) };
}

/** Whether it is a data packet of such heaps, or control among them. */
export const hasData = ({ items }: SpeadHeader, ids: HeapIds): boolean =>
  itemOf({ items }, ids.source) !== undefined &&
  itemOf({ items }, speadIds.timestamp) !== undefined &&
  itemOf({ items }, ids.samples, 'address') !== undefined;
