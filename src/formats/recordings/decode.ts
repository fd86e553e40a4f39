/** Packed samples to numbers. Codes of few bits become the recorder's nominal levels. */
import type { VoltageElements } from '../../core/axes.js';
import { refuse } from '../../core/errors.js';
import { HIGH_LEVEL } from '../../core/units.js';
import type { SampleBits } from '../../core/vdif-header.js';
import type { Target } from './recording.js';

/** `offset`: 0 is the lowest level (VDIF). `sign-magnitude`: the low bit is the sign, set for positive (Mark 5B). */
type SampleCode = 'offset' | 'sign-magnitude';

const HIGH = Math.fround(HIGH_LEVEL);
const levels = {
  offset: { 1: [-1, 1], 2: [-HIGH, -1, 1, HIGH] },
  'sign-magnitude': { 1: [-1, 1], 2: [-HIGH, 1, -1, HIGH] },
} satisfies Record<SampleCode, Record<1 | 2, number[]>>;

/** One number per byte value and position in the byte: table[byte · perByte + place]. */
function byteTable(bits: 1 | 2 | 4 | 8, code: SampleCode): Float32Array {
  const perByte = 8 / bits;
  const table = new Float32Array(256 * perByte);
  for (let byte = 0; byte < 256; byte++) {
    for (let place = 0; place < perByte; place++) {
      const value = (byte >> (place * bits)) & (2 ** bits - 1);
      table[byte * perByte + place] =
        bits <= 2 ? levels[code][bits as 1 | 2][value] : value - 2 ** (bits - 1);
    }
  }
  return table;
}

interface Packing {
  readonly bits: SampleBits;
  readonly code: SampleCode;
  /** Inputs interleaved in each complete sample. */
  readonly inputs: number;
  /** 2 if each input's sample is (re, im). */
  readonly parts: 1 | 2;
}

/** `(payload, from, target, firstInput)`: decodes `target.count` complete samples from sample `from` on. */
type Unpacker = (
  payload: Uint8Array,
  from: number,
  target: Target<VoltageElements>,
  firstInput: number,
) => void;

/** For payloads of consecutive complete samples, lowest bits first, little-endian. */
export function planUnpacker({ bits, code, inputs, parts }: Packing): Unpacker {
  const width = inputs * parts;
  const wholeRows = (target: Target<VoltageElements>, firstInput: number, a: number): number =>
    ((firstInput + a) * target.stride + target.at) * parts;
  if (bits === 16) {
    return (payload, from, target, firstInput) => {
      for (let a = 0; a < inputs; a++) {
        let out = wholeRows(target, firstInput, a);
        for (let t = 0; t < target.count; t++) {
          for (let part = 0; part < parts; part++) {
            const byte = ((from + t) * width + a * parts + part) * 2;
            target.elements[out++] = (payload[byte] | (payload[byte + 1] << 8)) - 32768;
          }
        }
      }
    };
  }
  const perByte = 8 / bits;
  const table = byteTable(bits, code);
  return (payload, from, target, firstInput) => {
    for (let a = 0; a < inputs; a++) {
      let out = wholeRows(target, firstInput, a);
      for (let t = 0; t < target.count; t++) {
        for (let part = 0; part < parts; part++) {
          const k = (from + t) * width + a * parts + part;
          const byte = Math.floor(k / perByte);
          target.elements[out++] = table[payload[byte] * perByte + (k - byte * perByte)];
        }
      }
    }
  };
}

/** Samples of a payload; refused if they are not a whole number. */
export function samplesIn(where: string, payloadBytes: number, { bits, inputs, parts }: Packing): number {
  const samples = (payloadBytes * 8) / (bits * inputs * parts);
  if (!Number.isInteger(samples) || samples < 1) {
    refuse(
      where,
      `a frame of ${payloadBytes} bytes does not hold whole samples of ${inputs} × ${parts} × ${bits} bits`,
      'its header is damaged, or the number of inputs or bits given is wrong',
    );
  }
  return samples;
}
