/** Every format we know: one line each. The first that recognises a file opens it. */
import { extname } from 'node:path';
import { refuse } from '../core/errors.js';
import type { Format, OpenedFile, VisibilityHeader, VisibilityWriter } from './format.js';
import { openInput } from './input.js';
import { sigmf } from './sigmf.js';
import { uvfits } from './uvfits.js';

export const formats: readonly Format[] = [
  sigmf, // recordings of voltages and of channelised data
  uvfits, // visibilities
];

export type VisibilityFormat = Format & {
  createVisibilities(path: string, header: VisibilityHeader): Promise<VisibilityWriter>;
};

const HEAD_BYTES = 4096;
const listed = (some: readonly Format[]): string =>
  some.map((format) => `${format.title} (${format.extensions.join(', ')})`).join('; ');
const hasExtension = (format: Format, path: string): boolean =>
  format.extensions.some((extension) => path.toLowerCase().endsWith(extension));

async function readHead(path: string): Promise<Uint8Array> {
  const file = await openInput(path);
  try {
    if (file.sizeBytes === 0) refuse(path, 'the file is empty', 'copy or record it again');
    const head = new Uint8Array(Math.min(HEAD_BYTES, file.sizeBytes));
    await file.readExactly(head, 0);
    return head;
  } finally {
    await file.close();
  }
}

/** Recognised by content first; close what this returns. */
export async function openFile(path: string, known: readonly Format[] = formats): Promise<OpenedFile> {
  const head = await readHead(path);
  const format = known.find((candidate) => candidate.recognise(path, head));
  if (format) return format.open(path);
  const named = known.find((candidate) => hasExtension(candidate, path));
  if (named) {
    refuse(
      path,
      `is named like ${named.title} but does not hold it`,
      'it is damaged or misnamed: check where it came from',
    );
  }
  return refuse(path, 'is in no format known here', `known are ${listed(known)}`);
}

/** The format that a file's name asks for when visibilities are written. */
export function visibilityFormatFor(path: string, known: readonly Format[] = formats): VisibilityFormat {
  const writers = known.filter(
    (format): format is VisibilityFormat => format.createVisibilities !== undefined,
  );
  const format = writers.find((candidate) => hasExtension(candidate, path));
  if (format) return format;
  const extension = extname(path);
  return refuse(
    path,
    extension === ''
      ? 'the name has no extension to choose a format by'
      : `cannot write '${extension}' files`,
    `visibilities are written as ${listed(writers)}`,
  );
}
