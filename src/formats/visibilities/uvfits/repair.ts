/**
 * Repairs a UVFITS file of ours whose writer was killed. Its header counts the groups of finished integrations; the
 * table that follows them is there or, if an integration was being written over it, a copy is further on.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { CorellaError, refuse } from '../../../core/errors.js';
import { FITS_BLOCK_BYTES, paddedBytes, readUnit } from '../../fits/fits.js';
import { withInput } from '../../io/input.js';
import { openUvfits } from './read.js';

const TABLE = 'XTENSION= ';

interface Groups {
  readonly count: number;
  readonly end: number;
}

const groupsOf = (path: string): Promise<Groups> =>
  withInput(path, async (file) => {
    // Killed during its very first write, it has no complete header yet.
    const primary = await readUnit(file, 0).catch((error: unknown) => {
      if (error instanceof CorellaError) return undefined;
      throw error;
    });
    if (!primary || primary.header.real('GCOUNT', 0) === 0) return { count: 0, end: 0 };
    const end = primary.dataStart + primary.dataBytes;
    if (end > file.sizeBytes) refuse(path, 'lost its end', 'copy it again');
    return { count: primary.header.real('GCOUNT', 0), end };
  });

/** The start of a complete table: after the groups, else the last one in the file. */
async function findTable(handle: FileHandle, groups: Groups): Promise<number | undefined> {
  const { size } = await handle.stat();
  const head = Buffer.alloc(TABLE.length);
  const isTable = async (at: number): Promise<boolean> => {
    const { bytesRead } = await handle.read(head, 0, head.length, at);
    return bytesRead === head.length && head.toString('latin1') === TABLE;
  };
  const wanted = paddedBytes(groups.end);
  if (await isTable(wanted)) return wanted;
  const last = Math.floor(size / FITS_BLOCK_BYTES) * FITS_BLOCK_BYTES - FITS_BLOCK_BYTES;
  for (let at = last; at > wanted; at -= FITS_BLOCK_BYTES) if (await isTable(at)) return at;
  return undefined;
}

export async function repairUvfits(path: string): Promise<number> {
  const groups = await groupsOf(path);
  if (groups.count === 0) return 0;
  const handle = await open(path, 'r+');
  try {
    const from = await findTable(handle, groups);
    if (from === undefined) refuse(path, 'has lost its table of antennas', 'copy it again');
    const tableBytes = await tableBytesAt(path, from);
    const table = Buffer.alloc(tableBytes);
    await handle.read(table, 0, tableBytes, from);
    const wanted = paddedBytes(groups.end);
    // The padding before it is rewritten too: unfinished groups may be there.
    const whole = Buffer.concat([new Uint8Array(wanted - groups.end), table]);
    await handle.write(whole, 0, whole.length, groups.end);
    await handle.truncate(wanted + tableBytes);
  } finally {
    await handle.close();
  }
  const file = await openUvfits(path);
  await file.close();
  return file.integrationCount;
}

const tableBytesAt = (path: string, at: number): Promise<number> =>
  withInput(path, async (file) => {
    const unit = await readUnit(file, at);
    const bytes = unit ? unit.dataStart - at + paddedBytes(unit.dataBytes) : 0;
    if (!unit || at + bytes > file.sizeBytes) refuse(path, 'has lost its table of antennas', 'copy it again');
    return bytes;
  });
