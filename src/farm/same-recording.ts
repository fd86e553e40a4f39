/**
 * Checks that a worker has the recording that was submitted: another one of the same name would give plausible
 * nonsense. File dates differ between copies, so a few pieces of each file are compared. Changes in place between those
 * pieces that keep the size are not detected.
 */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { refuse } from '../core/errors.js';
import { formatInstant } from '../core/instant.js';
import { openInput, type OpenedFile } from '../formats/index.js';
import type { SubmittedRecording } from './job.js';

type Facts = SubmittedRecording['facts'];
/** A file of the recording: its size, and a checksum of pieces. */
export type FileMark = SubmittedRecording['files'][number];

const PIECE_BYTES = 16 * 1024;
/** Spread evenly from a file's first byte to its last; smaller files are read whole. */
const PIECES = 16;

const FIX = 'give every machine the same file, and submit again where it has changed';

export async function marksOf(paths: readonly string[]): Promise<FileMark[]> {
  const marks: FileMark[] = [];
  for (const path of paths) {
    const file = await openInput(path);
    try {
      const { sizeBytes } = file;
      const hash = createHash('sha256');
      const isSmall = sizeBytes <= PIECES * PIECE_BYTES;
      const piece = new Uint8Array(isSmall ? sizeBytes : PIECE_BYTES);
      for (let n = 0; n < (isSmall ? 1 : PIECES); n++) {
        await file.readExactly(piece, Math.floor((n * (sizeBytes - piece.length)) / (PIECES - 1)));
        hash.update(piece);
      }
      marks.push({ name: basename(path), sizeBytes, sha256: hash.digest('hex') });
    } finally {
      await file.close();
    }
  }
  return marks;
}

/** Refuses files that have changed, naming the first. */
export async function checkMarks(paths: readonly string[], were: readonly FileMark[]): Promise<void> {
  const are = await marksOf(paths);
  for (let n = 0; n < Math.max(are.length, were.length); n++) {
    const [is, was] = [are.at(n), were.at(n)];
    const where = is ? paths[n] : (was?.name ?? '');
    if (!is || is.name !== was?.name)
      refuse(
        where,
        `is not of the recording that was submitted, whose files are ${were.map(({ name }) => name).join(', ')}`,
        FIX,
      );
    if (is.sizeBytes !== was.sizeBytes)
      refuse(where, `has ${is.sizeBytes} bytes, and had ${was.sizeBytes} when it was submitted`, FIX);
    if (is.sha256 !== was.sha256) refuse(where, 'holds something else than when it was submitted', FIX);
  }
}

export const factsOf = ({ kind, type, inputs, samples, start }: Facts): Facts => ({
  kind,
  type,
  inputs,
  samples,
  start,
});

/** Refuses a recording whose header differs, naming the difference. */
export function checkFacts(path: string, found: OpenedFile, facts: Facts): void {
  if (found.kind === 'visibilities')
    refuse(path, 'is not the recording that was submitted: it holds visibilities', FIX);
  const differs = (['kind', 'type', 'inputs', 'samples'] as const)
    .filter((what) => found[what] !== facts[what])
    .map((what) => `${what} ${found[what]}, not ${facts[what]}`);
  const [is, was] = [found.start, facts.start];
  if (is.unixSeconds !== was.unixSeconds || is.fraction !== was.fraction)
    differs.push(`start ${formatInstant(is, 9)}, not ${formatInstant(was, 9)}`);
  if (differs.length > 0) refuse(path, `is not the recording that was submitted: ${differs.join('; ')}`, FIX);
}
