/** Filterbanks: power over time and frequency of one beam; SIGPROC (.fil) here, PSRFITS (.sf) in psrfits.ts. */
import { stat, truncate } from 'node:fs/promises';
import { refuseLeapSecond } from '../../core/instant.js';
import { refuse } from '../../core/errors.js';
import { FITS_BLOCK_BYTES } from '../fits/fits.js';
import { headOf, openInput, openOn } from '../io/input.js';
import { openOutput } from '../io/output.js';
import { arrayOf, checkRange, checkValues, type Filterbank, type FilterbankWriter } from './file.js';
import { decodeHeader, encodeHeader, isFilterbank, type FilterbankHeader } from './header.js';
import { createPsrfits, isPsrfits, repairPsrfits, openPsrfits } from './psrfits.js';

/** No program writes longer headers. */
const MOST_HEADER_BYTES = 2 ** 16;

/** Whether a file is a filterbank, from its first bytes. */
export async function holdsFilterbank(path: string): Promise<boolean> {
  const file = await openInput(path).catch(() => undefined);
  if (!file) return false;
  try {
    const head = await headOf(file, FITS_BLOCK_BYTES);
    return isFilterbank(head) || isPsrfits(head);
  } finally {
    await file.close();
  }
}

export const openFilterbank = (path: string): Promise<Filterbank> =>
  openOn(path, async (file) => {
    const head = await headOf(file, MOST_HEADER_BYTES);
    if (isPsrfits(head.subarray(0, FITS_BLOCK_BYTES))) return openPsrfits(file);
    const { header, headerBytes, isSigned, keywords } = decodeHeader(path, head);
    const eachBytes = (header.channels * header.planes * header.bits) / 8;
    if (!Number.isInteger(eachBytes))
      refuse(
        path,
        `${header.channels} channels of ${header.bits} bits are no whole bytes`,
        'check its header',
      );
    const held = file.sizeBytes - headerBytes;
    const values = Math.floor(held / eachBytes);
    return {
      path,
      format: 'sigproc',
      header,
      keywords,
      values,
      leftOverBytes: held - values * eachBytes,
      read: async (first, count) => {
        checkRange(path, values, first, count);
        const bytes = new Uint8Array(count * eachBytes);
        await file.readExactly(bytes, headerBytes + first * eachBytes);
        return unpacked(bytes, header, isSigned);
      },
      close: () => file.close(),
    };
  });

function unpacked(bytes: Uint8Array, { bits }: FilterbankHeader, isSigned: boolean): Float32Array {
  if (bits === 32) return new Float32Array(bytes.buffer, 0, bytes.length / 4);
  if (bits === 16) return Float32Array.from(new Uint16Array(bytes.buffer, 0, bytes.length / 2));
  if (bits === 8) return Float32Array.from(isSigned ? new Int8Array(bytes.buffer) : bytes);
  const [each, mask] = [8 / bits, 2 ** bits - 1];
  return Float32Array.from(
    { length: bytes.length * each },
    (_, n) => (bytes[Math.floor(n / each)] >>> (bits * (n % each))) & mask,
  );
}

/** The file is complete after each append; if the process is killed, `repairFilterbank` repairs it. */
export async function createFilterbank(path: string, header: FilterbankHeader): Promise<FilterbankWriter> {
  refuseLeapSecond(path, header.start);
  if (/\.sf$/i.test(path)) return createPsrfits(path, header);
  const kind = arrayOf(path, header);
  const file = await openOutput(path);
  let values = 0;
  await file.write(encodeHeader(header));
  return {
    append: async (given) => {
      checkValues(path, header, kind, given);
      await file.write(new Uint8Array(given.buffer, given.byteOffset, given.byteLength));
      if (values === 0) file.worthKeeping();
      values += given.length / (header.channels * header.planes);
    },
    finish: () => file.finish(),
    keep: async () => {
      if (values === 0) await file.abandon();
      else await file.finish();
      return values;
    },
    abandon: () => file.abandon(),
  };
}

/** Truncates a file of ours after its last whole value; returns the number of values. */
export async function repairFilterbank(path: string): Promise<number> {
  const file = await openFilterbank(path);
  const { values, leftOverBytes, format } = file;
  await file.close();
  if (format === 'psrfits') return repairPsrfits(path);
  if (leftOverBytes > 0) await truncate(path, (await stat(path)).size - leftOverBytes);
  return values;
}
