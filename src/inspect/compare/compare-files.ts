/** Compares the data of two files: every value, weight, flag, time, position and header card, except their history. */
import { closingAfter } from '../../core/closing.js';
import { realNumber, refuse } from '../../core/errors.js';
import {
  cardParts,
  headerFacts,
  type Content,
  type ContentKind,
  type Extent,
  type Part,
  type Piece,
} from './content.js';
import { openContent } from './open.js';
import { addPart, addScale, differenceOf, newTally, type Difference, type Tally } from './tally.js';

export interface CompareOptions {
  /** Largest allowed difference, as a fraction of the largest value (images: of the peak). 0 by default: equal. */
  readonly tolerance?: number;
}

export interface Comparison {
  readonly same: boolean;
  readonly kind: ContentKind;
  /** Formats of the first and the second file. */
  readonly formats: readonly [string, string];
  readonly tolerance: number;
  readonly differences: readonly Difference[];
  /** For every part, also equal ones: how many numbers, and their largest difference. */
  readonly parts: readonly {
    readonly what: string;
    readonly of: number;
    readonly largest: number;
    readonly relative: number;
  }[];
}

/** Refuses what cannot be compared: unreadable files, or files of different kinds. */
export const compareFiles = (
  a: string,
  b: string,
  { tolerance = 0 }: CompareOptions = {},
): Promise<Comparison> =>
  closingAfter(async (closers) => {
    realNumber('compare', 'tolerance', tolerance, 0, 1);
    const [ours, theirs] = [closers.keep(await openContent(a)), closers.keep(await openContent(b))];
    if (ours.kind !== theirs.kind)
      refuse(
        `${a} and ${b}`,
        `cannot be compared: ${words[ours.kind]} and ${words[theirs.kind]}`,
        'name two files of one kind',
      );
    const tallies = new Map<string, Tally>();
    const found: Difference[] = [...headerDifferences(ours, theirs)];
    // A tolerance is relative to the largest value, which is known only after reading all.
    if (tolerance > 0)
      for (const content of [ours, theirs])
        for await (const { parts } of piecesOf(content, extentOf(ours, theirs)))
          for (const part of parts) addScale(tallyOf(tallies, part.name), part);
    const missing = await comparePieces(ours, theirs, { tallies, tolerance });
    const counted = [...tallies.values()];
    const differences = [...found, ...missing, ...counted.flatMap(differenceOf)];
    return {
      same: differences.length === 0,
      kind: ours.kind,
      formats: [ours.format, theirs.format],
      tolerance,
      differences,
      parts: counted.map(({ what, of, largest, scale }) => ({
        what,
        of,
        largest,
        relative: largest === 0 ? 0 : largest / scale,
      })),
    };
  });

const words = {
  visibilities: 'visibilities',
  spectra: 'channelised data',
  voltages: 'voltages',
  image: 'an image',
  gains: 'gains',
  beam: 'a beam',
  picture: 'a picture',
} satisfies Record<ContentKind, string>;

function tallyOf(tallies: Map<string, Tally>, name: string): Tally {
  const known = tallies.get(name) ?? newTally(name);
  tallies.set(name, known);
  return known;
}

/** Different formats round numbers differently in their headers. */
const SAME_FACT = 1e-9;

function headerDifferences(a: Content, b: Content): Difference[] {
  const extent = extentOf(a, b);
  const [ours, theirs] = [headerFacts(a, extent), headerFacts(b, extent)];
  const names = new Set([...ours.keys(), ...theirs.keys()]);
  return [...names].flatMap((name): Difference[] => {
    const [x, y] = [ours.get(name), theirs.get(name)];
    if (Object.is(x, y) || x === y) return [];
    const isNear =
      extent === 'without cards' &&
      typeof x === 'number' &&
      typeof y === 'number' &&
      Math.abs(x - y) <= SAME_FACT * Math.max(Math.abs(x), Math.abs(y));
    return isNear ? [] : [{ what: 'header', where: name, a: x, b: y, count: 1, of: names.size }];
  });
}

const extentOf = (a: Content, b: Content): Extent => (a.format === b.format ? 'with cards' : 'without cards');

async function* piecesOf(content: Content, extent: Extent): AsyncGenerator<Piece> {
  if (extent === 'with cards') yield { at: 'header', parts: cardParts(content.cards) };
  yield* content.pieces();
}

/** Returns pieces that only one file has; the tallies count the others. */
async function comparePieces(
  a: Content,
  b: Content,
  { tallies, tolerance }: { readonly tallies: Map<string, Tally>; readonly tolerance: number },
): Promise<Difference[]> {
  const extent = extentOf(a, b);
  const missing: Difference[] = [];
  const lone = (what: string, where: string, present: 'a' | 'b'): void => {
    missing.push({
      what,
      where,
      count: 1,
      of: 1,
      a: present === 'a' ? 'present' : undefined,
      b: present === 'b' ? 'present' : undefined,
    });
  };
  const [ours, theirs] = [piecesOf(a, extent), piecesOf(b, extent)];
  try {
    for (;;) {
      const [one, other] = [await ours.next(), await theirs.next()];
      if (one.done === true && other.done === true) return missing;
      if (one.done === true || other.done === true) {
        const [rest, first, present] =
          one.done === true ? [theirs, other, 'b' as const] : [ours, one, 'a' as const];
        missing.push(await restOf(first, rest, present));
        return missing;
      }
      comparePiece(one.value, other.value);
    }
  } finally {
    await ours.return(undefined);
    await theirs.return(undefined);
  }

  function comparePiece(one: Piece, other: Piece): void {
    const others = new Map(other.parts.map((part) => [part.name, part]));
    for (const part of one.parts) {
      const match = others.get(part.name);
      others.delete(part.name);
      if (!match) lone(part.name, one.at, 'a');
      else if (shapeOf(part) !== shapeOf(match))
        missing.push({
          what: part.name,
          where: `${one.at === '' ? '' : `${one.at}, `}shape`,
          count: 1,
          of: 1,
          a: shapeOf(part),
          b: shapeOf(match),
        });
      else {
        const tally = tallyOf(tallies, part.name);
        const relative = part.nature === 'exact' ? 0 : tolerance * tally.scale;
        const within = Math.max(relative, extent === 'with cards' ? 0 : (part.acrossFormats ?? 0));
        addPart(tally, one.at, part, match, { within, wholeExactly: part.nature === 'counted' });
        if (tolerance === 0) for (const each of [part, match]) addScale(tally, each);
      }
    }
    for (const name of others.keys()) lone(name, other.at, 'b');
  }
}

/** One line for all pieces that only one file has. */
async function restOf(
  first: IteratorResult<Piece>,
  rest: AsyncIterator<Piece>,
  present: 'a' | 'b',
): Promise<Difference> {
  const where = (first.value as Piece).at;
  let count = 1;
  while ((await rest.next()).done !== true) count++;
  return {
    what: 'length',
    where,
    count,
    of: count,
    a: present === 'a' ? 'present' : undefined,
    b: present === 'b' ? 'present' : undefined,
  };
}

const shapeOf = ({ axes }: Part): string =>
  `[${axes.map(({ name, size }) => `${name} ${size}`.trim()).join('][')}]`;
