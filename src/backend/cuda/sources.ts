/** Kernel sources are shipped beside the compiled code that plans them (scripts/copy-assets.js). */
import { readFileSync } from 'node:fs';
import { wgmmaHeader } from './wgmma.js';

export const readSource = (besideUrl: string, name: string): string =>
  readFileSync(new URL(name, besideUrl), 'utf8');

/** Headers that all kernels may include. */
const common = {
  'integers.cuh': () => readSource(import.meta.url, 'integers.cuh'),
  'baselines.cuh': () => readSource(import.meta.url, 'baselines.cuh'),
  'powers.cuh': () => readSource(import.meta.url, 'powers.cuh'),
  'hopper.cuh': () => readSource(import.meta.url, 'hopper.cuh'),
  'shared.cuh': () => readSource(import.meta.url, 'shared.cuh'),
  'wgmma.cuh': () => wgmmaHeader(),
};
export const commonHeaders = (...names: (keyof typeof common)[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, common[name]()]));

/** A kernel's source beside a module, with headers that all kernels may include and those beside it. */
export const kernelSource = (besideUrl: string, name: string, ...headers: readonly string[]) => ({
  name,
  source: readSource(besideUrl, name),
  headers: Object.fromEntries(
    ['integers.cuh', ...headers].map((header) => [
      header,
      header in common ? common[header as keyof typeof common]() : readSource(besideUrl, header),
    ]),
  ),
});
