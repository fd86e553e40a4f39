/** Writes the payloads of a capture's datagrams to a file: a capture of VDIF becomes a VDIF file. */
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { readCapture } from '../../packets/pcap.js';
import { parseFrame } from '../../packets/udp.js';

/** Reads all into memory: for captures of a few megabytes. */
export async function writePayloads(capture: string, path: string): Promise<void> {
  const stream = createReadStream(capture) as AsyncIterable<Uint8Array>;
  const { batches } = await readCapture(capture, stream);
  const payloads: Uint8Array[] = [];
  for await (const records of batches) {
    for (const { frame, link } of records) {
      const datagram = parseFrame(frame, link);
      if ('payload' in datagram) payloads.push(Uint8Array.from(datagram.payload));
    }
  }
  await writeFile(path, Buffer.concat(payloads));
}
