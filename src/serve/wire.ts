/** Binary messages: u32 length of the head, u32 0, the head as JSON padded to 8 bytes, then float32. Little-endian. */
import type { Head } from './messages.js';

export function encodeMessage(head: Head, values: Float32Array): Buffer {
  const text = Buffer.from(JSON.stringify(head));
  const padded = 8 * Math.ceil(text.length / 8);
  const message = Buffer.alloc(8 + padded + values.byteLength);
  message.writeUInt32LE(text.length, 0);
  text.copy(message, 8);
  message.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), 8 + padded);
  return message;
}
