/**
 * Which options a file is read with. A format lists, for each kind of file, the options it reads; any other is refused,
 * and the commands' help comes from the same lists.
 */
import { refuse } from '../core/errors.js';
import type { FileKind, Format, OpenOptions, ReadingOption } from './format.js';

/** The observation fields for each option. */
export const readingFields = {
  centreFrequencyHz: 'source.frequency',
  sampleRateHz: 'source.rate',
  inputs: 'source.inputs',
  polarisations: 'source.polarisations',
  bits: 'source.sample-bits',
  type: 'source.sample-type',
  skipBytes: 'source.skip',
  sideband: 'source.sideband',
  start: 'source.start',
  near: 'source.near',
  tuning: 'source.tuning',
  metafits: 'source.metafits',
  cables: 'source.remove-cables',
  storedPair: 'source.stored-pair',
  secondsOfThread: 'source.seconds-of',
  column: 'source.column',
  uvw: 'source.uvw',
  target: 'source.target',
} as const satisfies Record<ReadingOption, string>;

const readingOptions = Object.keys(readingFields) as readonly ReadingOption[];

/** Kinds of file that read an option. */
const readersOf = (option: ReadingOption, kinds: readonly FileKind[]): readonly FileKind[] =>
  kinds.filter(({ reads }) => reads.includes(option));

export const kindsOf = (formats: readonly Format[]): readonly FileKind[] =>
  formats.flatMap(({ kinds }) => kinds);

/**
 * Refuses options that none of `these` kinds of file read, naming those of `all` that do. A format calls it again once
 * it has identified the kind of a file.
 */
export function refuseUnread(
  path: string,
  options: OpenOptions,
  these: readonly FileKind[],
  all: readonly FileKind[],
): void {
  for (const option of readingOptions) {
    if (options[option] === undefined || readersOf(option, these).length > 0) continue;
    const readers = readersOf(option, all).map(({ title }) => title);
    refuse(
      path,
      `${readingFields[option]} means nothing for ${these.map(({ title }) => title).join(', ')}`,
      `leave it out: it is for ${readers.join(', ')}`,
    );
  }
}
