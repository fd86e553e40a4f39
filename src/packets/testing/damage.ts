/** Realistic damage to packets: flipped bits, wrong numbers, truncation, repeated parts, foreign datagrams. */
import type { RandomStream } from '../../core/random.js';

const ODD_WORDS = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

/** Most damage is in the header: any payload is valid. */
const place = (random: RandomStream, bytes: Uint8Array): number =>
  random.below(Math.max(1, random.below(8) === 0 ? bytes.length : Math.min(bytes.length, 80)));

const kinds: readonly ((bytes: Uint8Array, random: RandomStream) => Uint8Array)[] = [
  (bytes, random) => {
    for (let k = random.below(8); k >= 0; k--) bytes[place(random, bytes)] ^= 1 << random.below(8);
    return bytes;
  },
  (bytes, random) => {
    for (let k = random.below(4); k >= 0; k--) bytes[place(random, bytes)] = random.below(256);
    return bytes;
  },
  (bytes, random) => bytes.slice(0, random.below(bytes.length + 1)),
  (bytes, random) => {
    const longer = new Uint8Array(bytes.length + 1 + random.below(64));
    longer.set(bytes);
    for (let at = bytes.length; at < longer.length; at++) longer[at] = random.below(256);
    return longer;
  },
  (bytes, random) => {
    const at = place(random, bytes);
    bytes.copyWithin(at, place(random, bytes), Math.min(bytes.length, at + 1 + random.below(64)));
    return bytes;
  },
  (bytes, random) => {
    if (bytes.length < 4) return bytes;
    const at = Math.min(bytes.length - 4, place(random, bytes));
    const word = ODD_WORDS[random.below(ODD_WORDS.length)];
    new DataView(bytes.buffer, bytes.byteOffset).setUint32(at, word, random.below(2) === 0);
    return bytes;
  },
  (_bytes, random) => Uint8Array.from({ length: random.below(200) }, () => random.below(256)),
];

/** A damaged copy. */
export function damaged(sound: Uint8Array, random: RandomStream): Uint8Array {
  let bytes: Uint8Array = sound.slice();
  for (let k = random.below(3); k >= 0 && bytes.length > 0; k--) {
    bytes = kinds[random.below(kinds.length)](bytes, random);
  }
  return bytes;
}
