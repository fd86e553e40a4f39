/** One open native context: its threads, its memory, and the running calls on it. */
import { closes, type Closable } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import { isaNumber, type Isa } from './levels.js';
import { call, callApart, type NativeFunction, type NativeLibrary } from './library.js';
import type { Address, CallArguments, OpenArguments, Opened } from '../c-arguments.js';

/** An object or memory on the native side, closed with its context at the latest. */
interface NativeHandle<Kind extends Address<string> = Address<string>> extends Closable {
  readonly address: Kind;
}

/** Zeroed, aligned to 64 bytes. */
export interface NativeMemory extends NativeHandle<Address<'memory'>> {
  readonly sizeBytes: number;
}

/** A bound function. */
type NativeCall<Prototype extends string> = (...args: CallArguments<Prototype>) => Promise<void>;

export interface NativeContext extends Closable {
  /**
   * Binds an exported function by its C prototype, which starts `int32_t name(char *error, void *context`; the call
   * adds both. It runs on another thread: the event loop continues, and arrays passed must not be changed until it has
   * settled. `where` names the caller in errors.
   */
  bind<Prototype extends string>(where: string, prototype: Prototype): NativeCall<Prototype>;
  /** Calls, synchronously, a function whose last argument is `void **` and receives a new object's address. */
  open<Prototype extends string>(
    where: string,
    prototype: Prototype,
    ...args: OpenArguments<Prototype>
  ): NativeHandle<Opened<Prototype>>;
  allocate(sizeBytes: number): NativeMemory;
  /** Waits for running calls, ends the threads, frees all memory; safe to call twice. */
  close(): Promise<void>;
}

interface ContextOptions {
  readonly isa: Isa;
  readonly threads: number;
}

export function openContext(library: NativeLibrary, { isa, threads }: ContextOptions): NativeContext {
  const open = library.function(
    'int32_t corella_open(char *error, int32_t level, int32_t threads, _Out_ void **context)',
  );
  const closeContext = library.function('int32_t corella_close(char *error, void *context)');
  const release = library.function('int32_t corella_release(char *error, void *context, void *memory)');

  const handle: [bigint] = [0n];
  call('cpu', open, isaNumber(isa), threads, handle);
  let context: Address<'context'> | undefined = handle[0] as Address<'context'>;
  const opened = (where: string): Address<'context'> => context ?? refuse(where, 'the cpu backend is closed');

  const underWay = new Set<Promise<void>>();

  /** Of any prototype: the arguments were checked where it was written. */
  const bound = (prototype: string): NativeFunction<readonly unknown[]> =>
    library.function(prototype) as NativeFunction<readonly never[]> as NativeFunction<readonly unknown[]>;

  const openHandle: NativeContext['open'] = (where, prototype, ...args) => {
    const native = bound(prototype);
    const address: [bigint] = [0n];
    call(where, native, opened(where), ...args, address);
    let closed = false;
    return {
      address: address[0] as Opened<typeof prototype>,
      close: closes(() => {
        if (closed || context === undefined) return;
        closed = true;
        call(where, release, opened(where), address[0] as Address<'memory'>);
      }),
    };
  };

  return {
    bind: (where, prototype) => {
      const native = bound(prototype);
      return async (...args) => {
        const running = callApart(where, native, opened(where), ...args);
        underWay.add(running);
        try {
          await running;
        } finally {
          underWay.delete(running);
        }
      };
    },
    open: openHandle,
    allocate: (sizeBytes) => {
      const handle = openHandle(
        'cpu',
        'int32_t corella_allocate(char *error, void *context, int64_t sizeBytes, _Out_ void **memory)',
        sizeBytes,
      );
      return { ...handle, address: handle.address as bigint as Address<'memory'>, sizeBytes };
    },
    close: async () => {
      if (context === undefined) return;
      const closing = context;
      context = undefined;
      await Promise.allSettled(underWay);
      call('cpu', closeContext, closing);
    },
  };
}
