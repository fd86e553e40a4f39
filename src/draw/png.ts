/** Pixels as PNG (ISO/IEC 15948): 8-bit colours, compressed by Node's own zlib off the main thread. */
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import type { Canvas } from './canvas.js';

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const BITS_A_COLOUR = 8;
const COLOUR_TYPE_RGB = 2;
/** zlib's level: above 3 a sky takes three times as long and is a seventh smaller. */
const LEVEL = 3;

const deflateAway = promisify(deflate) as (
  bytes: Uint8Array,
  options: { readonly level: number },
) => Promise<Buffer>;

export async function encodePng(canvas: Canvas): Promise<Uint8Array> {
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', headerOf(canvas)),
    chunk('IDAT', await packed(canvas)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function headerOf({ width, height }: Canvas): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = BITS_A_COLOUR;
  header[9] = COLOUR_TYPE_RGB;
  return header;
}

/** Each row starts with its filter type; 0 is none, which suits smooth skies as well as the others. */
function packed({ width, height, rgb }: Canvas): Promise<Uint8Array> {
  const rows = new Uint8Array(height * (1 + 3 * width));
  for (let y = 0; y < height; y++) {
    rows.set(rgb.subarray(3 * y * width, 3 * (y + 1) * width), y * (1 + 3 * width) + 1);
  }
  return deflateAway(rows, { level: LEVEL });
}

/** Duration of one picture in an animation, milliseconds. */
const FRAME_MS = 200;

/**
 * An animation (APNG, in the standard since its third edition): an acTL chunk with the count, before each picture an
 * fcTL with its size and time, and all data after the first picture in fdAT chunks. Other decoders show the first
 * picture.
 */
export async function encodeAnimation(frames: readonly Canvas[]): Promise<Uint8Array> {
  const numbers = (...values: readonly number[]): Buffer => {
    const bytes = Buffer.alloc(4 * values.length);
    values.forEach((value, k) => bytes.writeUInt32BE(value, 4 * k));
    return bytes;
  };
  const parts: Uint8Array[] = [
    SIGNATURE,
    chunk('IHDR', headerOf(frames[0])),
    chunk('acTL', numbers(frames.length, 0)),
  ];
  let sequence = 0;
  for (const [k, frame] of frames.entries()) {
    // Delay as a fraction of a second; each picture replaces the previous one.
    const delay = Buffer.from([FRAME_MS >> 8, FRAME_MS & 255, 1000 >> 8, 1000 & 255, 0, 0]);
    parts.push(chunk('fcTL', Buffer.concat([numbers(sequence++, frame.width, frame.height, 0, 0), delay])));
    const data = await packed(frame);
    if (k === 0) parts.push(chunk('IDAT', data));
    else parts.push(chunk('fdAT', Buffer.concat([numbers(sequence++), data])));
  }
  return Buffer.concat([...parts, chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Uint8Array): Buffer {
  const bytes = Buffer.alloc(12 + data.length);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  bytes.set(data, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length);
  return bytes;
}

/** The remainder by the polynomial of IEEE 802.3, low bits first. */
const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xed_b8_83_20 ^ (crc >>> 1) : crc >>> 1;
  return crc;
});

function crc32(bytes: Uint8Array): number {
  let crc = 0xff_ff_ff_ff;
  for (const byte of bytes) crc = crcTable[(crc ^ byte) & 255] ^ (crc >>> 8);
  return (crc ^ 0xff_ff_ff_ff) >>> 0;
}
