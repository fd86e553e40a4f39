/** C++ kernels on all cores, at the processor's best instruction-set level. */
import { wholeNumber } from '../../core/errors.js';
import { openContext, type NativeContext } from './context.js';
import { chooseIsa, isaTitles, type Isa } from './levels.js';
import { requireNative } from './library.js';
import { spectraAllocator, type CpuSpectraBlock } from './spectra.js';
import type { BackendBase } from '../backend-base.js';
import type { SpectraShape } from '../../core/blocks.js';

export interface CpuOptions {
  /** One per usable core by default. */
  readonly threads?: number;
  /** The best available by default; or given here or by CORELLA_ISA. */
  readonly isa?: Isa;
}

export interface CpuBackend extends BackendBase {
  readonly kind: 'cpu';
  readonly isa: Isa;
  readonly threads: number;
  /** For modules, to bind kernels and keep tables. */
  readonly native: NativeContext;
  allocateSpectra(shape: SpectraShape): CpuSpectraBlock;
}

const MOST_THREADS = 4096;

// eslint-disable-next-line @typescript-eslint/require-await -- an async function turns refusals into rejections
export async function openCpu(options: CpuOptions = {}): Promise<CpuBackend> {
  const library = requireNative("backend 'cpu'");
  const isa = chooseIsa(library, options.isa);
  const threads = wholeNumber('cpu', 'threads', options.threads ?? library.cores, 1, MOST_THREADS);
  const native = openContext(library, { isa, threads });
  return {
    kind: 'cpu',
    description: `${isaTitles[isa]}, ${threads} ${threads === 1 ? 'thread' : 'threads'}`,
    isa,
    threads,
    native,
    allocateSpectra: spectraAllocator(native),
    close: () => native.close(),
  };
}
