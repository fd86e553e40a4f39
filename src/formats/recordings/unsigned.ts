/** Bytes from 0 to 255, as software radios write and send them: −128 … 127 after reading. */
import type { VoltageType } from '../../core/axes.js';

const unsigned = { u8: 'i8', cu8: 'ci8' } as const satisfies Record<string, VoltageType>;

/** Sample types as named at their origin. */
export type StreamType = VoltageType | keyof typeof unsigned;

export const isUnsigned = (type: StreamType): type is keyof typeof unsigned => type in unsigned;

/** The same types as they are in memory. */
export const signedType = (type: StreamType): VoltageType => (isUnsigned(type) ? unsigned[type] : type);

/** 128 becomes 0: the highest bit is inverted. */
export function makeSigned(bytes: Uint8Array): void {
  for (let n = 0; n < bytes.length; n++) bytes[n] ^= 0x80;
}
