/** What F-engines' and digitisers' heaps share: who, when, and one large item that is the payload. */
import type { ParsedPacket, RefusedPacket } from '../packet-format.js';
import { invalid } from '../packet-format.js';
import { isControl, itemOf, speadIds, type SpeadHeader } from './packet.js';

interface HeapIds {
  /** The item that tells who sent it. */
  readonly source: number;
  /** The item that the payload is. */
  readonly samples: number;
}

interface HeapShape {
  readonly heapBytes: number;
  readonly cellBytes: number;
}

interface HeapFacts {
  readonly source: bigint;
  readonly timestamp: bigint;
  /** Which of the heap's packets. */
  readonly packet: number;
}

/**
 * A packet without time or sender is control when it says so, or when its heap is not as long as data are; else its
 * sender leaves the items out of all but the first packet of a heap, and nothing can be placed.
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

/** Whether it is a packet of such heaps, or control among them. */
export const hasData = ({ items }: SpeadHeader, ids: HeapIds): boolean =>
  itemOf({ items }, ids.source) !== undefined &&
  itemOf({ items }, speadIds.timestamp) !== undefined &&
  itemOf({ items }, ids.samples, 'address') !== undefined;
