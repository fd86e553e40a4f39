/** Packets of a capture, as fast as the consumer takes blocks: the ring never overflows, and no sender times out. */
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
  /** "239.1.2.3:4015": only datagrams sent there; by default the whole capture. */
  readonly destination?: string;
  /** Called when a capture is truncated or damaged; everything before that point is delivered. */
  readonly onEarlyEnd?: (end: CaptureEnd) => void;
  /** Called for every frame that is not a whole datagram. */
  readonly onLeftOut?: (frame: RefusedFrame) => void;
}

/** Frames of a capture that are not whole datagrams. */
export type LeftOutFrames = Readonly<Record<FrameFault, number>>;

/** What they are. */
export function leftOutWords({ cut, fragment, other }: LeftOutFrames): string[] {
  return [
    ...(other > 0 ? [`${other} not UDP`] : []),
    ...(fragment > 0 ? [`${fragment} fragments of datagrams that IP cut`] : []),
    ...(cut > 0 ? [`${cut} that were captured in part (record with tcpdump -s 0)`] : []),
  ];
}

/** The fix if nothing else was received: by the most frequent kind. */
export function leftOutFix({ cut, fragment, other }: LeftOutFrames): string {
  if (fragment > 0 && fragment >= other)
    return 'raise the MTU on the way, so that IP cuts no datagram, and record again';
  if (cut > 0 && cut >= other) return 'record whole packets, with tcpdump -s 0';
  return 'record them with tcpdump -s 0 -w FILE udp, on an interface that has them';
}

const CHUNK_BYTES = 2 ** 20;

export type OpenFedRing = (plan: RingPlan, onChange: () => void) => FedRing;

interface CapturedDatagram {
  /** Valid until the next batch is requested. */
  readonly payload: Uint8Array;
  /** Capture time. */
  readonly unixNs: bigint;
}

/** Datagrams of a capture, in batches as they were read. */
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

/** Reads a whole file or pipe through one buffer, so that long captures create no garbage. */
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

/** The same, one datagram at a time. */
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
  /** A packet uses one block at most, so this many always fit. */
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
          if (at === before) await bell.rung();
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
