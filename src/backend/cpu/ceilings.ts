/** This machine's peak rates, measured (ceilings.cpp), to compare kernels with. */
import { nothingToClose, type Closable } from '../../core/closing.js';
import type { CpuBackend } from './cpu.js';

/** One short run at full speed; returns the work done, in the ceiling's unit times seconds. */
export interface Ceiling extends Closable {
  readonly title: string;
  readonly unit: 'operations' | 'bytes';
  run(): Promise<number>;
}

interface Ceilings {
  /** Multiply-adds of small integers by the level's best instruction. */
  integers(): Ceiling;
  /** Multiply-adds in float32. */
  floats(): Ceiling;
  /** Reads memory private to each thread repeatedly: 1 MB stays in an L2 cache, 64 MB in none. */
  read(bytesPerThread: number): Ceiling;
}

/** The library's numbers (ceilings.h). */
export const arithmeticNumbers = { integers: 0, floats: 1 } as const;
/** About 2 ms of work on one core, at any level. */
const REPEATS = { amx: 1e5, avx512: 6e5, avx2: 6e5, portable: 6e5, dotprod: 6e5, i8mm: 6e5 } as const;
const FLOAT_REPEATS = 6e5;
const BYTES_AT_ONCE = 2 ** 27;

export function cpuCeilings({ native, isa, threads }: CpuBackend): Ceilings {
  const compute = native.bind(
    'ceiling',
    `int32_t corella_ceiling_arithmetic(char *error, void *context, int32_t kind, int64_t repeats,
      double *operations /*[1]*/)`,
  );
  const read = native.bind(
    'ceiling',
    `int32_t corella_ceiling_read(char *error, void *context, const void *memory, int64_t sizeBytes,
      int64_t repeats)`,
  );
  const multiply = (kind: keyof typeof arithmeticNumbers, title: string, repeats: number): Ceiling => {
    const operations = new Float64Array(1);
    return {
      title,
      unit: 'operations',
      run: async () => {
        await compute(arithmeticNumbers[kind], repeats, operations);
        return operations[0];
      },
      close: nothingToClose,
    };
  };
  return {
    integers: () => multiply('integers', 'integer multiply-adds', REPEATS[isa]),
    floats: () => multiply('floats', 'float32 multiply-adds', FLOAT_REPEATS),
    read: (bytesPerThread) => {
      const memory = native.allocate(bytesPerThread * threads);
      const repeats = Math.max(1, Math.round(BYTES_AT_ONCE / bytesPerThread));
      return {
        title: `reading ${bytesPerThread / 2 ** 20} MiB a thread`,
        unit: 'bytes',
        run: async () => {
          await read(memory.address, bytesPerThread, repeats);
          return bytesPerThread * threads * repeats;
        },
        close: () => memory.close(),
      };
    },
  };
}
