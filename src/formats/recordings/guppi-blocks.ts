/** Positions of the GUPPI RAW blocks in the file and in time: PKTIDX counts packets, including those of lost blocks. */
import { refuse } from '../../core/errors.js';
import type { InputFile } from '../io/input.js';
import { readHeader, samplesPerIndex, sameAs, type Cards, type Header, type Shape } from './guppi-header.js';

interface Block {
  readonly firstSample: number;
  readonly dataOffset: number;
  readonly whole: boolean;
}

interface Blocks {
  readonly blocks: readonly Block[];
  /** In blocks with damaged headers. */
  readonly damagedBytes: number;
  /** Blocks that occur twice in the file. */
  readonly doubled: number;
  readonly assumed: readonly string[];
}

interface Found {
  readonly header: Header;
  /** NaN if not in its header. */
  readonly index: number;
  /** Blocks with damaged headers between the previous one and this one. */
  readonly skipped: number;
}

const indexOf = (cards: Cards): number => Number(cards.get('PKTIDX') ?? Number.NaN);

export async function findBlocks(file: InputFile, first: Header, shape: Shape): Promise<Blocks> {
  const { found, damagedBytes } = await findHeaders(file, first, shape);
  const kept = isCounted(found)
    ? found.filter(({ index }, k) => k === 0 || index !== found[k - 1].index)
    : found;
  const { places, assumed } = placesOf(file.path, kept, shape);
  const blocks = kept.map(({ header }, k) => {
    const dataOffset = header.offsetBytes + header.headerBytes;
    return { firstSample: places[k], dataOffset, whole: dataOffset + shape.blockBytes <= file.sizeBytes };
  });
  return { blocks, damagedBytes, doubled: found.length - kept.length, assumed };
}

/** A block with a damaged header is skipped: the next is expected where an undamaged one would end. */
async function findHeaders(
  file: InputFile,
  first: Header,
  shape: Shape,
): Promise<{ readonly found: readonly Found[]; readonly damagedBytes: number }> {
  const isIndexed = Number.isFinite(indexOf(first.cards));
  const found: Found[] = [{ header: first, index: indexOf(first.cards), skipped: 0 }];
  const stepBytes = first.headerBytes + shape.blockBytes;
  let damagedBytes = 0;
  let skipped = 0;
  for (let at = stepBytes; at < file.sizeBytes;) {
    const header = await readHeader(file, at);
    const index = header ? indexOf(header.cards) : Number.NaN;
    if (header && sameAs(file.path, header, shape) && Number.isFinite(index) === isIndexed) {
      found.push({ header, index, skipped });
      skipped = 0;
      at += header.headerBytes + shape.blockBytes;
    } else {
      const step = Math.min(stepBytes, file.sizeBytes - at);
      damagedBytes += step;
      skipped++;
      at += step;
    }
  }
  return { found, damagedBytes };
}

/** Some recorders never change PKTIDX: a constant one carries no count. */
const isCounted = ([first, ...others]: readonly Found[]): boolean =>
  Number.isFinite(first.index) && others.some(({ index }) => index !== first.index);

const placeOf = ({ header }: Found, k: number): string => `block ${k} at byte ${header.offsetBytes}`;

/** The first sample of each block, relative to the first block's. */
function placesOf(
  path: string,
  found: readonly Found[],
  shape: Shape,
): { readonly places: readonly number[]; readonly assumed: readonly string[] } {
  const advance = shape.blockSamples - shape.overlapSamples;
  const inSequence = along(found.map(({ skipped }, k) => (k === 0 ? 0 : (1 + skipped) * advance)));
  const damaged = found.findIndex(({ skipped }) => skipped > 0);
  if (!isCounted(found)) {
    const isIndexed = Number.isFinite(found[0].index);
    const why = isIndexed ? `PKTIDX is ${found[0].index} in every block` : 'no PKTIDX counts them';
    const warning =
      damaged >= 0
        ? `a header before ${placeOf(found[damaged], damaged)} is damaged, and ${why}: blocks are assumed to be as far apart in time as in the file`
        : isIndexed && found.length > 1
          ? `${why}: blocks are assumed to be contiguous`
          : undefined;
    return { places: inSequence, assumed: warning === undefined ? [] : [warning] };
  }
  const steps = found.map(({ index }, k) => (k === 0 ? 0 : index - found[k - 1].index));
  const back = steps.findIndex((step) => step < 0);
  if (back >= 0)
    refuse(
      path,
      `PKTIDX goes back from ${found[back - 1].index} to ${found[back].index} in ${placeOf(found[back], back)}`,
      'its blocks are out of order, or two recordings were joined: cut it apart there',
    );
  const scale = samplesPerIndex(path, found[0].header.cards, shape);
  const samples = steps.map((step) => step * scale);
  const uneven = samples.findIndex((step, k) => k > 0 && !(Number.isInteger(step) && step >= advance));
  if (uneven < 0) return { places: along(samples), assumed: [] };
  // If every block is the same number of packets after the previous one, none is lost, whatever their size.
  const perBlock = steps.map((step, k) => step / (1 + found[k].skipped));
  const other = perBlock.findIndex((step, k) => k > 1 && step !== perBlock[1]);
  if (other >= 0)
    refuse(
      path,
      `PKTIDX goes up by ${steps[1]} at first and by ${steps[other]} to ${placeOf(found[other], other)}, and ` +
        (scale > 0
          ? `PKTSIZE or PIPERBLK make ${samples[uneven]} samples of a step to ${placeOf(found[uneven], uneven)}, where a block has ${advance}`
          : 'neither PKTSIZE nor PIPERBLK states how many samples those are'),
      'correct its headers (PIPERBLK: the steps of PKTIDX from block to block), or cut it apart there',
    );
  const warning =
    scale > 0
      ? `PKTIDX and PKTSIZE make ${samples[1]} samples of a block, which has ${advance}`
      : found.length === 2
        ? `PKTIDX goes up by ${steps[1]}, and neither PKTSIZE nor PIPERBLK states how many samples those are`
        : undefined;
  return {
    places: inSequence,
    assumed: warning === undefined ? [] : [`${warning}: blocks are assumed to be contiguous`],
  };
}

function along(steps: readonly number[]): number[] {
  let place = 0;
  return steps.map((step) => (place += step));
}
