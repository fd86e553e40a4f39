/** The value types that we write, in HDF5's description. */
import { unreachable } from '../../core/errors.js';
import { ByteWriter } from './bytes.js';

export type Hdf5Type =
  | 'uint8'
  | 'int32'
  | 'int64'
  | 'float32'
  | 'float64'
  /** h5py's boolean: an enumeration FALSE, TRUE of one byte. */
  | 'boolean'
  /** numpy's complex numbers: a compound of r and i. */
  | 'complex64'
  | 'complex128'
  | 'complex-int32'
  /** Text of a fixed number of bytes, zero-padded. */
  | { readonly textBytes: number };

const sizes = {
  uint8: 1,
  int32: 4,
  int64: 8,
  float32: 4,
  float64: 8,
  boolean: 1,
  complex64: 8,
  complex128: 16,
  'complex-int32': 8,
} satisfies Record<Extract<Hdf5Type, string>, number>;

export const typeSizeBytes = (type: Hdf5Type): number =>
  typeof type === 'string' ? sizes[type] : type.textBytes;

/** Class in the low half of the first byte, version 1 in the high; then 24 class-specific bits, then the size. */
const start = (kind: number, bits: readonly [number, number, number], size: number) =>
  new ByteWriter().u8(0x10 | kind, ...bits).u32(size);

/** Two's complement, little-endian, every bit used. */
const integer = (bytes: number, isSigned: 'signed' | 'unsigned' = 'signed'): Uint8Array =>
  start(0, [isSigned === 'signed' ? 0x08 : 0, 0, 0], bytes)
    .u16(0, 8 * bytes)
    .done();

/** IEEE 754: positions of sign, exponent and mantissa, with implicit leading mantissa bit. */
function float(bytes: 4 | 8): Uint8Array {
  const [signBit, exponentAt, exponentBits, bias] = bytes === 4 ? [31, 23, 8, 127] : [63, 52, 11, 1023];
  return start(1, [0x20, signBit, 0], bytes)
    .u16(0, 8 * bytes)
    .u8(exponentAt, exponentBits, 0, exponentAt)
    .u32(bias)
    .done();
}

function complex(part: Uint8Array, partBytes: number): Uint8Array {
  const writer = start(6, [2, 0, 0], 2 * partBytes);
  for (const [k, name] of ['r', 'i'].entries()) {
    // The name fills eight bytes, including its terminator.
    writer.ascii(name).padTo(writer.length + 7);
    // Offset, no dimensions, three reserved bytes, permutation, reserved, four dimension sizes.
    writer.u32(k * partBytes).u8(0, 0, 0, 0);
    writer.u32(0, 0, 0, 0, 0, 0).bytes(part);
  }
  return writer.done();
}

const boolean = (): Uint8Array =>
  start(8, [2, 0, 0], 1)
    .bytes(integer(1))
    .ascii('FALSE')
    .padTo(8 + 12 + 8)
    .ascii('TRUE')
    .padTo(8 + 12 + 16)
    .u8(0, 1)
    .done();

/** The datatype message's body. */
export function describeType(type: Hdf5Type): Uint8Array {
  if (typeof type !== 'string') return start(3, [1, 0, 0], type.textBytes).done();
  switch (type) {
    case 'uint8':
      return integer(1, 'unsigned');
    case 'int32':
      return integer(4);
    case 'int64':
      return integer(8);
    case 'float32':
      return float(4);
    case 'float64':
      return float(8);
    case 'boolean':
      return boolean();
    case 'complex64':
      return complex(float(4), 4);
    case 'complex128':
      return complex(float(8), 8);
    case 'complex-int32':
      return complex(integer(4), 4);
    default:
      return unreachable(type);
  }
}
