/** One open native context: its threads, its memory, and the calls under way on it. */
import { closes, type Closable } from '../../core/closing.js';
import { refuse } from '../../core/errors.js';
import { isaNumber, type Isa } from './levels.js';
import { errorBuffer, settle, type NativeArgument, type NativeLibrary } from './library.js';

/** An object or memory on the native side, closed with its context at the latest. */
export interface NativeHandle extends Closable {
  readonly address: bigint;
}

/** Zeroed, aligned to 64 bytes. */
export interface NativeMemory extends NativeHandle {
  readonly sizeBytes: number;
}

/** A bound function; give it the argument types of its prototype where it is declared. */
export type NativeCall<Args extends readonly NativeArgument[] = NativeArgument[]> = (
  ...args: Args
) => Promise<void>;

/** The same here and now, of what takes microseconds: the event loop waits. */
export type NativeCallHere<Args extends readonly NativeArgument[] = NativeArgument[]> = (
  ...args: Args
) => void;

export interface NativeContext extends Closable {
  /**
   * Binds an exported function by its C prototype, which starts `int32_t name(char *error, void *context`; both
   * are put in by the call. It runs on another thread: the event loop goes on, and arrays passed must be left
   * alone until it has settled. `where` names the caller in refusals.
   */
  bind(where: string, prototype: string): NativeCall;
  bindHere(where: string, prototype: string): NativeCallHere;
  /** Calls, here and now, a function whose last argument is `void **` and receives a new object's address. */
  open(where: string, prototype: string, ...args: readonly NativeArgument[]): NativeHandle;
  allocate(sizeBytes: number): NativeMemory;
  /** Waits for the calls under way, ends the threads, frees all memory; safe to call twice. */
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
  const spare: Uint8Array[] = [];
  const withError = (where: string, call: (error: Uint8Array) => number): void => {
    const error = spare.pop() ?? errorBuffer();
    try {
      settle(where, call(error), error);
    } finally {
      spare.push(error);
    }
  };
  withError('cpu', (error) => open(error, isaNumber(isa), threads, handle));
  let context: bigint | undefined = handle[0];
  const opened = (where: string): bigint => context ?? refuse(where, 'the cpu backend is closed');

  /** What native code is reading or writing; held here so that it is not collected meanwhile. */
  const underWay = new Map<readonly unknown[], Promise<number>>();

  const openHandle = (where: string, prototype: string, ...args: readonly NativeArgument[]): NativeHandle => {
    const native = library.function(prototype);
    const address: [bigint] = [0n];
    withError(where, (error) => native(error, opened(where), ...args, address));
    let closed = false;
    return {
      address: address[0],
      close: closes(() => {
        if (closed || context === undefined) return;
        closed = true;
        withError(where, (error) => release(error, opened(where), address[0]));
      }),
    };
  };

  return {
    bind: (where, prototype) => {
      const native = library.function(prototype);
      return async (...args) => {
        const error = spare.pop() ?? errorBuffer();
        const all = [error, opened(where), ...args];
        const call = new Promise<number>((resolve, reject) => {
          native.async(...all, (fault: unknown, code: number) => {
            if (fault instanceof Error) reject(fault);
            else resolve(code);
          });
        });
        underWay.set(all, call);
        try {
          settle(where, await call, error);
        } finally {
          underWay.delete(all);
          spare.push(error);
        }
      };
    },
    bindHere: (where, prototype) => {
      const native = library.function(prototype);
      return (...args) => {
        withError(where, (error) => native(error, opened(where), ...args));
      };
    },
    open: openHandle,
    allocate: (sizeBytes) => {
      const handle = openHandle(
        'cpu',
        'int32_t corella_allocate(char *error, void *context, int64_t sizeBytes, _Out_ void **memory)',
        sizeBytes,
      );
      return { ...handle, sizeBytes };
    },
    close: async () => {
      if (context === undefined) return;
      const closing = context;
      context = undefined;
      await Promise.allSettled(underWay.values());
      withError('cpu', (error) => closeContext(error, closing));
    },
  };
}
