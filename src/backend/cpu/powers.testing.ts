/** Reads the sums of powers beside a block (spectra_powers.h), for tests. */
import assert from 'node:assert/strict';
import koffi from 'koffi';
import type { SpectraCAT, SpectraType } from '../../core/axes.js';
import { highNibble, lowNibble } from '../../core/nibbles.js';
import type { NativeMemory } from './context.js';
import type { CpuSpectraBlock } from './spectra.js';

/** For use in this file while the block is open. */
const bytesOf = ({ address, sizeBytes }: NativeMemory): ArrayBuffer => koffi.view(address, sizeBytes);

/** |x|² of value n. */
export const powerOf = {
  ci8: (spectra, n) => spectra[2 * n] ** 2 + spectra[2 * n + 1] ** 2,
  ci4: (spectra, n) => highNibble(spectra[n]) ** 2 + lowNibble(spectra[n]) ** 2,
  cf32: (spectra, n) => spectra[2 * n] ** 2 + spectra[2 * n + 1] ** 2,
} satisfies Record<SpectraType, (spectra: SpectraCAT, n: number) => number>;

/** S1 and S2 over spectra 16 g … 16 g + 15 of a block. */
async function sumsOf(
  block: CpuSpectraBlock,
): Promise<(c: number, a: number, g: number) => [number, number]> {
  const spectra = await block.read();
  const { inputs, type } = block.shape;
  return (c, a, g) => {
    let [s1, s2] = [0, 0];
    for (let t = 16 * g; t < Math.min(16 * g + 16, block.samples); t++) {
      const power = powerOf[type](spectra, (c * inputs + a) * block.samples + t);
      s1 += power;
      s2 += power * power;
    }
    return [s1, s2];
  };
}

/** Calls back with the place of S1 among the words; S2 is sixteen further on. */
function eachCell(
  { shape, samples }: CpuSpectraBlock,
  visit: (c: number, a: number, g: number, at: number) => void,
): void {
  const { channels, inputs, capacity } = shape;
  const groups = 4 * Math.ceil(capacity / 64) + 1;
  const quads = Math.ceil(channels / 4);
  for (let a = 0; a < inputs; a++)
    for (let c = 0; c < channels; c++)
      for (let g = 0; 16 * g < samples; g++) {
        const cell = (Math.floor(a / 16) * quads + Math.floor(c / 4)) * groups + g;
        visit(c, a, g, cell * 128 + (c % 4) * 32 + (a % 16));
      }
}

/** Writes garbage there, so that unwritten values show. */
export function poisonPowers({ powersBuffer }: CpuSpectraBlock): void {
  if (powersBuffer) new Uint8Array(bytesOf(powersBuffer)).fill(0x55);
}

/** Integers bit for bit, floats to a millionth. Returns whether there were any. */
export async function assertPowers(block: CpuSpectraBlock): Promise<boolean> {
  if (!block.powers) return false;
  const sums = await sumsOf(block);
  const { type } = block.shape;
  const bytes = bytesOf(block.powers);
  const words = type === 'cf32' ? new Float32Array(bytes) : new Uint32Array(bytes);
  eachCell(block, (c, a, g, at) => {
    const made = [words[at], words[at + 16]];
    const wanted = sums(c, a, g);
    const isRight = made.every((sum, n) =>
      type === 'cf32' ? Math.abs(sum - wanted[n]) <= 1e-6 * wanted[n] : sum === wanted[n] % 2 ** 32,
    );
    assert.ok(
      isRight,
      `channel ${c}, input ${a}, group ${g}: ${made.join()} where there are ${wanted.join()}`,
    );
  });
  return true;
}

/** Like a channeliser's; the block must have only values that one can write. */
export async function writePowers(block: CpuSpectraBlock): Promise<void> {
  assert.ok(block.powersBuffer);
  const sums = await sumsOf(block);
  const { type } = block.shape;
  poisonPowers(block);
  const bytes = bytesOf(block.powersBuffer);
  const words = type === 'cf32' ? new Float32Array(bytes) : new Uint32Array(bytes);
  eachCell(block, (c, a, g, at) => {
    [words[at], words[at + 16]] = sums(c, a, g).map((sum) => (type === 'cf32' ? sum : sum % 2 ** 32));
  });
  block.fill(block.samples, block.gaps, { hasPowers: true });
}
