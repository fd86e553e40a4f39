/**
 * The fields of a header that follow the sender's clock: all that changes from one turn of a recording to the next, so
 * that packets are packed once and sent for ever. Each holds base + times · (⌊tick / divide⌋ mod modulo), cut to its
 * bytes; the base is what the packet of tick 0 holds.
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

/** A number that is the tick itself. */
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

/** What a native sender does to each packet; `tick` as sent, not beyond where the clock turns over. */
export function setField(datagram: Uint8Array, field: TickField, base: bigint, tick: bigint): void {
  const { divide, modulo, times, bytes } = field;
  const counted = tick / BigInt(divide);
  const value = base + BigInt(times) * (modulo === 0 ? counted : counted % BigInt(modulo));
  for (let k = 0; k < bytes; k++) datagram[placeOf(field, k)] = Number((value >> BigInt(8 * k)) & 0xffn);
}
