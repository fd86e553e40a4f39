/** Lets a reference kernel serve blocks of native memory, by way of a canonical copy. */
import type { SpectraBlock } from '../../core/blocks.js';
import { allocateHostSpectra, type HostSpectraBlock } from '../host-spectra.js';
import { cpuSpectra } from './spectra.js';

/** The same spectra and gaps in a host block. */
export async function copyToHost(where: string, block: SpectraBlock): Promise<HostSpectraBlock> {
  const native = cpuSpectra(where, block);
  const host = allocateHostSpectra({ ...native.shape, capacity: native.samples });
  await host.write(await native.read(), native.samples, native.gaps);
  return host;
}
