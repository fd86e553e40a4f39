/**
 * Kernels without a card: compiled by the host's compiler, a thread of the host for each of a block. Slow, with the
 * same arithmetic except for the card's own square roots and sines; tests the results of kernels in CI and on any
 * laptop.
 */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { preparing, type Closable } from '../../../core/closing.js';
import type { KernelRequest, LaunchShape } from '../kernels.js';
import { readSource } from '../sources.js';

/**
 * A number, memory, or a structure with pointers to memory at some offsets. Writes of the kernel to memory are visible
 * afterwards.
 */
export type HostArgument =
  | { readonly i32: number }
  | { readonly i64: number }
  | { readonly memory: ArrayBufferView }
  | {
      readonly bytes: Uint8Array;
      readonly pointers: readonly { readonly at: number; readonly memory: ArrayBufferView }[];
    };

export interface HostKernel extends Closable {
  run(shape: LaunchShape, given: readonly HostArgument[]): Promise<void>;
}

const compilers = [process.env.CXX, 'g++', 'clang++', 'c++'].filter(
  (name) => name !== undefined && name !== '',
);
/** The first that supports barriers; undefined where none does. */
export const hostCompiler: string | undefined = compilers.find(
  (name) =>
    spawnSync(name ?? '', ['-std=c++20', '-fsyntax-only', '-x', 'c++', '-'], { input: '#include <barrier>' })
      .status === 0,
);

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
const run = promisify(execFile);

/**
 * Shared memory is the program's: memory sized by a launch is declared after the kernel, memory sized by a kernel in
 * place.
 */
const hostSource = (source: string): string =>
  source.replaceAll('extern __shared__', 'extern').replaceAll('__shared__', 'static');
function sharedMemory(sources: readonly string[]): string {
  const [, type, name] = /extern __shared__ ([\w ]+) (\w+)\[\];/.exec(sources.join('\n')) ?? [
    '',
    'char',
    'nobodys',
  ];
  return `${type} ${name}[SHARED_BYTES / sizeof(${type}) + 1];\n#define SHARED ${name}`;
}

/** Compiles one entry of a request; close it afterwards. */
export const prepareOnHost = (request: KernelRequest, entry: string, sharedBytes = 0): Promise<HostKernel> =>
  preparing(async (closers) => {
    if (hostCompiler === undefined) throw new Error('no compiler of C++20 was found');
    const folder = await mkdtemp(join(tmpdir(), 'corella-on-host-'));
    closers.keep({ close: () => rm(folder, { recursive: true, force: true }) });
    const write = (name: string, what: string | Uint8Array): Promise<void> =>
      writeFile(join(folder, name), what);
    const all = { ...request.headers, [request.name]: request.source };
    for (const [name, text] of Object.entries(all)) await write(name, hostSource(text));
    for (const name of ['on-host.cuh', 'on-host-main.cuh'])
      await write(name, readSource(import.meta.url, name));
    const defines = { ...request.defines, ENTRY: entry, SHARED_BYTES: Math.max(16, sharedBytes) };
    await write(
      'program.cpp',
      [
        // The program's own headers first: macros of kernels have short names.
        '#include <stdexcept>',
        '#include "on-host.cuh"',
        ...Object.entries(defines).map(([name, value]) => `#define ${name} ${value}`),
        `#include "${request.name}"`,
        sharedMemory(Object.values(all)),
        '#include "on-host-main.cuh"',
        '',
      ].join('\n'),
    );
    const program = join(folder, 'program');
    const flags = ['-std=c++20', '-O1', '-w', '-fpermissive', '-ffp-contract=off', '-pthread', `-I${folder}`];
    await run(hostCompiler, [...flags, join(folder, 'program.cpp'), '-o', program]);
    return {
      run: async ({ grid, threads }, given) => {
        const memories: ArrayBufferView[] = [];
        const pointers: string[] = [];
        const pointTo = (argument: number, at: number, memory: ArrayBufferView): void => {
          pointers.push(`${argument} ${at} ${memories.length}`);
          memories.push(memory);
        };
        for (const [n, one] of given.entries()) {
          let bytes = new Uint8Array(8);
          if ('i32' in one) bytes = bytesOf(Int32Array.of(one.i32)).slice();
          else if ('i64' in one) bytes = bytesOf(BigInt64Array.of(BigInt(one.i64))).slice();
          else if ('memory' in one) pointTo(n, 0, one.memory);
          else {
            bytes = one.bytes.slice();
            for (const { at, memory } of one.pointers) pointTo(n, at, memory);
          }
          await write(`argument.${n}`, bytes);
        }
        for (const [n, memory] of memories.entries()) await write(`buffer.${n}`, bytesOf(memory));
        await write('pointers', `${pointers.join('\n')}\n`);
        await write('launch', `${grid[0]} ${grid[1]} ${threads} ${given.length} ${memories.length}\n`);
        await run(program, [folder]);
        for (const [n, memory] of memories.entries())
          bytesOf(memory).set(await readFile(join(folder, `buffer.${n}`)));
      },
      close: () => closers.close(),
    };
  });
