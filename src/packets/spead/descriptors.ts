/** SPEAD descriptors: a sender's description of its items. Each is a SPEAD packet inside the payload of another. */
import type { ParsedPacket } from '../packet-format.js';
import { itemOf, parseSpead, speadIds, type SpeadHeader } from './packet.js';

interface SpeadDescriptor {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  /** −1 for a dimension of any length. */
  readonly shape: readonly number[];
  /** "int8", "uint48", or a numpy type ("<i4"). */
  readonly type: string;
}

/** The items inside a descriptor. */
export const inside = {
  name: 0x10,
  description: 0x11,
  shape: 0x12,
  format: 0x13,
  id: 0x14,
  numpy: 0x15,
} as const;

/** The descriptors of a heap that fits in one packet; damaged ones are omitted. */
export function descriptorsOf({ header, payload }: ParsedPacket<SpeadHeader>): SpeadDescriptor[] {
  if (header.offset !== 0n || header.heapBytes !== BigInt(payload.length)) return [];
  return header.items
    .filter((item) => item.id === speadIds.descriptor && !item.immediate)
    .flatMap((item): SpeadDescriptor[] => {
      const bytes = pieceAt(header, payload, item.value);
      const packet = bytes && parseSpead(bytes);
      const found = packet && !('refused' in packet) && parseDescriptor(packet);
      return found ? [found] : [];
    });
}

/** An item at an address extends to the next address, or to the end of the heap. */
function pieceAt({ items }: SpeadHeader, payload: Uint8Array, from: bigint): Uint8Array | undefined {
  const later = items.filter((item) => !item.immediate && item.value > from).map(({ value }) => value);
  const end = later.reduce((least, value) => (value < least ? value : least), BigInt(payload.length));
  return end <= BigInt(payload.length) ? payload.subarray(Number(from), Number(end)) : undefined;
}

function parseDescriptor({ header, payload }: ParsedPacket<SpeadHeader>): SpeadDescriptor | undefined {
  const id = itemOf(header, inside.id);
  if (id === undefined || id > 0x7fffn) return undefined;
  const piece = (which: number): Uint8Array => {
    const from = itemOf(header, which, 'address');
    return (from === undefined ? undefined : pieceAt(header, payload, from)) ?? new Uint8Array();
  };
  const text = (which: number): string => Buffer.from(piece(which)).toString('latin1');
  const numpy = text(inside.numpy);
  const described = numpy === '' ? plainType(piece(inside.shape), piece(inside.format)) : numpyType(numpy);
  return { id: Number(id), name: text(inside.name), description: text(inside.description), ...described };
}

/** Seven bytes per dimension, three per field. */
function plainType(shape: Uint8Array, format: Uint8Array): Pick<SpeadDescriptor, 'shape' | 'type'> {
  const words: Partial<Record<string, string>> = { u: 'uint', i: 'int', f: 'float', b: 'bool', c: 'char' };
  const dimensions: number[] = [];
  for (let at = 0; at + 7 <= shape.length; at += 7) {
    const length = shape.subarray(at + 1, at + 7).reduce((sum, byte) => sum * 256 + byte, 0);
    dimensions.push((shape[at] & 1) === 1 ? -1 : length);
  }
  const fields: string[] = [];
  for (let at = 0; at + 3 <= format.length; at += 3) {
    const letter = String.fromCharCode(format[at]);
    fields.push(`${words[letter] ?? letter}${format[at + 1] * 256 + format[at + 2]}`);
  }
  return { shape: dimensions, type: fields.join(' ') };
}

/** {'shape': (16, 32, 2, 2), 'fortran_order': False, 'descr': '|i1'} */
function numpyType(header: string): Pick<SpeadDescriptor, 'shape' | 'type'> {
  const shape = /'shape':\s*\(([^)]*)\)/.exec(header)?.[1] ?? '';
  const type = /'descr':\s*'([^']*)'/.exec(header)?.[1] ?? header.slice(0, 80);
  return {
    shape: shape
      .split(',')
      .map((part) => part.trim())
      .filter((part) => /^\d+$/.test(part))
      .map(Number),
    type,
  };
}
