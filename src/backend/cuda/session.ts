/**
 * One card, opened: its context, its streams, and everything allocated on it. Everything from a session is closed with
 * it, also after an error; it may be closed earlier, and more than once.
 */
import koffi from 'koffi';
import { closes, type Closable } from '../../core/closing.js';
import { beforeEnding } from '../../core/ending.js';
import { CorellaError, refuse } from '../../core/errors.js';
import { formatBytes } from '../../core/units.js';
import type { DeviceFacts } from './device.js';
import { NOT_READY, OUT_OF_MEMORY, SUCCESS, type Driver, type DriverCall } from './driver.js';
import type { CValue } from './prototypes.js';
import { allocateNative, MEMCPY_2D_BYTES, writeRowCopy, type NativeMemory, type RowCopy } from './structs.js';

declare const kind: unique symbol;
type Handle<Kind extends string> = bigint & { readonly [kind]: Kind };
export type DevicePointer = Handle<'device memory'>;
type HostPointer = Handle<'pinned memory'>;
type StreamHandle = Handle<'stream'>;
type EventHandle = Handle<'event'>;
type ModuleHandle = Handle<'module'>;
export type FunctionHandle = Handle<'function'>;

export const offsetBy = (pointer: DevicePointer, bytes: number): DevicePointer =>
  (pointer + BigInt(bytes)) as DevicePointer;

export interface DeviceMemory extends Closable {
  readonly pointer: DevicePointer;
  readonly sizeBytes: number;
}

/** Page-locked host memory: the card copies from it directly, at the bus's speed. */
export interface PinnedMemory extends Closable {
  readonly pointer: HostPointer;
  /** Valid until closed. */
  readonly buffer: ArrayBuffer;
  readonly sizeBytes: number;
}

/** Memory of the host on whole pages; `bytes` keeps it alive. */
interface GivenMemory {
  readonly address: bigint;
  readonly bytes: Uint8Array;
}

/** Long enough for the bus's full speed, short enough to be allocated in a few milliseconds. */
export const PIECE_BYTES = 8 * 2 ** 20;

export interface Stream {
  readonly handle: StreamHandle;
}

/** An event in a stream that others can wait for. Before it is first recorded it counts as passed. */
export interface CudaEvent extends Closable {
  readonly handle: EventHandle;
  record(stream: Stream): void;
  /** Later work in `stream` waits until the event has passed; the host continues. */
  holdBack(stream: Stream): void;
  /**
   * Resolves when the event has passed; the event loop continues meanwhile. `eagerPolls`: more polls before the first
   * sleep of a millisecond, where the card waits for the host.
   */
  passed(eagerPolls?: number): Promise<void>;
  isPassed(): boolean;
}

type Streams = Readonly<Record<'upload' | 'prepare' | 'compute' | 'beside' | 'mend' | 'download', Stream>>;

export interface CudaSession extends Closable {
  readonly device: DeviceFacts;
  readonly driver: Driver;
  readonly streams: Streams;
  /** Calls the driver in this card's context and refuses with the driver's own words where it fails. */
  call(name: DriverCall, ...values: CValue[]): void;
  allocate(what: string, sizeBytes: number): DeviceMemory;
  allocatePinned(what: string, sizeBytes: number): PinnedMemory;
  /** Locks the pages of the caller's memory, which must live until they are unlocked by closing. */
  lockPages(what: string, memory: GivenMemory): Closable;
  /** Whether memory that begins here is locked: the card copies from it directly. */
  isLocked(address: bigint): boolean;
  /** Page-locked memory of PIECE_BYTES for a transfer; closing keeps it for the next one, which is far faster. */
  borrowPiece(): PinnedMemory;
  allocateNative(sizeBytes: number): NativeMemory;
  /** Where `bytes` starts, if it is in this session's pinned memory. */
  pinnedAddress(bytes: ArrayBufferView): bigint | undefined;
  createEvent(options?: { readonly timing: 'on' | 'off' }): CudaEvent;
  millisecondsBetween(first: CudaEvent, last: CudaEvent): number;
  loadModule(image: Uint8Array): ModuleHandle;
  copyRows(copy: RowCopy, direction: 'up' | 'down', stream: Stream): void;
  freeMemoryBytes(): number;
  /** How many things are still allocated. */
  readonly held: number;
}

/** The current context of this thread; setting it costs a call, so only changes are made. */
let current: bigint | undefined;

/**
 * Polls in the same turn of the event loop cost microseconds; after this many, sleeps of a millisecond are negligible.
 */
const EAGER_POLLS = 200;

export function openSession(driver: Driver, device: DeviceFacts): CudaSession {
  const { calls } = driver;
  const check = (name: DriverCall, code: number): void => {
    if (code !== SUCCESS) refuse('cuda', `${name} on ${device.name}: ${driver.describe(code)}`);
  };
  const pointer = new BigUint64Array(1);
  check('cuDevicePrimaryCtxRetain', calls.cuDevicePrimaryCtxRetain(pointer, device.ordinal));
  const context = pointer[0];
  const attempt = (name: DriverCall, ...values: CValue[]): number => {
    if (closed) refuse('cuda', `${device.name} was already closed`, 'open the backend again');
    if (current !== context) {
      check('cuCtxSetCurrent', calls.cuCtxSetCurrent(context));
      current = context;
    }
    return calls[name](...values);
  };
  const call = (name: DriverCall, ...values: CValue[]): void => {
    check(name, attempt(name, ...values));
  };
  /** A call whose first argument receives a handle. */
  const made = (name: DriverCall, ...values: CValue[]): bigint => {
    const receiver = new BigUint64Array(1);
    call(name, receiver, ...values);
    return receiver[0];
  };

  let closed = false;
  // The driver releases everything when the process ends; this listener is what lets it end. NVRTC restores signal
  // handlers without SA_RESETHAND, and Node's own, which raises its signal again, then runs for ever. Our listener does
  // not depend on that flag.
  const stopListening = beforeEnding(() => undefined);
  /** Everything still allocated, oldest first; each entry releases itself, once. */
  const held = new Set<() => void>();
  const hold = (release: () => void): (() => Promise<void>) => {
    const once = (): void => {
      if (held.delete(once)) release();
    };
    held.add(once);
    return closes(once);
  };
  /** Addresses of pinned memory, by their buffer. */
  const pinned = new Map<ArrayBuffer, bigint>();

  const freeMemoryBytes = (): number => {
    const sizes = new BigUint64Array(2);
    call('cuMemGetInfo', sizes.subarray(0, 1), sizes.subarray(1, 2));
    return Number(sizes[0]);
  };
  const shortOf = (what: string, sizeBytes: number, where: string, fix: string): never =>
    refuse('cuda', `${what} needs ${formatBytes(sizeBytes)} of ${where}`, fix);

  function allocate(what: string, sizeBytes: number): DeviceMemory {
    const receiver = new BigUint64Array(1);
    const code = attempt('cuMemAlloc', receiver, Math.max(1, sizeBytes));
    if (code === OUT_OF_MEMORY) {
      const left = formatBytes(freeMemoryBytes());
      shortOf(
        what,
        sizeBytes,
        `device memory, ${device.name} has ${left} left`,
        'take fewer channels or shorter blocks',
      );
    }
    check('cuMemAlloc', code);
    const close = hold(() => {
      call('cuMemFree', receiver[0]);
    });
    return { pointer: receiver[0] as DevicePointer, sizeBytes, close };
  }

  function allocatePinned(what: string, sizeBytes: number): PinnedMemory {
    const receiver = new BigUint64Array(1);
    const code = attempt('cuMemHostAlloc', receiver, Math.max(1, sizeBytes), 0);
    if (code === OUT_OF_MEMORY) {
      shortOf(
        what,
        sizeBytes,
        'page-locked host memory, which this machine would not give',
        'take shorter blocks',
      );
    }
    check('cuMemHostAlloc', code);
    const buffer = koffi.view(receiver[0], Math.max(1, sizeBytes));
    const close = hold(() => {
      pinned.delete(buffer);
      call('cuMemFreeHost', receiver[0]);
    });
    pinned.set(buffer, receiver[0]);
    return { pointer: receiver[0] as HostPointer, buffer, sizeBytes, close };
  }

  /** Locked pages of the caller's memory, by their address. */
  const locked = new Map<bigint, Uint8Array>();
  function lockPages(what: string, { address, bytes }: GivenMemory): Closable {
    const code = attempt('cuMemHostRegister', address, bytes.length, 0);
    if (code === OUT_OF_MEMORY)
      shortOf(what, bytes.length, 'page-locked host memory, which this machine would not give', 'ulimit -l');
    check('cuMemHostRegister', code);
    locked.set(address, bytes);
    return {
      close: hold(() => {
        locked.delete(address);
        call('cuMemHostUnregister', address);
      }),
    };
  }

  const pieces: PinnedMemory[] = [];
  function borrowPiece(): PinnedMemory {
    const piece = pieces.pop() ?? allocatePinned('a transfer', PIECE_BYTES);
    let isBack = false;
    return {
      ...piece,
      close: closes(() => {
        if (!isBack) pieces.push(piece);
        isBack = true;
      }),
    };
  }

  function createEvent(options: { readonly timing: 'on' | 'off' } = { timing: 'off' }): CudaEvent {
    const DISABLE_TIMING = 2;
    const handle = made('cuEventCreate', options.timing === 'on' ? 0 : DISABLE_TIMING) as EventHandle;
    const close = hold(() => {
      call('cuEventDestroy', handle);
    });
    const isPassed = (): boolean => {
      const code = attempt('cuEventQuery', handle);
      if (code !== NOT_READY) check('cuEventQuery', code);
      return code === SUCCESS;
    };
    return {
      handle,
      isPassed,
      record: (stream) => {
        call('cuEventRecord', handle, stream.handle);
      },
      holdBack: (stream) => {
        call('cuStreamWaitEvent', stream.handle, handle, 0);
      },
      passed: async (eagerPolls = EAGER_POLLS) => {
        for (let polls = 0; !isPassed(); polls++) {
          await new Promise<void>((resolve) => {
            if (polls < eagerPolls) setImmediate(resolve);
            else setTimeout(resolve, 1);
          });
        }
      },
      close,
    };
  }

  function createStream(priority: number): Stream {
    const NON_BLOCKING = 1;
    const handle = made('cuStreamCreateWithPriority', NON_BLOCKING, priority) as StreamHandle;
    hold(() => {
      call('cuStreamDestroy', handle);
    });
    return { handle };
  }

  const holdNative = (sizeBytes: number): NativeMemory => {
    const memory = allocateNative(sizeBytes);
    const close = hold(() => {
      void memory.close();
    });
    return { ...memory, close };
  };

  // Preparing a block is short and the next long kernel waits for it: it has the highest priority. Work beside the long
  // kernels has the same priority as they: with less, the host, which waits for it, would be late. Zeroing flags in a
  // finished block is short too, and waits only for that block: the next writer of its memory waits for it.
  const streams: Streams = {
    upload: createStream(0),
    prepare: createStream(-2),
    compute: createStream(-1),
    beside: createStream(-1),
    mend: createStream(-2),
    download: createStream(0),
  };
  const rowCopy = holdNative(MEMCPY_2D_BYTES);

  return {
    device,
    driver,
    streams,
    call,
    allocate,
    allocatePinned,
    lockPages,
    isLocked: (address) => locked.has(address),
    borrowPiece,
    allocateNative: holdNative,
    pinnedAddress: (bytes) => {
      const base = pinned.get(bytes.buffer as ArrayBuffer);
      return base === undefined ? undefined : base + BigInt(bytes.byteOffset);
    },
    createEvent,
    millisecondsBetween: (first, last) => {
      const milliseconds = new Float32Array(1);
      call('cuEventElapsedTime', milliseconds, first.handle, last.handle);
      return milliseconds[0];
    },
    loadModule: (image) => {
      const handle = made('cuModuleLoadData', image) as ModuleHandle;
      hold(() => {
        call('cuModuleUnload', handle);
      });
      return handle;
    },
    copyRows: (copy, direction, stream) => {
      if (copy.rows === 0 || copy.widthBytes === 0) return;
      if (copy.hostPitchBytes === copy.widthBytes && copy.devicePitchBytes === copy.widthBytes) {
        const sizeBytes = copy.widthBytes * copy.rows;
        if (direction === 'up') call('cuMemcpyHtoDAsync', copy.device, copy.host, sizeBytes, stream.handle);
        else call('cuMemcpyDtoHAsync', copy.host, copy.device, sizeBytes, stream.handle);
        return;
      }
      writeRowCopy(rowCopy.bytes, copy, direction);
      call('cuMemcpy2DAsync', rowCopy.address, stream.handle);
    },
    freeMemoryBytes,
    get held() {
      return held.size;
    },
    close: async () => {
      if (closed) return;
      const failures: unknown[] = [];
      const tried = (action: () => void): void => {
        try {
          action();
        } catch (error) {
          failures.push(error);
        }
      };
      for (const stream of Object.values(streams)) {
        tried(() => {
          call('cuStreamSynchronize', stream.handle);
        });
      }
      // Newest first: objects are closed before those they were made from.
      for (const release of [...held].reverse()) tried(release);
      closed = true;
      stopListening();
      if (current === context) current = undefined;
      check('cuDevicePrimaryCtxRelease', calls.cuDevicePrimaryCtxRelease(device.ordinal));
      await Promise.resolve();
      // A card with an error reports it on every call: the first report is the useful one.
      if (failures.length > 0)
        throw failures[0] instanceof CorellaError ? failures[0] : new Error(String(failures[0]));
    },
  };
}
