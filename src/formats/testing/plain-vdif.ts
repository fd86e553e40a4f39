/** VDIF without extended user data, the header byte by byte: one thread of 8-bit real samples. */
export function encodeVdif({
  frames,
  samples,
}: {
  readonly frames: number;
  readonly samples: number;
}): Buffer {
  const frameBytes = 32 + samples;
  const bytes = Buffer.alloc(frames * frameBytes);
  for (let k = 0; k < frames; k++) {
    const at = k * frameBytes;
    bytes.writeUInt32LE(9_106_862, at);
    // Reference epoch 30, and the frame of this second.
    bytes.writeUInt32LE((30 << 24) | k, at + 4);
    bytes.writeUInt32LE(frameBytes / 8, at + 8);
    // 8 bits, thread 0, station KT.
    bytes.writeUInt32LE((7 << 26) | 0x4b54, at + 12);
    for (let t = 0; t < samples; t++) bytes[at + 32 + t] = (7 * t + k) % 256;
  }
  return bytes;
}
