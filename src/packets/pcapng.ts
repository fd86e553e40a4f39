/** pcapng: blocks with their length at both ends; byte order per section, link type and time units per interface. */
import { viewOf } from './bytes.js';
import type { CaptureParser, CaptureRecord } from './capture-record.js';

const SECTION = 0x0a0d_0d0a;
const INTERFACE = 1;
const SIMPLE_PACKET = 3;
const ENHANCED_PACKET = 6;
const BYTE_ORDER = 0x1a2b_3c4d;
/** No block of a capture is longer: a larger length is damaged. */
const MOST_BLOCK_BYTES = 2 ** 24;
const TIME_RESOLUTION = 9;
const TIME_OFFSET = 14;

export const isPcapng = (head: Uint8Array): boolean =>
  head.length >= 4 && head[0] === 0x0a && head[1] === 0x0d && head[2] === 0x0d && head[3] === 0x0a;

interface Interface {
  readonly link: number;
  readonly snapBytes: number;
  /** Time units per second. */
  readonly unitsPerSecond: bigint;
  readonly offsetSeconds: bigint;
}

export function pcapngBlocks(): CaptureParser {
  let littleEndian = true;
  let interfaces: Interface[] = [];
  return {
    lengthAt: (bytes, at) => {
      if (at + 12 > bytes.length) return 0;
      const words = viewOf(bytes);
      if (words.getUint32(at, true) === SECTION) {
        const little = words.getUint32(at + 8, true) === BYTE_ORDER;
        if (!little && words.getUint32(at + 8, false) !== BYTE_ORDER)
          return { damaged: 'a section of no byte order' };
        littleEndian = little;
      }
      const length = words.getUint32(at + 4, littleEndian);
      if (length < 12 || length % 4 !== 0 || length > MOST_BLOCK_BYTES) {
        return { damaged: `a block of ${length} bytes` };
      }
      // The length is repeated at the block's end.
      if (at + length > bytes.length) return length;
      return words.getUint32(at + length - 4, littleEndian) === length
        ? length
        : { damaged: 'a block whose two lengths differ' };
    },
    recordAt: (bytes, at, length) => {
      const block = bytes.subarray(at, at + length - 4);
      const type = viewOf(block).getUint32(0, littleEndian);
      if (type === SECTION) interfaces = [];
      else if (type === INTERFACE && length >= 20) interfaces.push(parseInterface(block, littleEndian));
      else if (type === ENHANCED_PACKET) return enhancedPacket(block, interfaces, littleEndian);
      else if (type === SIMPLE_PACKET) return simplePacket(block, interfaces, littleEndian);
      return undefined;
    },
  };
}

function parseInterface(block: Uint8Array, littleEndian: boolean): Interface {
  const words = viewOf(block);
  let unitsPerSecond = 1_000_000n;
  let offsetSeconds = 0n;
  for (let at = 16; at + 4 <= block.length;) {
    const [code, length] = [words.getUint16(at, littleEndian), words.getUint16(at + 2, littleEndian)];
    const value = at + 4;
    at = value + Math.ceil(length / 4) * 4;
    if (code === 0 || at > block.length) break;
    if (code === TIME_RESOLUTION && length === 1) {
      // The highest bit: a power of two, otherwise of ten.
      const power = BigInt(block[value] & 0x7f);
      unitsPerSecond = block[value] >= 0x80 ? 2n ** power : 10n ** power;
    }
    if (code === TIME_OFFSET && length === 8) offsetSeconds = words.getBigInt64(value, littleEndian);
  }
  return {
    link: words.getUint16(8, littleEndian),
    snapBytes: words.getUint32(12, littleEndian),
    unitsPerSecond,
    offsetSeconds,
  };
}

function enhancedPacket(
  block: Uint8Array,
  interfaces: readonly Interface[],
  littleEndian: boolean,
): CaptureRecord | undefined {
  if (block.length < 28) return undefined;
  const words = viewOf(block);
  const word = (at: number): number => words.getUint32(at, littleEndian);
  const from = interfaces.at(word(8));
  const captured = word(20);
  if (!from || 28 + captured > block.length) return undefined;
  const units = (BigInt(word(12)) << 32n) | BigInt(word(16));
  return {
    unixNs: from.offsetSeconds * 1_000_000_000n + (units * 1_000_000_000n) / from.unitsPerSecond,
    link: from.link,
    frame: block.subarray(28, 28 + captured),
    originalBytes: word(24),
  };
}

/** A packet without time, of the first interface, as long as the interface captures. */
function simplePacket(
  block: Uint8Array,
  interfaces: readonly Interface[],
  littleEndian: boolean,
): CaptureRecord | undefined {
  const from = interfaces.at(0);
  if (!from || block.length < 12) return undefined;
  const originalBytes = viewOf(block).getUint32(8, littleEndian);
  const captured = Math.min(
    originalBytes,
    from.snapBytes === 0 ? originalBytes : from.snapBytes,
    block.length - 12,
  );
  return { unixNs: 0n, link: from.link, frame: block.subarray(12, 12 + captured), originalBytes };
}
