/** CUDA's run-time compiler, one-to-one, and one function that compiles. */
import { refuse } from '../../core/errors.js';
import { fillReturned } from '../../core/lent.js';
import { alignedMemory } from '../aligned-memory.js';
import { compilerPlaces, loadBeside, openLibrary } from './libraries.js';
import { bind, type CFunction, type CValue } from './prototypes.js';

/** As nvrtc.h has them. */
export const compilerPrototypes = {
  nvrtcVersion: 'nvrtcResult nvrtcVersion(int *major, int *minor)',
  nvrtcGetErrorString: 'const char * nvrtcGetErrorString(nvrtcResult result)',
  nvrtcGetNumSupportedArchs: 'nvrtcResult nvrtcGetNumSupportedArchs(int *numArchs)',
  nvrtcGetSupportedArchs: 'nvrtcResult nvrtcGetSupportedArchs(int *supportedArchs)',
  nvrtcCreateProgram:
    'nvrtcResult nvrtcCreateProgram(nvrtcProgram *prog, const char *src, const char *name, int numHeaders, const char * const *headers, const char * const *includeNames)',
  nvrtcCompileProgram:
    'nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions, const char * const *options)',
  nvrtcGetCUBINSize: 'nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t *cubinSizeRet)',
  nvrtcGetCUBIN: 'nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char *cubin)',
  nvrtcGetPTXSize: 'nvrtcResult nvrtcGetPTXSize(nvrtcProgram prog, size_t *ptxSizeRet)',
  nvrtcGetPTX: 'nvrtcResult nvrtcGetPTX(nvrtcProgram prog, char *ptx)',
  nvrtcGetProgramLogSize: 'nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram prog, size_t *logSizeRet)',
  nvrtcGetProgramLog: 'nvrtcResult nvrtcGetProgramLog(nvrtcProgram prog, char *log)',
  nvrtcDestroyProgram: 'nvrtcResult nvrtcDestroyProgram(nvrtcProgram *prog)',
} as const;
type CompilerCall = keyof typeof compilerPrototypes;

/** One translation unit: sources are given as text, no file is read by the compiler. */
export interface CompileRequest {
  /** For reports and the log: "correlate-hopper.cu". */
  readonly name: string;
  readonly source: string;
  /** Name in an #include to its text. */
  readonly headers: Readonly<Record<string, string>>;
  readonly defines: Readonly<Record<string, number>>;
}

export interface Compiler {
  readonly path: string;
  /** "13.0": part of the cache's key. */
  readonly version: string;
  /** The compile target for a card of this capability: its own machine code, or PTX for the driver to finish. */
  target(capability: number): CompileTarget;
  /** Machine code or PTX. Refuses with the compiler's log and the defines. Runs on a worker thread. */
  compile(request: CompileRequest, target: CompileTarget): Promise<Uint8Array>;
}

export interface CompileTarget {
  readonly kind: 'cubin' | 'ptx';
  /** "sm_90a", "compute_89". */
  readonly architecture: string;
}

/** Hopper's wgmma exists only in its architecture-specific variant. */
const architectureOf = (capability: number): string => (capability === 90 ? '90a' : String(capability));

export function chooseTarget(capability: number, supported: readonly number[]): CompileTarget | undefined {
  if (supported.includes(capability))
    return { kind: 'cubin', architecture: `sm_${architectureOf(capability)}` };
  const nearest = Math.max(...supported.filter((one) => one < capability));
  return Number.isFinite(nearest) ? { kind: 'ptx', architecture: `compute_${nearest}` } : undefined;
}

let opened: Compiler | undefined;

export function openCompiler(): Compiler {
  if (opened) return opened;
  const { library, path } = openLibrary(compilerPlaces());
  loadBeside(path, 'libnvrtc-builtins.so');
  const names = Object.keys(compilerPrototypes) as CompilerCall[];
  const calls = Object.fromEntries(
    names.map((name) => [name, bind(library, compilerPrototypes[name])]),
  ) as Record<CompilerCall, CFunction>;
  const describe = (code: number): string => String(calls.nvrtcGetErrorString(code));
  const call = (name: CompilerCall, ...values: CValue[]): void => {
    const code = calls[name](...values);
    if (code !== 0) refuse('cuda', `${name} failed: ${describe(code)}`);
  };
  const sized = (size: CompilerCall, get: CompilerCall, program: bigint): Uint8Array => {
    const length = new BigUint64Array(1);
    call(size, program, length);
    const bytes = new Uint8Array(Math.max(1, Number(length[0])));
    call(get, program, bytes);
    return bytes.subarray(0, Number(length[0]));
  };

  const version = new Int32Array(2);
  call('nvrtcVersion', version.subarray(0, 1), version.subarray(1, 2));
  const archCount = new Int32Array(1);
  call('nvrtcGetNumSupportedArchs', archCount);
  const supported = new Int32Array(archCount[0]);
  call('nvrtcGetSupportedArchs', supported);

  async function compile(request: CompileRequest, target: CompileTarget): Promise<Uint8Array> {
    const headers = cStrings(Object.values(request.headers));
    const includeNames = cStrings(Object.keys(request.headers));
    const defines = Object.entries(request.defines).map(([name, value]) => `-D${name}=${value}`);
    const options = cStrings([`--gpu-architecture=${target.architecture}`, '-std=c++17', ...defines]);
    const program = new BigUint64Array(1);
    try {
      call(
        'nvrtcCreateProgram',
        program,
        request.source,
        request.name,
        headers.count,
        headers.address,
        includeNames.address,
      );
      const code = await new Promise<number>((resolve, reject) => {
        calls.nvrtcCompileProgram.async(program[0], options.count, options.address, (error, result) => {
          if (error) reject(error);
          else resolve(result);
        });
      });
      if (code !== 0) {
        const log = Buffer.from(sized('nvrtcGetProgramLogSize', 'nvrtcGetProgramLog', program[0]));
        refuse(
          'cuda',
          `${request.name} does not compile for ${target.architecture} with ${defines.join(' ') || 'no defines'}: ` +
            `${describe(code)}\n${log.toString('utf8').replace(/\0+$/, '').trim()}`,
          'this is a fault of ours or of the compiler: please report it with these lines',
        );
      }
      return target.kind === 'cubin'
        ? sized('nvrtcGetCUBINSize', 'nvrtcGetCUBIN', program[0])
        : sized('nvrtcGetPTXSize', 'nvrtcGetPTX', program[0]);
    } finally {
      if (program[0] !== 0n) calls.nvrtcDestroyProgram(program);
      // The compiler's thread read them until now.
      for (const { memory } of [headers, includeNames, options]) fillReturned(memory);
    }
  }

  opened = {
    path,
    version: `${version[0]}.${version[1]}`,
    target: (capability) =>
      chooseTarget(capability, [...supported]) ??
      refuse(
        'cuda',
        `the run-time compiler ${version[0]}.${version[1]} no longer makes code for compute capability ${capability / 10}`,
        'install an older libnvrtc (12) and name its folder in CORELLA_CUDA_PATH',
      ),
    compile,
  };
  return opened;
}

/** An array of C strings, at its address as long as `memory` is held. */
function cStrings(texts: readonly string[]) {
  const encoded = texts.map((text) => Buffer.from(`${text}\0`, 'utf8'));
  const pointerBytes = 8 * Math.max(1, texts.length);
  const sizeBytes = pointerBytes + encoded.reduce((sum, bytes) => sum + bytes.length, 0);
  const { address, bytes: memory } = alignedMemory(sizeBytes, 8);
  const pointers = new DataView(memory.buffer, memory.byteOffset);
  let at = pointerBytes;
  encoded.forEach((bytes, n) => {
    pointers.setBigUint64(8 * n, address + BigInt(at), true);
    memory.set(bytes, at);
    at += bytes.length;
  });
  return { count: texts.length, address, memory };
}
