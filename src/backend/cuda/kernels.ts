/** From CUDA source to a kernel: compiled for the card, cached on disk, loaded, called. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { refuse } from '../../core/errors.js';
import { fieldsOf, type ArgumentKind, type StructureLayout } from './arguments.js';
import type { CompileRequest, CompileTarget, Compiler } from './nvrtc.js';
import type { CudaSession, FunctionHandle, Stream } from './session.js';
import {
  allocateNative,
  CLUSTER_DIMENSION,
  COOPERATIVE,
  LAUNCH_ATTRIBUTE_BYTES,
  LAUNCH_CONFIG_BYTES,
  launchAttributeLayout,
  launchConfigLayout,
  type NativeMemory,
} from './structs.js';

export type { ArgumentKind } from './arguments.js';

export interface LaunchShape {
  readonly grid: readonly [x: number, y: number];
  readonly threads: number;
  readonly sharedBytes?: number;
  /** Blocks of a cluster along x; 1 by default. */
  readonly cluster?: number;
  /** `together`: refused unless all blocks fit on the card at once, so that they may wait for each other. */
  readonly residency?: 'any' | 'together';
}

export interface Kernel {
  readonly name: string;
  /** The storage of argument n until the launch; write structures here. */
  argument(n: number): { readonly address: bigint; readonly view: DataView };
  /** Sets plain arguments, in order; null leaves one unchanged. */
  set(values: readonly (number | bigint | null)[]): void;
  launch(shape: LaunchShape, stream: Stream): void;
}

export interface KernelRequest extends CompileRequest {
  /** extern "C" names and their signatures. */
  readonly entries: Readonly<Record<string, readonly ArgumentKind[]>>;
  /** Structures in tables that the kernels read, by their C names. */
  readonly tables?: Readonly<Record<string, StructureLayout>>;
}

export interface KernelShop {
  readonly compiler: Compiler;
  /** Compiles, or reads the cache; the kernels live as long as the session. */
  prepare<Names extends string>(
    request: KernelRequest & { readonly entries: Readonly<Record<Names, readonly ArgumentKind[]>> },
  ): Promise<Record<Names, Kernel>>;
}

export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const base = environment.XDG_CACHE_HOME;
  return join(base !== undefined && base !== '' ? base : join(homedir(), '.cache'), 'corella', 'kernels');
}

/** Everything that decides the machine code. */
export function cacheKey(request: CompileRequest, target: CompileTarget, compilerVersion: string): string {
  const { name, source, headers, defines } = request;
  const sorted = (record: Readonly<Record<string, unknown>>): unknown => Object.entries(record).sort();
  const facts = [
    name,
    source,
    sorted(headers),
    sorted(defines),
    target.kind,
    target.architecture,
    compilerVersion,
  ];
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex');
}

export function openKernelShop(session: CudaSession, compiler: Compiler): KernelShop {
  const target = compiler.target(session.device.capability);

  async function image(request: CompileRequest): Promise<Uint8Array> {
    const folder = cacheFolder();
    const path = join(folder, `${cacheKey(request, target, compiler.version)}.${target.kind}`);
    try {
      return await readFile(path);
    } catch {
      // Missing or unreadable: compile it.
    }
    const compiled = await compiler.compile(request, target);
    try {
      await mkdir(folder, { recursive: true });
      const temporary = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
      await writeFile(temporary, compiled);
      await rename(temporary, path);
    } catch {
      // A cache that cannot be written only slows down the next start by a second or two.
    }
    return compiled;
  }

  async function load(request: CompileRequest): Promise<bigint> {
    const bytes = await image(request);
    try {
      return session.loadModule(bytes);
    } catch {
      // A truncated cache file, or one for an older driver: compile again.
      return session.loadModule(await compiler.compile(request, target));
    }
  }

  return {
    compiler,
    prepare: async (request) => {
      const module = await load(request);
      const kernels = Object.entries<readonly ArgumentKind[]>(request.entries).map(([name, kinds]) => {
        const receiver = new BigUint64Array(1);
        session.call('cuModuleGetFunction', receiver, module, name);
        return [name, makeKernel(session, name, receiver[0] as FunctionHandle, kinds)] as const;
      });
      return Object.fromEntries(kernels) as Record<keyof typeof request.entries, Kernel>;
    },
  };
}

const MAX_DYNAMIC_SHARED_SIZE_BYTES = 8;
/** The most shared memory of a block unless the driver is asked for more. */
const PLAIN_SHARED_BYTES = 48 * 1024;

function makeKernel(
  session: CudaSession,
  name: string,
  handle: FunctionHandle,
  kinds: readonly ArgumentKind[],
): Kernel {
  const offsets: number[] = [];
  let end = 0;
  for (const kind of kinds) {
    const [size, align] =
      typeof kind === 'object' ? [kind.bytes, kind.align] : kind === 'i32' ? [4, 4] : [8, 8];
    end = Math.ceil(end / align) * align;
    offsets.push(end);
    end += size;
  }
  const values: NativeMemory = allocateNative(Math.max(8, end));
  const pointers = allocateNative(8 * Math.max(1, kinds.length));
  offsets.forEach((offset, n) => {
    pointers.bytes.setBigUint64(8 * n, values.address + BigInt(offset), true);
  });
  const config = allocateNative(LAUNCH_CONFIG_BYTES);
  const attributes = allocateNative(2 * LAUNCH_ATTRIBUTE_BYTES);
  const put = fieldsOf(config.bytes, { ...launchConfigLayout, bytes: LAUNCH_CONFIG_BYTES });
  put({ attrs: attributes.address });
  let sharedAllowed = PLAIN_SHARED_BYTES;

  /** Writes the launch's structure. */
  const describe = (
    { grid, threads, sharedBytes = 0, cluster = 1, residency = 'any' }: LaunchShape,
    stream: Stream,
  ): void => {
    if (sharedBytes > session.device.sharedBytesPerBlock) {
      refuse(
        'cuda',
        `${name} wants ${sharedBytes} bytes of shared memory, ${session.device.name} gives a block ${session.device.sharedBytesPerBlock}`,
        'choose another path: CORELLA_CUDA_PATH_KIND=dp4a',
      );
    }
    if (sharedBytes > sharedAllowed) {
      session.call('cuFuncSetAttribute', handle, MAX_DYNAMIC_SHARED_SIZE_BYTES, sharedBytes);
      sharedAllowed = sharedBytes;
    }
    let count = 0;
    const add = (id: number, ...values: number[]): void => {
      const from = LAUNCH_ATTRIBUTE_BYTES * count++;
      attributes.bytes.setInt32(from + launchAttributeLayout.id, id, true);
      values.forEach((value, n) => {
        attributes.bytes.setUint32(from + launchAttributeLayout.value + 4 * n, value, true);
      });
    };
    if (cluster > 1) add(CLUSTER_DIMENSION, cluster, 1, 1);
    if (residency === 'together') add(COOPERATIVE, 1);
    put({
      gridDimX: grid[0],
      gridDimY: grid[1],
      gridDimZ: 1,
      blockDimX: threads,
      blockDimY: 1,
      blockDimZ: 1,
    });
    put({ sharedMemBytes: sharedBytes, hStream: stream.handle, numAttrs: count });
  };

  return {
    name,
    argument: (n) => ({
      address: values.address + BigInt(offsets[n]),
      view: new DataView(values.bytes.buffer, values.bytes.byteOffset + offsets[n]),
    }),
    set: (given) => {
      if (given.length !== kinds.length) {
        throw new Error(`kernel ${name} takes ${kinds.length} arguments, ${given.length} were given`);
      }
      given.forEach((value, n) => {
        if (value === null) return;
        const kind = kinds[n];
        if (kind === 'i32') values.bytes.setInt32(offsets[n], Number(value), true);
        else if (kind === 'i64') values.bytes.setBigInt64(offsets[n], BigInt(value), true);
        else if (kind === 'pointer') values.bytes.setBigUint64(offsets[n], BigInt(value), true);
        else
          throw new Error(`argument ${n} of kernel ${name} is a structure: write it through argument(${n})`);
      });
    },
    launch: (shape, stream) => {
      describe(shape, stream);
      session.call('cuLaunchKernelEx', config.address, handle, pointers.address, null);
    },
  };
}
