/**
 * The header fields that depend on the sender's clock. Only these change from one pass of a recording to the next, so
 * packets are packed once and sent repeatedly. Each holds base + times · (⌊tick / divide⌋ mod modulo), truncated to its
 * bytes; the base is the value in the packet of tick 0.
 */
export interface TickField {
  readonly atByte: number;
  readonly bytes: number;
  readonly order: 'big' | 'little';
  readonly divide: number;
  /** 0: none. */
  readonly modulo: number;
  readonly times: number;
}

/** A field that is the tick itself. */
export const tickItself = (
  atByte: number,
  bytes: number,
  order: TickField['order'],
  more: Partial<Pick<TickField, 'divide' | 'modulo' | 'times'>> = {},
): TickField => ({ atByte, bytes, order, divide: 1, modulo: 0, times: 1, ...more });

const placeOf = ({ atByte, bytes, order }: TickField, k: number): number =>
  atByte + (order === 'big' ? bytes - 1 - k : k);

export function readField(datagram: Uint8Array, field: TickField): bigint {
  let value = 0n;
  for (let k = 0; k < field.bytes; k++) value |= BigInt(datagram[placeOf(field, k)]) << BigInt(8 * k);
  return value;
}

/** What a native sender does to each packet; `tick` as sent, below the clock's wrap. */
export function setField(datagram: Uint8Array, field: TickField, base: bigint, tick: bigint): void {
  const { divide, modulo, times, bytes } = field;
  const counted = tick / BigInt(divide);
  const value = base + BigInt(times) * (modulo === 0 ? counted : counted % BigInt(modulo));
  for (let k = 0; k < bytes; k++) datagram[placeOf(field, k)] = Number((value >> BigInt(8 * k)) & 0xffn);
}
