/** Packets as a capture. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeCapture } from '../../packets/pcap-write.js';
import { buildFrame } from '../../packets/udp.js';

/** When the first packet arrived, in Unix seconds. */
export const CAPTURED_S = 1_780_000_000;

export async function captureOf(
  folder: string,
  packets: readonly Uint8Array[],
  arrivedS: (n: number) => number = () => 0,
): Promise<string> {
  const path = join(folder, 'run.pcap');
  const chunks: Uint8Array[] = [];
  const writer = writeCapture({
    write: (bytes) => {
      chunks.push(bytes);
      return Promise.resolve();
    },
  });
  const way = {
    source: { address: '10.0.0.1', port: 4015 },
    destination: { address: '239.1.2.3', port: 4015 },
  };
  for (const [n, one] of packets.entries()) {
    const unixNs = BigInt(CAPTURED_S + arrivedS(n)) * 1_000_000_000n + BigInt(n) * 1000n;
    await writer.append(unixNs, buildFrame(way, one));
  }
  await writer.finish();
  writeFileSync(path, Buffer.concat(chunks));
  return path;
}
