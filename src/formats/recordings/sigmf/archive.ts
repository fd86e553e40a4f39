/** SigMF archives: an uncompressed tar that holds the metadata and samples of one recording. */
import { posix } from 'node:path';
import { refuse } from '../../../core/errors.js';
import type { InputFile } from '../../io/input.js';

const BLOCK_BYTES = 512;
/** Enough to recognise a tar. */
export const ARCHIVE_HEAD_BYTES = BLOCK_BYTES;
/** No metadata or long name is larger. */
const MOST_TEXT_BYTES = 2 ** 28;

interface Member {
  readonly name: string;
  readonly at: number;
  readonly sizeBytes: number;
}

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
/** A header field ends at its first null byte. */
const fieldOf = (header: Uint8Array, at: number, length: number): string =>
  textOf(header.subarray(at, at + length)).replace(/\0[^]*$/, '');

export const isTar = (head: Uint8Array): boolean => fieldOf(head, 257, 5) === 'ustar';

/** Whether a tar is a SigMF archive, from its first member names or its own name. */
export const isSigmfArchive = (path: string, head: Uint8Array): boolean =>
  isTar(head) && (/\.sigmf$/i.test(path) || /\.sigmf-(meta|data)/i.test(textOf(head)));

/** Octal digits, or a binary number after a set first bit. */
function sizeOf(header: Uint8Array): number {
  if (header[124] < 0x80) return Number.parseInt(fieldOf(header, 124, 12).trim() || '0', 8);
  return header.subarray(125, 136).reduce((sum, byte) => 256 * sum + byte, 0);
}

/** The sum of a header's bytes, with the checksum field as spaces. */
const checksumOf = (header: Uint8Array): number =>
  header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);

async function readText(file: InputFile, { at, sizeBytes, name }: Member): Promise<string> {
  if (sizeBytes > MOST_TEXT_BYTES) refuse(file.path, `${name} holds ${sizeBytes} bytes: too much for a text`);
  const bytes = new Uint8Array(sizeBytes);
  await file.readExactly(bytes, at);
  return textOf(bytes);
}

/** Its plain files, with long names (GNU's and POSIX's). */
async function membersOf(file: InputFile): Promise<Member[]> {
  const members: Member[] = [];
  const header = new Uint8Array(BLOCK_BYTES);
  let long: { name?: string; sizeBytes?: number } = {};
  for (let at = 0; at + BLOCK_BYTES <= file.sizeBytes;) {
    await file.readExactly(header, at);
    if (header.every((byte) => byte === 0)) break;
    if (checksumOf(header) !== Number.parseInt(fieldOf(header, 148, 8), 8))
      refuse(file.path, `the header at byte ${at} of the archive is damaged`, 'copy it again');
    const kind = fieldOf(header, 156, 1);
    const prefix = header[262] === 0 ? fieldOf(header, 345, 155) : '';
    const name = long.name ?? posix.join(prefix, fieldOf(header, 0, 100));
    const sizeBytes = long.sizeBytes ?? sizeOf(header);
    const member = { name, at: at + BLOCK_BYTES, sizeBytes };
    if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0 || member.at + sizeBytes > file.sizeBytes)
      refuse(file.path, `${name} ends beyond the archive`, 'it was cut short: copy it again');
    if (kind === 'L') long = { name: (await readText(file, member)).replace(/\0[^]*$/, '') };
    else if (kind === 'x') {
      const records = await readText(file, member);
      const size = /^\d+ size=(\d+)$/m.exec(records)?.[1];
      const path = /^\d+ path=(.*)$/m.exec(records)?.[1];
      long = {
        name: path,
        ...(size !== undefined && { sizeBytes: Number(size) }),
      };
    } else if (kind !== 'g') {
      long = {};
      if (kind === '' || kind === '0') members.push(member);
    }
    at = member.at + BLOCK_BYTES * Math.ceil(sizeBytes / BLOCK_BYTES);
  }
  return members;
}

/** The metadata of an archive's only recording, and its samples as a separate file, by name. */
export async function openArchive(file: InputFile): Promise<{
  readonly meta: unknown;
  readonly data: (name: string | undefined) => InputFile;
}> {
  const members = await membersOf(file);
  const metas = members.filter(({ name }) => /\.sigmf-meta$/i.test(name));
  if (metas.length !== 1)
    refuse(
      file.path,
      metas.length === 0
        ? 'is an archive without a .sigmf-meta'
        : `holds ${metas.length} recordings: ${metas.map(({ name }) => name).join(', ')}`,
      'unpack it (tar xf), and name what is in it',
    );
  const [found] = metas;
  const json = await readText(file, found);
  let meta: unknown;
  try {
    meta = JSON.parse(json);
  } catch {
    refuse(`${file.path}, ${found.name}`, 'is no JSON', 'copy it again');
  }
  return {
    meta,
    data: (named) => {
      const name = posix.join(
        posix.dirname(found.name),
        named ?? posix.basename(found.name).replace(/\.sigmf-meta$/i, '.sigmf-data'),
      );
      const member =
        members.find((one) => posix.normalize(one.name) === name) ??
        refuse(file.path, `is an archive without ${name}`, 'it is damaged: copy it again');
      return {
        path: file.path,
        sizeBytes: member.sizeBytes,
        readExactly: (target, position) => {
          if (position + target.length > member.sizeBytes)
            refuse(file.path, `${name} ends at byte ${member.sizeBytes}`, 'it was cut short: copy it again');
          return file.readExactly(target, member.at + position);
        },
        close: () => file.close(),
      };
    },
  };
}
