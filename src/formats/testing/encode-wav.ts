/** Small WAV files, chunk by chunk. */
interface WavSample {
  readonly code: number;
  readonly bits: number;
  readonly channels: number;
  readonly rateHz: number;
  readonly data: Buffer;
  /** Year, month, day of the week, day, hour, minute, second, milliseconds; and hertz. */
  readonly auxi?: { readonly start: readonly number[]; readonly centreHz: number };
  /** The stated length of the chunk `data`; by default its true length. */
  readonly promised?: number;
}

function chunk(name: string, body: Buffer, length = body.length): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, 'latin1');
  head.writeUInt32LE(length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
}

export function encodeWav(sample: WavSample): Buffer {
  const { code, bits, channels, rateHz, data, auxi, promised } = sample;
  const format = Buffer.alloc(16);
  format.writeUInt16LE(code, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(rateHz, 4);
  format.writeUInt32LE((rateHz * channels * bits) / 8, 8);
  format.writeUInt16LE((channels * bits) / 8, 12);
  format.writeUInt16LE(bits, 14);
  const auxiliary = Buffer.alloc(68);
  for (const [k, value] of (auxi?.start ?? []).entries()) auxiliary.writeUInt16LE(value, 2 * k);
  auxiliary.writeUInt32LE(auxi?.centreHz ?? 0, 32);
  const body = Buffer.concat([
    Buffer.from('WAVE'),
    chunk('fmt ', format),
    // An odd length: the next chunk begins at an even offset.
    chunk('LIST', Buffer.from('abc')),
    ...(auxi ? [chunk('auxi', auxiliary)] : []),
    chunk('data', data, promised),
  ]);
  return chunk('RIFF', body);
}
