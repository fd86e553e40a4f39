/** Blocks to time kernels with: noise, since zeros run faster than real data. */
import type { Backend } from '../backend/backend.js';
import { allocateSpectra, allocateVoltages, type SpectraElements, type SpectraType } from '../core/axes.js';
import type { SpectraBlock, VoltageBlock } from '../core/blocks.js';
import { preparing } from '../core/closing.js';
import { instant } from '../core/instant.js';
import { randomStream } from '../core/random.js';

/** Repeats a few thousand random bytes: the kernels' time does not depend on it. */
export function fillWithNoise(bytes: Int8Array | Uint8Array, most: number): void {
  const random = randomStream(1, 'noise to time with');
  const noise = Int8Array.from({ length: 8191 }, () => random.below(2 * most + 1) - most);
  for (let at = 0; at < bytes.length; at += noise.length) bytes.set(noise.subarray(0, bytes.length - at), at);
}

export function noiseSpectra(
  backend: Backend,
  shape: { readonly channels: number; readonly inputs: number; readonly samples: number },
  bits: 4 | 8,
): Promise<SpectraBlock> {
  const { channels, inputs, samples } = shape;
  const type = spectraType(bits);
  const spectra = allocateSpectra(type, channels, inputs, samples);
  fillSpectra(spectra);
  return preparing(async (closers) => {
    const block = closers.keep(backend.allocateSpectra({ type, channels, inputs, capacity: samples }));
    await block.write(spectra, samples);
    return block;
  });
}

/** Integers of either kind, over their full range. */
export function fillSpectra(spectra: SpectraElements): void {
  if (spectra instanceof Uint8Array) {
    const random = randomStream(2, 'packed noise');
    const nibble = (): number => (random.below(15) - 7) & 15;
    const noise = Uint8Array.from({ length: 8191 }, () => (nibble() << 4) | nibble());
    for (let at = 0; at < spectra.length; at += noise.length)
      spectra.set(noise.subarray(0, spectra.length - at), at);
  } else if (spectra instanceof Int8Array) fillWithNoise(spectra, 127);
}

export const spectraType = (bits: 4 | 8): SpectraType => (bits === 4 ? 'ci4' : 'ci8');

export function noiseVoltages(inputs: number, samples: number): VoltageBlock {
  const voltages = allocateVoltages('ci8', inputs, samples);
  if (voltages instanceof Int8Array) fillWithNoise(voltages, 60);
  return { type: 'ci8', inputs, samples, voltages, gaps: [], start: instant(0) };
}
