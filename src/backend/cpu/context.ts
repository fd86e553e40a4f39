/** One open native context: its threads, its memory, and the calls under way on it. */
import { refuse } from '../../core/errors.js';
import { isaNumber, type Isa } from './levels.js';
import { errorBuffer, settle, type NativeArgument, type NativeLibrary } from './library.js';

/** Zeroed, aligned to 64 bytes, freed by close or with its context. */
export interface NativeMemory {
  readonly address: bigint;
  readonly sizeBytes: number;
  close(): void;
}

/** A bound function; give it the argument types of its prototype where it is declared. */
export type NativeCall<Args extends readonly NativeArgument[] = NativeArgument[]> = (
  ...args: Args
) => Promise<void>;

export interface NativeContext {
  /**
   * Binds an exported function by its C prototype, which starts `int32_t name(char *error, void *context`; both
   * are put in by the call. It runs on another thread: the event loop goes on, and arrays passed must be left
   * alone until it has settled. `where` names the caller in refusals.
   */
  bind(where: string, prototype: string): NativeCall;
  allocate(sizeBytes: number): NativeMemory;
  /** Waits for the calls under way, ends the threads, frees all memory; safe to call twice. */
  close(): Promise<void>;
}

interface ContextOptions {
  readonly isa: Isa;
  readonly threads: number;
}

export function openContext(library: NativeLibrary, { isa, threads }: ContextOptions): NativeContext {
  // int32_t corella_open(char *error, int32_t level, int32_t threads, void **context);
  const open = library.function(
    'int32_t corella_open(char *error, int32_t level, int32_t threads, _Out_ void **context)',
  );
  // int32_t corella_close(char *error, void *context);
  const closeContext = library.function('int32_t corella_close(char *error, void *context)');
  // int32_t corella_allocate(char *error, void *context, int64_t sizeBytes, void **memory);
  const allocate = library.function(
    'int32_t corella_allocate(char *error, void *context, int64_t sizeBytes, _Out_ void **memory)',
  );
  // int32_t corella_release(char *error, void *context, void *memory);
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
    allocate: (sizeBytes) => {
      const memory: [bigint] = [0n];
      withError('cpu', (error) => allocate(error, opened('cpu'), sizeBytes, memory));
      let closed = false;
      return {
        address: memory[0],
        sizeBytes,
        close: () => {
          if (closed || context === undefined) return;
          closed = true;
          withError('cpu', (error) => release(error, opened('cpu'), memory[0]));
        },
      };
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
