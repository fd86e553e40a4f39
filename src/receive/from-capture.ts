/**
 * Packets of a capture, as fast as the consumer takes blocks: nothing is dropped for want of room, and nobody is
 * silent, since nothing is waited for.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { CorellaError } from '../core/errors.js';
import { endpointText } from '../packets/addresses.js';
import type { CaptureRecord } from '../packets/capture-record.js';
import { readCapture, type CaptureEnd } from '../packets/pcap.js';
import { parseFrame, type FrameFault, type RefusedFrame } from '../packets/udp.js';
import { Bell, type Arrivals } from './arrivals.js';
import type { RingPlan } from './plan.js';
import type { FedRing } from './ring.js';

export interface CaptureOrigin {
  readonly capture: string;
  /** "239.1.2.3:4015": only datagrams sent there; all of the capture without. */
  readonly destination?: string;
  /** A capture that is cut short or damaged gives what comes before, and is told here. */
  readonly onEarlyEnd?: (end: CaptureEnd) => void;
  /** Every frame that is no whole datagram. */
  readonly onLeftOut?: (frame: RefusedFrame) => void;
}

/** Frames of a capture that are no whole datagram. */
export type LeftOutFrames = Readonly<Record<FrameFault, number>>;

const CHUNK_BYTES = 2 ** 20;

export type OpenFedRing = (plan: RingPlan, onChange: () => void) => FedRing;

interface CapturedDatagram {
  /** Good until the next batch is asked for. */
  readonly payload: Uint8Array;
  /** When it was captured. */
  readonly unixNs: bigint;
}

/** Datagrams of a capture, as many at a time as were read together. */
async function* captureBatches({
  capture: path,
  destination,
  onEarlyEnd,
  onLeftOut,
}: CaptureOrigin): AsyncGenerator<readonly CapturedDatagram[]> {
  const file = await open(path).catch((error: unknown) => cannotRead(path, error));
  try {
    const capture = await readCapture(path, chunksOf(file, path), { memory: 'reused' });
    for await (const records of capture.batches) {
      yield records.flatMap((record) => {
        const payload = datagramIn(record, destination, onLeftOut);
        return payload ? [{ payload, unixNs: record.unixNs }] : [];
      });
    }
    const end = capture.ended();
    if (end) onEarlyEnd?.(end);
  } finally {
    await file.close();
  }
}

function cannotRead(path: string, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  const what =
    code === 'ENOENT'
      ? 'there is no such file'
      : code === 'EISDIR'
        ? 'is a folder'
        : `cannot be read (${String(error)})`;
  const fix = code === 'EISDIR' ? 'name a capture inside it' : 'check the name';
  throw new CorellaError({ where: path, what, fix }, { cause: error });
}

/** All of a file or a pipe by way of one piece of memory: a night of captures leaves no garbage behind. */
async function* chunksOf(file: FileHandle, path: string): AsyncGenerator<Uint8Array> {
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (;;) {
    const { bytesRead } = await file
      .read(chunk, 0, chunk.length, null)
      .catch((error: unknown) => cannotRead(path, error));
    if (bytesRead === 0) return;
    yield chunk.subarray(0, bytesRead);
  }
}

/** The same one by one. */
export async function* captureDatagrams(origin: CaptureOrigin): AsyncGenerator<CapturedDatagram> {
  for await (const batch of captureBatches(origin)) yield* batch;
}

function datagramIn(
  { frame, link }: CaptureRecord,
  destination: string | undefined,
  onLeftOut: CaptureOrigin['onLeftOut'],
): Uint8Array | undefined {
  const datagram = parseFrame(frame, link);
  if ('refused' in datagram) {
    onLeftOut?.(datagram);
    return undefined;
  }
  if (destination !== undefined && endpointText(datagram.destination) !== destination) return undefined;
  return datagram.payload;
}

export function arriveFromCapture(plan: RingPlan, origin: CaptureOrigin, open: OpenFedRing): Arrivals {
  const bell = new Bell();
  const ring = open(plan, bell.ring);
  const batches = captureBatches(origin);
  let batch: readonly CapturedDatagram[] = [];
  let at = 0;
  let state: 'reading' | 'flushed' = 'reading';
  /** A packet takes one block at most: so many are sure to find room. */
  const feedSome = (): void => {
    for (let left = ring.freeBlocks(); left > 0 && at < batch.length; left--, at++) {
      ring.feed(batch[at].payload, batch[at].unixNs);
    }
  };
  return {
    plan,
    description: `packets of ${origin.capture}`,
    next: async () => {
      for (;;) {
        const block = ring.take();
        if (block) return block;
        if (state === 'flushed') return undefined;
        if (at < batch.length) {
          const before = at;
          feedSome();
          if (at === before) await bell.heard();
          continue;
        }
        const next = await batches.next();
        at = 0;
        batch = next.done === true ? [] : next.value;
        if (next.done === true) {
          ring.flush();
          state = 'flushed';
        }
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
      await batches.return(undefined);
      await ring.close();
    },
  };
}
