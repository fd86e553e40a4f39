/** Digests of a file's data that are equal if `compareFiles` finds no difference between files of one format. */
import { createHash, type Hash } from 'node:crypto';
import { closingAfter } from '../../core/closing.js';
import { cardParts, headerFacts, type ContentKind, type Part } from './content.js';
import { openContent } from './open.js';

interface FileDigest {
  readonly kind: ContentKind;
  readonly format: string;
  /** By part: 'header', 'values', 'flags', … */
  readonly parts: Readonly<Record<string, string>>;
}

export const digestFile = (path: string): Promise<FileDigest> =>
  closingAfter(async (closers) => {
    const content = closers.keep(await openContent(path));
    const hashes = new Map<string, Hash>();
    const hashOf = (name: string): Hash => {
      const known = hashes.get(name) ?? createHash('sha256');
      hashes.set(name, known);
      return known;
    };
    const facts = [...headerFacts(content, 'with cards')].sort(([x], [y]) => (x < y ? -1 : 1));
    hashOf('header').update(facts.map(([name, value]) => `${name}=${typeof value}:${value}\n`).join(''));
    const add = (at: string, part: Part): void => {
      const hash = hashOf(part.name);
      hash.update(`${at} ${part.axes.map(({ size }) => size).join(' ')}\n`);
      // One representation of zero and of NaN, in little-endian doubles.
      hash.update(
        new Uint8Array(Float64Array.from(part.numbers, (x) => (Number.isNaN(x) ? NaN : x + 0)).buffer),
      );
    };
    for (const part of cardParts(content.cards)) add('header', part);
    for await (const { at, parts } of content.pieces()) for (const part of parts) add(at, part);
    return {
      kind: content.kind,
      format: content.format,
      parts: Object.fromEntries([...hashes].map(([name, hash]) => [name, hash.digest('hex')])),
    };
  });
