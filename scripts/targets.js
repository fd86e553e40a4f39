// The machines that a library or a bundle can be made for, on any machine.
import { arch, platform } from 'node:os';

/** This machine, in the notation of npm and Node. */
export const here = `${platform()}-${arch()}`;

/**
 * @typedef {{ platform: string, architecture: string, machine: string, prefix: string, compilerPackage: string,
 *   emulator: string, sysroot: string }} Target
 */

/**
 * For each machine that a bundle can be made for: the output of `uname -m`, the prefix of Debian's cross compiler and
 * its package, and the emulator that runs its programs elsewhere.
 * @type {Record<string, Target | undefined>}
 */
export const targets = {
  'linux-x64': {
    platform: 'linux',
    architecture: 'x64',
    machine: 'x86_64',
    prefix: 'x86_64-linux-gnu-',
    compilerPackage: 'g++-x86-64-linux-gnu',
    emulator: 'qemu-x86_64',
    sysroot: '/usr/x86_64-linux-gnu',
  },
  'linux-arm64': {
    platform: 'linux',
    architecture: 'arm64',
    machine: 'aarch64',
    prefix: 'aarch64-linux-gnu-',
    compilerPackage: 'g++-aarch64-linux-gnu',
    emulator: 'qemu-aarch64',
    sysroot: '/usr/aarch64-linux-gnu',
  },
};

const avx2 = ['-mavx2', '-mfma', '-mf16c', '-mbmi2'];
const avx512 = [...avx2, '-mavx512f', '-mavx512dq', '-mavx512bw', '-mavx512vl', '-mavx512vnni'];
/**
 * Features that each level of an architecture may use; a processor has a level only with all of them (processor.cpp).
 * @type {Record<string, Record<string, string[]> | undefined>}
 */
export const levelsOf = {
  x64: { portable: [], avx2, avx512, amx: [...avx512, '-mamx-tile', '-mamx-int8'] },
  arm64: {
    portable: [],
    dotprod: ['-march=armv8.2-a+dotprod'],
    i8mm: ['-march=armv8.2-a+dotprod+i8mm'],
  },
};
