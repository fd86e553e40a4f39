/**
 * Captures to test decoders with, if present: in packets/ under the folder that CORELLA_TEST_DATA names, or in
 * live/packets/ beside it. Every value in them follows a formula.
 */
import { existsSync } from 'node:fs';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { readCapture } from '../pcap.js';
import { parseFrame } from '../udp.js';

const data = process.env.CORELLA_TEST_DATA ?? '';
const folder = [join(data, 'packets'), join(data, '..', 'live', 'packets')].find(
  (path) => data !== '' && existsSync(join(path, 'chips.pcap')),
);

/** For node:test: false if the captures are present. */
export const skipCaptures =
  folder === undefined
    ? 'CORELLA_TEST_DATA names no folder with packets/, nor live/packets/ beside it'
    : false;

export const capturePath = (name: string): string => join(folder ?? '', name);

/** The payload of every UDP datagram of a capture. */
export async function datagramsOf(name: string): Promise<Uint8Array[]> {
  const capture = await readCapture(name, createReadStream(capturePath(name)));
  const datagrams: Uint8Array[] = [];
  for await (const records of capture.batches) {
    for (const { frame, link } of records) {
      const datagram = parseFrame(frame, link);
      if ('refused' in datagram) throw new Error(`${name}: ${datagram.why}`);
      datagrams.push(datagram.payload);
    }
  }
  const ended = capture.ended();
  if (ended) throw new Error(`${name}: ${ended.why}`);
  return datagrams;
}

/** Never negative. */
export const mod = (x: number, m: number): number => ((x % m) + m) % m;
