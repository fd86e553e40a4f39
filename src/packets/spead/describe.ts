/** The descriptor that an F-engine sends of its samples, without which nobody knows the shape of a heap. */
import type { StreamPlan } from '../packet-format.js';
import { address, immediate, speadHeader, speadIds, writeSpead } from './packet.js';

const inside = { name: 0x10, description: 0x11, id: 0x14, numpy: 0x15 } as const;
const SAMPLES = 0x4300;

export function fengDescriptor({ cell, numbers }: StreamPlan): Uint8Array {
  const shape = [numbers.channelsPerHeap, cell.sizes.t, cell.sizes.a, ...(cell.bits === 8 ? [2] : [])];
  const texts: readonly (readonly [number, string])[] = [
    [inside.name, 'feng_raw'],
    [inside.description, 'Channelised complex digital voltages'],
    [
      inside.numpy,
      `{'shape': (${shape.join(', ')}), 'fortran_order': False, 'descr': '${cell.bits === 8 ? '|i1' : '|u1'}'}`,
    ],
  ];
  const bytes = texts.map(([, text]) => new TextEncoder().encode(text));
  const starts = bytes.map((_, n) => bytes.slice(0, n).reduce((sum, { length }) => sum + length, 0));
  const payload = Buffer.concat(bytes);
  const descriptor = packet(payload, [
    immediate(inside.id, BigInt(SAMPLES)),
    ...texts.map(([id], n) => address(id, BigInt(starts[n]))),
  ]);
  return packet(descriptor, [address(speadIds.descriptor, 0n)]);
}

function packet(payload: Uint8Array, items: Parameters<typeof speadHeader>[1]): Uint8Array {
  const place = { heap: 1n, heapBytes: payload.length, offset: 0, payloadBytes: payload.length };
  return writeSpead(speadHeader(place, items), payload);
}
