// Instruction-set levels that a library for this processor needs; all of them if the processor cannot be queried.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { levelsOf } from './targets.js';

const avx2 = ['avx2', 'fma', 'f16c', 'bmi2'];
const avx512 = [...avx2, 'avx512f', 'avx512dq', 'avx512bw', 'avx512vl', 'avx512_vnni'];
/**
 * Names in /proc/cpuinfo, for each level; processor.cpp queries the processor itself for the same.
 * @type {Record<string, Record<string, string[]> | undefined>}
 */
const featuresOf = {
  x64: { portable: [], avx2, avx512, amx: [...avx512, 'amx_tile', 'amx_int8'] },
  arm64: { portable: [], dotprod: ['asimddp'], i8mm: ['asimddp', 'i8mm'] },
};

/**
 * The levels that a processor with these features has, lowest first.
 * @param {string} architecture
 * @param {ReadonlySet<string>} features
 */
export const levelsWith = (architecture, features) =>
  Object.entries(featuresOf[architecture] ?? { portable: [] })
    .filter(([, needed]) => needed.every((feature) => features.has(feature)))
    .map(([level]) => level);

/**
 * The levels of a processor that its library uses. On x64 every source has a version for the widest vectors; the
 * narrower ones are never called. On arm64 many sources have only the portable version.
 * @param {string} architecture
 * @param {readonly string[]} present
 */
export const usedOf = (architecture, present) =>
  architecture === 'x64'
    ? present.filter((level) => level === 'amx' || level === present.filter((one) => one !== 'amx').at(-1))
    : [...present];

/** @returns {ReadonlySet<string> | undefined} */
function featuresHere() {
  if (platform() === 'darwin' && arch() === 'arm64') {
    /** @param {string} name */
    const has = (name) =>
      spawnSync('sysctl', ['-n', `hw.optional.arm.FEAT_${name}`], { encoding: 'utf8' }).stdout.trim() === '1';
    return new Set([...(has('DotProd') ? ['asimddp'] : []), ...(has('I8MM') ? ['i8mm'] : [])]);
  }
  try {
    const line = /^(?:flags|Features)\s*:\s*(.+)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1];
    return line === undefined ? undefined : new Set(line.split(/\s+/));
  } catch {
    return undefined;
  }
}

/** The levels of a library for this processor. */
export function ownLevels() {
  const features = featuresHere();
  return features === undefined
    ? Object.keys(levelsOf[arch()] ?? { portable: [] })
    : usedOf(arch(), levelsWith(arch(), features));
}
