/**
 * Packets of a capture, as fast as the consumer takes blocks: nothing is dropped for want of room, and nobody is
 * silent, since nothing is waited for.
 */
import { createReadStream } from 'node:fs';
import { endpointText } from '../packets/addresses.js';
import type { CaptureRecord } from '../packets/capture-record.js';
import { readCapture } from '../packets/pcap.js';
import { parseFrame } from '../packets/udp.js';
import { Bell, type Arrivals } from './arrivals.js';
import type { RingPlan } from './plan.js';
import type { FedRing } from './ring.js';

export interface CaptureOrigin {
  readonly capture: string;
  /** "239.1.2.3:4015": only datagrams sent there; all of the capture without. */
  readonly destination?: string;
}

export type OpenFedRing = (plan: RingPlan, onChange: () => void) => FedRing;

/** Datagrams of a capture with the time they were captured at. */
export async function* captureDatagrams({
  capture: path,
  destination,
}: CaptureOrigin): AsyncGenerator<{ readonly payload: Uint8Array; readonly unixNs: bigint }> {
  const file = createReadStream(path, { highWaterMark: 2 ** 20 });
  try {
    const capture = await readCapture(path, file);
    for await (const records of capture.batches) {
      for (const record of records) {
        const datagram = datagramIn(record, destination);
        if (datagram) yield { payload: datagram, unixNs: record.unixNs };
      }
    }
  } finally {
    file.destroy();
  }
}

function datagramIn({ frame, link }: CaptureRecord, destination: string | undefined): Uint8Array | undefined {
  const datagram = parseFrame(frame, link);
  if ('refused' in datagram) return undefined;
  if (destination !== undefined && endpointText(datagram.destination) !== destination) return undefined;
  return datagram.payload;
}

export function arriveFromCapture(plan: RingPlan, origin: CaptureOrigin, open: OpenFedRing): Arrivals {
  const bell = new Bell();
  const ring = open(plan, bell.ring);
  const datagrams = captureDatagrams(origin);
  let state: 'reading' | 'flushed' = 'reading';
  return {
    plan,
    description: `packets of ${origin.capture}`,
    next: async () => {
      for (;;) {
        const block = ring.take();
        if (block) return block;
        if (state === 'flushed') return undefined;
        if (ring.freeBlocks() === 0) {
          await bell.heard();
          continue;
        }
        const next = await datagrams.next();
        if (next.done === true) {
          ring.flush();
          state = 'flushed';
        } else ring.feed(next.value.payload, next.value.unixNs);
      }
    },
    stop: () => {
      if (state === 'reading') ring.flush();
      state = 'flushed';
    },
    account: () => ring.account(),
    close: async () => {
      state = 'flushed';
      bell.ring();
      await datagrams.return(undefined);
      await ring.close();
    },
  };
}
