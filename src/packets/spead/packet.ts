/**
 * SPEAD-64-48: an eight-byte header, eight-byte items, payload. An item is immediate (its value in 48 bits) or an
 * address in the payload of its heap. A heap is one packet or several.
 */
import { viewOf } from '../bytes.js';
import { invalid, type ParsedPacket, type RefusedPacket } from '../packet-format.js';
import { tickItself, type TickField } from '../tick-fields.js';

interface SpeadItem {
  readonly immediate: boolean;
  readonly id: number;
  /** The value, or the address. */
  readonly value: bigint;
}

export interface SpeadHeader {
  readonly items: readonly SpeadItem[];
  readonly heap: bigint;
  /** Absent if not in the packet. */
  readonly heapBytes: bigint | undefined;
  /** Offset of this packet's payload in its heap. */
  readonly offset: bigint;
}

export const speadIds = {
  null: 0x0000,
  heap: 0x0001,
  heapBytes: 0x0002,
  offset: 0x0003,
  payloadBytes: 0x0004,
  descriptor: 0x0005,
  streamControl: 0x0006,
  timestamp: 0x1600,
} as const;

const MAGIC = 0x5304_0206;
const MASK_48 = 2n ** 48n - 1n;

/** The value of an item, or its address; the last of repeated items counts. */
export const itemOf = (
  { items }: Pick<SpeadHeader, 'items'>,
  id: number,
  kind: 'immediate' | 'address' = 'immediate',
): bigint | undefined =>
  items.findLast((item) => item.id === id && item.immediate === (kind === 'immediate'))?.value;

export function parseSpead(datagram: Uint8Array): ParsedPacket<SpeadHeader> | RefusedPacket {
  if (datagram.length < 8) return invalid(`${datagram.length} bytes are too few for SPEAD`);
  const view = viewOf(datagram);
  const magic = view.getUint32(0);
  if (magic !== MAGIC) {
    return magic >>> 16 === 0x5304 && datagram[2] + datagram[3] === 8
      ? invalid(`SPEAD-64-${8 * datagram[3]}, where SPEAD-64-48 is read`)
      : invalid('no SPEAD header');
  }
  if (view.getUint16(4) !== 0) return invalid('the reserved bytes of the SPEAD header are not zero');
  const count = view.getUint16(6);
  const start = 8 + 8 * count;
  if (start > datagram.length) return invalid(`${count} items do not fit ${datagram.length} bytes`);
  const items: SpeadItem[] = [];
  for (let n = 0; n < count; n++) {
    const high = view.getUint16(8 + 8 * n);
    items.push({
      immediate: high >= 0x8000,
      id: high & 0x7fff,
      value: view.getBigUint64(8 + 8 * n) & MASK_48,
    });
  }
  const heap = itemOf({ items }, speadIds.heap);
  const heapBytes = itemOf({ items }, speadIds.heapBytes);
  const offset = itemOf({ items }, speadIds.offset);
  const payloadBytes = itemOf({ items }, speadIds.payloadBytes);
  if (heap === undefined || offset === undefined || payloadBytes === undefined) {
    return invalid('no heap number, offset or payload length among the items');
  }
  if (BigInt(start) + payloadBytes !== BigInt(datagram.length)) {
    return invalid(
      `${datagram.length} bytes where the header says ${count} items and ${payloadBytes} bytes of payload`,
    );
  }
  if (heapBytes !== undefined && offset + payloadBytes > heapBytes) {
    return invalid(`bytes ${offset} to ${offset + payloadBytes} of a heap of ${heapBytes}`);
  }
  return { header: { items, heap, heapBytes, offset }, payload: datagram.subarray(start) };
}

/** Only `items` is written; the other fields are for reading. */
export function writeSpead({ items }: Pick<SpeadHeader, 'items'>, payload: Uint8Array): Uint8Array {
  const datagram = new Uint8Array(8 + 8 * items.length + payload.length);
  const view = new DataView(datagram.buffer);
  view.setUint32(0, MAGIC);
  view.setUint16(6, items.length);
  items.forEach(({ immediate, id, value }, n) => {
    const word = (immediate ? 1n << 63n : 0n) | (BigInt(id) << 48n) | (value & MASK_48);
    view.setBigUint64(8 + 8 * n, word);
  });
  datagram.set(payload, 8 + 8 * items.length);
  return datagram;
}

/** A header with the four mandatory items, followed by others. */
export function speadHeader(
  place: {
    readonly heap: bigint;
    readonly heapBytes: number;
    readonly offset: number;
    readonly payloadBytes: number;
  },
  others: readonly SpeadItem[],
): SpeadHeader {
  const [heapBytes, offset] = [BigInt(place.heapBytes), BigInt(place.offset)];
  const items = [
    immediate(speadIds.heap, place.heap),
    immediate(speadIds.heapBytes, heapBytes),
    immediate(speadIds.offset, offset),
    immediate(speadIds.payloadBytes, BigInt(place.payloadBytes)),
    ...others,
  ];
  return { items, heap: place.heap, heapBytes, offset };
}

export const immediate = (id: number, value: bigint): SpeadItem => ({
  immediate: true,
  id,
  value: value & MASK_48,
});
export const address = (id: number, value: bigint): SpeadItem => ({ immediate: false, id, value });

/** Position of the value of the n-th item. */
export const itemField = (
  n: number,
  more: Partial<Pick<TickField, 'divide' | 'modulo' | 'times'>> = {},
): TickField => tickItself(8 + 8 * n + 2, 6, 'big', more);

/** Whether a packet is marked as without data: descriptors, or stream start or stop. */
export const isControl = ({ items }: SpeadHeader): boolean =>
  items.some(({ id }) => id === speadIds.descriptor || id === speadIds.streamControl);
