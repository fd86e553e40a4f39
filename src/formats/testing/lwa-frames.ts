/** LWA's rarer frames, byte by byte after the station's interface documents. */
import { packNibbles } from '../../core/nibbles.js';
import type { CodeAt, LwaSample } from './encoders.js';

function header(length: number, id: number, tag: bigint): Buffer {
  const bytes = Buffer.alloc(length);
  bytes.writeUInt32BE(0xdec0de5c, 0);
  bytes.writeUInt8(id, 4);
  bytes.writeBigUInt64BE(tag, 16);
  return bytes;
}

/** Stand after stand, each with all its time; sender is the stand's index in `stands`, input the polarisation. */
export function encodeTbw(
  sample: LwaSample & { readonly stands: readonly number[]; readonly bits: 4 | 12 },
): Buffer {
  const samples = sample.bits === 12 ? 400 : 1200;
  const parts: Buffer[] = [];
  for (const [sender, stand] of sample.stands.entries()) {
    for (let k = 0; k < sample.frames; k++) {
      if (sample.drop?.(sender, k) === 'drop') continue;
      const head = header(24, 0, sample.tag + BigInt(k * samples));
      head.writeUIntBE(k + 1, 5, 3);
      head.writeUInt16BE(0x8000 | (sample.bits === 4 ? 0x4000 : 0) | stand, 12);
      const data = Buffer.alloc(1200);
      for (let t = 0; t < samples; t++) {
        const [x, y] = [0, 1].map((pol) => sample.code(sender, pol, k * samples + t, 0));
        if (sample.bits === 4) data[t] = packNibbles(x, y);
        else data.writeUIntBE(((x & 0xfff) << 12) | (y & 0xfff), 3 * t, 3);
      }
      parts.push(head, data);
    }
  }
  return Buffer.concat(parts);
}

/** 4096 samples per frame, 8+8 bits; sender is the polarisation, both tunings have the same samples. */
export function encodeDrx8(sample: LwaSample & { readonly offset: number }): Buffer {
  const parts: Buffer[] = [];
  for (let k = 0; k < sample.frames; k++) {
    for (const tuning of [1, 2]) {
      for (const pol of [0, 1]) {
        if (sample.drop?.(pol, k) === 'drop') continue;
        const head = header(
          32,
          (pol << 7) | (tuning << 3) | 4,
          sample.tag + BigInt(k * 4096 * 10 + sample.offset),
        );
        head.writeUInt16BE(10, 12);
        head.writeUInt16BE(sample.offset, 14);
        head.writeUInt32BE(2 ** 30, 24);
        const data = Buffer.alloc(8192);
        for (let t = 0; t < 8192; t++) data.writeInt8(sample.code(pol, 0, k * 4096 + (t >> 1), t & 1), t);
        parts.push(head, data);
      }
    }
  }
  return Buffer.concat(parts);
}

/** The newer processor's TBF: the number of stands is in the header, channels are 196 MHz / 8192 wide. */
export function encodeNewerTbf(
  sample: LwaSample & { readonly stands: number; readonly groups: number },
): Buffer {
  const parts: Buffer[] = [];
  for (let k = 0; k < sample.frames; k++) {
    for (let group = 0; group < sample.groups; group++) {
      if (sample.drop?.(group, k) === 'drop') continue;
      const head = header(24, 5, sample.tag + BigInt(k * 8192));
      head.writeUInt16BE(640 + 12 * group, 12);
      head.writeUInt16BE(sample.stands, 14);
      const data = Buffer.alloc(24 * sample.stands);
      data.forEach(
        (_, a) => (data[a] = packNibbles(sample.code(group, a, k, 0), sample.code(group, a, k, 1))),
      );
      parts.push(head, data);
    }
  }
  return Buffer.concat(parts);
}

export interface DrSample {
  readonly tag: bigint;
  readonly offset: number;
  readonly channels: number;
  readonly transforms: number;
  /** Bits of the stored products: 0x09 XX and YY, 0xf0 Stokes. */
  readonly products: number;
  /** Which integrations are present, counted from the first. */
  readonly integrations: readonly number[];
  readonly words: readonly [number, number];
  /** X and Y of the first tuning, then of the second. */
  readonly fills: readonly [number, number, number, number];
  /** Sender is the tuning, input the channel, part the product. */
  readonly value: CodeAt;
  readonly errors?: (integration: number) => number;
}

/** Little-endian, unlike network frames: the recorder made them. */
export function encodeDrSpectra(sample: DrSample): Buffer {
  const values = Array.from({ length: 8 }, (_, bit) => (sample.products >>> bit) & 1).filter(Boolean).length;
  return Buffer.concat(
    sample.integrations.map((k) => {
      const bytes = Buffer.alloc(76 + 8 * values * sample.channels);
      bytes.writeUInt32LE(0xc0dec0de, 0);
      bytes.writeBigUInt64LE(
        sample.tag + BigInt(k * sample.channels * sample.transforms * 10 + sample.offset),
        4,
      );
      bytes.writeUInt16LE(sample.offset, 12);
      bytes.writeUInt16LE(10, 14);
      sample.words.forEach((word, t) => bytes.writeUInt32LE(word, 16 + 4 * t));
      sample.fills.forEach((fill, p) => bytes.writeUInt32LE(fill, 24 + 4 * p));
      bytes.writeUInt8(sample.errors?.(k) ?? 0, 40);
      bytes.writeUInt8(3, 44);
      bytes.writeUInt8(sample.products, 45);
      bytes.writeUInt8(2, 46);
      bytes.writeUInt32LE(sample.channels, 48);
      bytes.writeUInt32LE(sample.transforms, 52);
      bytes.writeUInt32LE(0xed0ced0c, 72);
      let at = 76;
      for (const tuning of [0, 1])
        for (let c = 0; c < sample.channels; c++)
          for (let part = 0; part < values; part++)
            at = bytes.writeFloatLE(sample.value(tuning, c, k, part), at);
      return bytes;
    }),
  );
}
