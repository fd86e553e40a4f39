/** Realistic damage to files: flipped bits, lost, repeated and swapped ranges, truncation, random numbers. */
import type { RandomStream } from '../../core/random.js';

const ODD_WORDS = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

/** Half of all damage is in the first kilobyte, where headers are. */
function place(random: RandomStream, length: number): number {
  const near = random.below(2) === 0;
  return random.below(Math.max(1, near ? Math.min(length, 1024) : length));
}

const kinds: readonly ((bytes: Buffer, random: RandomStream) => Buffer)[] = [
  (bytes, random) => {
    for (let k = random.below(8); k >= 0; k--) bytes[place(random, bytes.length)] ^= 1 << random.below(8);
    return bytes;
  },
  (bytes, random) => {
    for (let k = random.below(4); k >= 0; k--) bytes[place(random, bytes.length)] = random.below(256);
    return bytes;
  },
  (bytes, random) => bytes.subarray(0, random.below(bytes.length)),
  (bytes, random) => {
    const at = place(random, bytes.length);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.below(200))]);
  },
  (bytes, random) => {
    const at = place(random, bytes.length);
    const more = Buffer.from(Array.from({ length: 1 + random.below(64) }, () => random.below(256)));
    return Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)]);
  },
  (bytes, random) => {
    const length = 1 + random.below(256);
    const [from, to] = [place(random, bytes.length), place(random, bytes.length)];
    const piece = Buffer.from(bytes.subarray(from, from + length));
    bytes.copy(bytes, from, to, Math.min(bytes.length, to + piece.length));
    piece.copy(bytes, to);
    return bytes;
  },
  (bytes, random) => {
    if (bytes.length < 8) return bytes;
    const at = Math.min(bytes.length - 4, place(random, bytes.length) & ~3);
    const word = ODD_WORDS[random.below(ODD_WORDS.length)];
    if (random.below(2) === 0) bytes.writeUInt32LE(word, at);
    else bytes.writeUInt32BE(word, at);
    return bytes;
  },
  (bytes, random) => {
    const at = place(random, bytes.length);
    // Replacing digits by digits keeps text headers parsable, with other numbers.
    for (let k = at; k < Math.min(bytes.length, at + 400); k++) {
      if (bytes[k] >= 0x30 && bytes[k] <= 0x39) {
        bytes[k] = 0x30 + random.below(10);
        if (random.below(3) > 0) break;
      }
    }
    return bytes;
  },
];

export function mutate(sample: Uint8Array, random: RandomStream): Buffer {
  let bytes = Buffer.from(sample);
  for (let k = random.below(3); k >= 0 && bytes.length > 0; k--) {
    bytes = Buffer.from(kinds[random.below(kinds.length)](bytes, random));
  }
  return bytes;
}
