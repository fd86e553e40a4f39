/**
 * One card, opened: its context, its streams, and everything allocated on it. Everything from a session is closed with
 * it, also after an error; it may be closed earlier, and more than once.
 */
import { closes, type Closable } from '../../core/closing.js';
import { beforeEnding } from '../../core/ending.js';
import { CorellaError, refuse } from '../../core/errors.js';
import { fillReturned } from '../../core/lent.js';
import { roundUp } from '../../core/round-up.js';
import { formatBytes } from '../../core/units.js';
import { alignedMemory } from '../aligned-memory.js';
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

/** A kind of typed array. */
type ArrayOf<Values> = new (buffer: ArrayBuffer, byteOffset: number, length: number) => Values;

/**
 * Page-locked host memory: the card copies from it directly, at the bus's speed. It is memory of JavaScript, locked
 * until closed: views of it that are kept longer are never freed memory.
 */
export interface PinnedMemory extends Closable {
  readonly pointer: HostPointer;
  readonly sizeBytes: number;
  view<Values>(type: ArrayOf<Values>, length: number, offsetBytes?: number): Values;
}

/** Memory of the host on whole pages; `bytes` keeps it alive. */
interface GivenMemory {
  readonly address: bigint;
  readonly bytes: Uint8Array;
}

/** Pages of every processor we run on; memory that is locked has them to itself. */
const PAGE_BYTES = 64 * 2 ** 10;

/** Long enough for the bus's full speed, short enough to be allocated in a few milliseconds. */
export const PIECE_BYTES = 8 * 2 ** 20;

export interface Stream {
  readonly handle: StreamHandle;
}

/** The current context of this thread; setting it costs a call, so only changes are made. */
let current: bigint | undefined;

/**
 * Polls in the same turn of the event loop cost microseconds; after this many, sleeps of a millisecond are negligible.
 */
const EAGER_POLLS = 200;
/** Flags of the driver. */
const DISABLE_TIMING = 2;
const NON_BLOCKING = 1;

/** An event in a stream that others can wait for. Before it is first recorded it counts as passed. */
export class CudaEvent implements Closable {
  readonly handle: EventHandle;
  readonly close: () => Promise<void>;

  constructor(
    private readonly session: CudaSession,
    timing: 'on' | 'off',
  ) {
    const handle = session.made('cuEventCreate', timing === 'on' ? 0 : DISABLE_TIMING);
    this.handle = handle as EventHandle;
    this.close = session.hold(() => {
      session.call('cuEventDestroy', handle);
    });
  }

  isPassed(): boolean {
    const code = this.session.attempt('cuEventQuery', this.handle);
    if (code !== NOT_READY) this.session.check('cuEventQuery', code);
    return code === SUCCESS;
  }

  record(stream: Stream): void {
    this.session.call('cuEventRecord', this.handle, stream.handle);
  }

  /** Later work in `stream` waits until the event has passed; the host continues. */
  holdBack(stream: Stream): void {
    this.session.call('cuStreamWaitEvent', stream.handle, this.handle, 0);
  }

  /**
   * Resolves when the event has passed; the event loop continues meanwhile. `eagerPolls`: more polls before the first
   * sleep of a millisecond, where the card waits for the host.
   */
  async passed(eagerPolls = EAGER_POLLS): Promise<void> {
    for (let polls = 0; !this.isPassed(); polls++) {
      await new Promise<void>((resolve) => {
        if (polls < eagerPolls) setImmediate(resolve);
        else setTimeout(resolve, 1);
      });
    }
  }
}

const shortOf = (what: string, sizeBytes: number, where: string, fix: string): never =>
  refuse('cuda', `${what} needs ${formatBytes(sizeBytes)} of ${where}`, fix);
const HOST_SHORT = 'page-locked host memory, which this machine would not give';

export class CudaSession implements Closable {
  readonly streams: Readonly<
    Record<'upload' | 'prepare' | 'compute' | 'beside' | 'zero' | 'download', Stream>
  >;
  private readonly rowCopy: NativeMemory;
  /** Addresses of buffers with pinned memory in them. */
  private readonly pinned = new Map<ArrayBuffer, bigint>();
  /** Locked pages of the caller's memory, by their address. */
  private readonly locked = new Map<bigint, Uint8Array>();
  private readonly pieces: PinnedMemory[] = [];
  private readonly stopListening: () => void;
  private readonly handle: bigint;
  private isClosed = false;
  /** Everything still allocated, oldest first; each entry releases itself, once. */
  private readonly holding = new Set<() => void>();

  constructor(
    readonly driver: Driver,
    readonly device: DeviceFacts,
  ) {
    const receiver = new BigUint64Array(1);
    this.check('cuDevicePrimaryCtxRetain', driver.calls.cuDevicePrimaryCtxRetain(receiver, device.ordinal));
    this.handle = receiver[0];
    // The driver releases everything when the process ends; this listener is what lets it end. NVRTC restores signal
    // handlers without SA_RESETHAND, and Node's own, which raises its signal again, then runs for ever. Our listener
    // does not depend on that flag.
    this.stopListening = beforeEnding(() => undefined);
    // Preparing a block is short and the next long kernel waits for it: it has the highest priority. Work beside the
    // long kernels has the same priority as they: with less, the host, which waits for it, would be late. Zeroing flags
    // in a finished block is short too, and waits only for that block: the next writer of its memory waits for it.
    this.streams = {
      upload: this.createStream(0),
      prepare: this.createStream(-2),
      compute: this.createStream(-1),
      beside: this.createStream(-1),
      zero: this.createStream(-2),
      download: this.createStream(0),
    };
    this.rowCopy = allocateNative(MEMCPY_2D_BYTES);
  }

  check(name: DriverCall, code: number): void {
    if (code !== SUCCESS) refuse('cuda', `${name} on ${this.device.name}: ${this.driver.describe(code)}`);
  }

  /** Returns the driver's code. */
  attempt(name: DriverCall, ...values: CValue[]): number {
    const { calls } = this.driver;
    if (this.isClosed) refuse('cuda', `${this.device.name} was already closed`, 'open the backend again');
    if (current !== this.handle) {
      this.check('cuCtxSetCurrent', calls.cuCtxSetCurrent(this.handle));
      current = this.handle;
    }
    return calls[name](...values);
  }

  /** Calls the driver in this card's context and refuses with the driver's own words where it fails. */
  call(name: DriverCall, ...values: CValue[]): void {
    this.check(name, this.attempt(name, ...values));
  }

  /** A call whose first argument receives a handle. */
  made(name: DriverCall, ...values: CValue[]): bigint {
    const receiver = new BigUint64Array(1);
    this.call(name, receiver, ...values);
    return receiver[0];
  }

  /** A call that allocates; where there is no memory left, `refuseShort` says so. */
  private allocated(name: DriverCall, values: readonly CValue[], refuseShort: () => never): void {
    const code = this.attempt(name, ...values);
    if (code === OUT_OF_MEMORY) refuseShort();
    this.check(name, code);
  }

  /** Keeps what is to be released before the context; returns how to release it earlier. */
  hold(release: () => void): () => Promise<void> {
    const once = (): void => {
      if (this.holding.delete(once)) release();
    };
    this.holding.add(once);
    return closes(once);
  }

  allocate(what: string, sizeBytes: number): DeviceMemory {
    const receiver = new BigUint64Array(1);
    this.allocated('cuMemAlloc', [receiver, Math.max(1, sizeBytes)], () => {
      const where = `device memory, ${this.device.name} has ${formatBytes(this.freeMemoryBytes())} left`;
      return shortOf(what, sizeBytes, where, 'take fewer channels or shorter blocks');
    });
    const close = this.hold(() => {
      this.call('cuMemFree', receiver[0]);
    });
    return { pointer: receiver[0] as DevicePointer, sizeBytes, close };
  }

  allocatePinned(what: string, sizeBytes: number): PinnedMemory {
    const { pinned } = this;
    const lockedBytes = roundUp(Math.max(1, sizeBytes), PAGE_BYTES);
    const { address, bytes } = alignedMemory(lockedBytes, PAGE_BYTES);
    const { buffer, byteOffset } = bytes;
    this.allocated('cuMemHostRegister', [address, lockedBytes, 0], () =>
      shortOf(what, sizeBytes, HOST_SHORT, 'take shorter blocks, or raise ulimit -l'),
    );
    const close = this.hold(() => {
      pinned.delete(buffer);
      this.call('cuMemHostUnregister', address);
      fillReturned(bytes);
    });
    pinned.set(buffer, address - BigInt(byteOffset));
    return {
      pointer: address as HostPointer,
      sizeBytes,
      view: (type, length, offsetBytes = 0) => new type(buffer, byteOffset + offsetBytes, length),
      close,
    };
  }

  /** Locks the pages of the caller's memory, which must live until they are unlocked by closing. */
  lockPages(what: string, { address, bytes }: GivenMemory): Closable {
    const { locked } = this;
    this.allocated('cuMemHostRegister', [address, bytes.length, 0], () =>
      shortOf(what, bytes.length, HOST_SHORT, 'ulimit -l'),
    );
    locked.set(address, bytes);
    return {
      close: this.hold(() => {
        locked.delete(address);
        this.call('cuMemHostUnregister', address);
      }),
    };
  }

  /** Whether memory that begins here is locked: the card copies from it directly. */
  isLocked(address: bigint): boolean {
    return this.locked.has(address);
  }

  /** Page-locked memory of PIECE_BYTES for a transfer; closing keeps it for the next one, which is far faster. */
  borrowPiece(): PinnedMemory {
    const piece = this.pieces.pop() ?? this.allocatePinned('a transfer', PIECE_BYTES);
    let isBack = false;
    return {
      ...piece,
      close: closes(() => {
        if (isBack) return;
        fillReturned(piece.view(Uint8Array, PIECE_BYTES));
        this.pieces.push(piece);
        isBack = true;
      }),
    };
  }

  /** Where `bytes` starts, if it is in this session's pinned memory. */
  pinnedAddress(bytes: ArrayBufferView): bigint | undefined {
    const base = this.pinned.get(bytes.buffer as ArrayBuffer);
    return base === undefined ? undefined : base + BigInt(bytes.byteOffset);
  }

  createEvent({ timing }: { readonly timing: 'on' | 'off' } = { timing: 'off' }): CudaEvent {
    return new CudaEvent(this, timing);
  }

  private createStream(priority: number): Stream {
    const handle = this.made('cuStreamCreateWithPriority', NON_BLOCKING, priority) as StreamHandle;
    this.hold(() => {
      this.call('cuStreamDestroy', handle);
    });
    return { handle };
  }

  millisecondsBetween(first: CudaEvent, last: CudaEvent): number {
    const milliseconds = new Float32Array(1);
    this.call('cuEventElapsedTime', milliseconds, first.handle, last.handle);
    return milliseconds[0];
  }

  loadModule(image: Uint8Array): ModuleHandle {
    const handle = this.made('cuModuleLoadData', image) as ModuleHandle;
    this.hold(() => {
      this.call('cuModuleUnload', handle);
    });
    return handle;
  }

  copyRows(copy: RowCopy, direction: 'up' | 'down', { handle }: Stream): void {
    if (copy.rows === 0 || copy.widthBytes === 0) return;
    if (copy.hostPitchBytes === copy.widthBytes && copy.devicePitchBytes === copy.widthBytes) {
      const sizeBytes = copy.widthBytes * copy.rows;
      if (direction === 'up') this.call('cuMemcpyHtoDAsync', copy.device, copy.host, sizeBytes, handle);
      else this.call('cuMemcpyDtoHAsync', copy.host, copy.device, sizeBytes, handle);
      return;
    }
    writeRowCopy(this.rowCopy.bytes, copy, direction);
    this.call('cuMemcpy2DAsync', this.rowCopy.address, handle);
  }

  freeMemoryBytes(): number {
    const sizes = new BigUint64Array(2);
    this.call('cuMemGetInfo', sizes.subarray(0, 1), sizes.subarray(1, 2));
    return Number(sizes[0]);
  }

  /** How many things are still allocated. */
  get held(): number {
    return this.holding.size;
  }

  /** Waits for the streams, then releases everything, newest first: objects are closed before what they are made of. */
  readonly close = closes(() => {
    this.stopListening();
    if (this.isClosed) return;
    const failures: unknown[] = [];
    const synchronise = Object.values(this.streams).map(({ handle }) => () => {
      this.call('cuStreamSynchronize', handle);
    });
    for (const action of [...synchronise, ...[...this.holding].reverse()]) {
      try {
        action();
      } catch (error) {
        failures.push(error);
      }
    }
    this.isClosed = true;
    if (current === this.handle) current = undefined;
    const { ordinal } = this.device;
    this.check('cuDevicePrimaryCtxRelease', this.driver.calls.cuDevicePrimaryCtxRelease(ordinal));
    // A card with an error reports it on every call: the first report is the useful one.
    if (failures.length > 0)
      throw failures[0] instanceof CorellaError ? failures[0] : new Error(String(failures[0]));
  });
}
