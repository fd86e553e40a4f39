/** Looks at every sample that a recording yields, so that nothing unfit walks on into the kernels. */
import { createHash } from 'node:crypto';
import type { SpectraElements, SpectraType } from '../../../core/axes.js';
import { refuse } from '../../../core/errors.js';
import type { InputFile } from '../../io/input.js';
import type { SigmfMeta } from './meta.js';

/** Kernels count on −127…127 and −7…7: one −128 would break their exact sums without a sound. */
export function checkRange(
  elements: SpectraElements,
  type: SpectraType,
  path: string,
  shape: { readonly samples: number; readonly firstSample: number },
): void {
  if (elements instanceof Float32Array) return;
  const lowest = type === 'ci8' ? '−128' : '−8';
  // The engine's own search: every sample of a recording passes here.
  if (!(type === 'ci8' ? elements.includes(-128) : hasLowestNibble(elements))) return;
  refuse(
    path,
    `holds ${lowest} in the spectra from sample ${shape.firstSample} on, where ${type} ends one step above`,
    'requantise the recording to a symmetric range',
  );
}

function hasLowestNibble(elements: SpectraElements): boolean {
  for (const value of elements) {
    if ((value & 0xf0) === 0x80 || (value & 15) === 8) return true;
  }
  return false;
}

export async function verifyChecksum(file: InputFile, meta: SigmfMeta): Promise<void> {
  const expected = meta.global['core:sha512'];
  if (expected === undefined) return;
  const hash = createHash('sha512');
  const chunk = new Uint8Array(2 ** 20);
  for (let at = 0; at < file.sizeBytes; at += chunk.length) {
    const part = chunk.subarray(0, Math.min(chunk.length, file.sizeBytes - at));
    await file.readExactly(part, at);
    hash.update(part);
  }
  if (hash.digest('hex') !== expected.toLowerCase()) {
    refuse(
      file.path,
      'does not match core:sha512 in its metadata',
      'the data was changed or damaged: copy the pair again',
    );
  }
}
