/** Filterbanks: power over time and frequency of one beam; SIGPROC (.fil) here, PSRFITS (.sf) in psrfits.ts. */
import { stat, truncate } from 'node:fs/promises';
import { refuse } from '../../core/errors.js';
import { openInput } from '../io/input.js';
import { openOutput } from '../io/output.js';
import type { Filterbank, FilterbankWriter } from './file.js';
import { decodeHeader, encodeHeader, isFilterbank, type FilterbankHeader } from './header.js';
import { createPsrfits, isPsrfits, repairPsrfits, openPsrfits } from './psrfits.js';

/** No program writes longer headers. */
const MOST_HEADER_BYTES = 2 ** 16;

export const sizeOfValue = ({ channels, planes, bits }: FilterbankHeader): number =>
  (channels * planes * bits) / 8;

/** Whether a file is a filterbank, from its first bytes. */
export async function holdsFilterbank(path: string): Promise<boolean> {
  const file = await openInput(path).catch(() => undefined);
  if (!file) return false;
  try {
    const head = new Uint8Array(Math.min(2880, file.sizeBytes));
    await file.readExactly(head, 0);
    return isFilterbank(head) || isPsrfits(head);
  } finally {
    await file.close();
  }
}

export async function openFilterbank(path: string): Promise<Filterbank> {
  const file = await openInput(path);
  try {
    const head = new Uint8Array(Math.min(MOST_HEADER_BYTES, file.sizeBytes));
    await file.readExactly(head, 0);
    if (isPsrfits(head.subarray(0, 2880))) {
      await file.close();
      return await openPsrfits(path);
    }
    const { header, headerBytes, isSigned, keywords } = decodeHeader(path, head);
    const eachBytes = sizeOfValue(header);
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
        if (!(first >= 0 && count >= 0 && first + count <= values))
          refuse(
            path,
            `values ${first} to ${first + count} of ${values} were asked for`,
            'ask for what is there',
          );
        const bytes = new Uint8Array(count * eachBytes);
        await file.readExactly(bytes, headerBytes + first * eachBytes);
        return unpacked(bytes, header, isSigned);
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

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
  if (/\.sf$/i.test(path)) return createPsrfits(path, header);
  const kind = { 32: Float32Array, 16: Uint16Array, 8: Uint8Array }[header.bits as 8 | 16 | 32] as
    typeof Float32Array | typeof Uint16Array | typeof Uint8Array | undefined;
  if (!kind) refuse(path, `values of ${header.bits} bits are not written`, 'take 8, 16 or 32');
  const file = await openOutput(path);
  let values = 0;
  await file.write(encodeHeader(header));
  return {
    append: async (given) => {
      if (!(given instanceof kind) || given.length % (header.channels * header.planes) !== 0)
        refuse(
          path,
          `${given.length} values as ${given.constructor.name}`,
          `give [t][if][c] as ${kind.name}`,
        );
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
