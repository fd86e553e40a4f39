/** The headers of GUPPI RAW: 80-column cards, and the block shape they give. */
import { CorellaError, refuse, wholeNumber } from '../../core/errors.js';
import type { InputFile } from '../io/input.js';
import { numberOf, type PairBits } from './channelised.js';

const CARD_BYTES = 80;
const MOST_HEADER_BYTES = 1 << 18;
const HEADER_STEP_BYTES = 8192;

export type Cards = ReadonlyMap<string, string>;

export interface Header {
  readonly cards: Cards;
  readonly offsetBytes: number;
  /** Including its DIRECTIO padding. */
  readonly headerBytes: number;
}

/** A card's value without quotes and comment. */
function cardValue(card: string): string {
  const text = card.slice(9).trim();
  const quoted = /^'([^']*)'/.exec(text);
  return quoted ? quoted[1].trim() : text.split('/')[0].trim();
}

export async function readHeader(file: InputFile, offsetBytes: number): Promise<Header | undefined> {
  const cards = new Map<string, string>();
  const bytes = new Uint8Array(HEADER_STEP_BYTES - (HEADER_STEP_BYTES % CARD_BYTES));
  for (let at = 0; at < MOST_HEADER_BYTES; at += bytes.length) {
    const left = Math.min(bytes.length, file.sizeBytes - offsetBytes - at);
    if (left < CARD_BYTES) return undefined;
    await file.readExactly(bytes.subarray(0, left), offsetBytes + at);
    const text = Buffer.from(bytes.buffer, 0, left).toString('latin1');
    for (let card = 0; card + CARD_BYTES <= left; card += CARD_BYTES) {
      const line = text.slice(card, card + CARD_BYTES);
      if (/^END\s*$/.test(line)) {
        const length = at + card + CARD_BYTES;
        const padded = cards.get('DIRECTIO') === '1' ? Math.ceil(length / 512) * 512 : length;
        return { cards, offsetBytes, headerBytes: padded };
      }
      if (!/^[A-Z0-9_-]{1,8} *=/.test(line)) return undefined;
      cards.set(line.slice(0, 8).trim(), cardValue(line));
    }
  }
  return undefined;
}

/** What must be equal in every block of a recording. */
export interface Shape {
  readonly bits: PairBits;
  /** One complex sample of one input. */
  readonly pairBytes: number;
  readonly antennas: number;
  readonly channels: number;
  readonly polarisations: 1 | 2;
  readonly blockBytes: number;
  readonly blockSamples: number;
  readonly overlapSamples: number;
}

export function shapeOf(path: string, cards: Cards): Shape {
  const bits = numberOf(path, cards, 'NBITS', 8);
  if (bits !== 4 && bits !== 8 && bits !== 16) {
    refuse(
      path,
      `holds samples of ${bits} bits`,
      'GUPPI RAW of 4, 8 and 16 bits is read; recorders differ on what fewer bits mean: convert it first',
    );
  }
  if (cards.get('PKTFMT') === 'SIMPLE' || cards.get('CHANMAJ') === '1') {
    refuse(
      path,
      `keeps all channels of a time together (${cards.get('CHANMAJ') === '1' ? 'CHANMAJ 1' : "PKTFMT 'SIMPLE'"})`,
      'only blocks with the times of a channel together are read: convert it first',
    );
  }
  const pairBytes = bits / 4;
  const antennas = wholeNumber(path, 'NANTS', numberOf(path, cards, 'NANTS', 1), 1, 4096);
  const all = wholeNumber(path, 'OBSNCHAN', numberOf(path, cards, 'OBSNCHAN'), 1, 2 ** 22);
  if (all % antennas !== 0)
    refuse(path, `${all} channels do not divide among ${antennas} antennas`, 'the header is damaged');
  const listed = wholeNumber(path, 'NPOL', numberOf(path, cards, 'NPOL'), 1, 4);
  if (listed === 3) refuse(path, 'NPOL is 3', 'the header is damaged');
  // 4 counts the detector's products of two polarisations.
  const polarisations = listed === 1 ? 1 : 2;
  const blockBytes = wholeNumber(path, 'BLOCSIZE', numberOf(path, cards, 'BLOCSIZE'), 1, 2 ** 40);
  const blockSamples = blockBytes / (all * polarisations * pairBytes);
  if (!Number.isInteger(blockSamples))
    refuse(
      path,
      `a block of ${blockBytes} bytes is not whole samples of ${all} channels`,
      'the header is damaged',
    );
  const overlapSamples = wholeNumber(
    path,
    'OVERLAP',
    numberOf(path, cards, 'OVERLAP', 0),
    0,
    blockSamples - 1,
  );
  const channels = all / antennas;
  return { bits, pairBytes, antennas, channels, polarisations, blockBytes, blockSamples, overlapSamples };
}

/** Whether a later header is complete and gives the same shape. */
export function sameAs(path: string, header: Header, shape: Shape): boolean {
  try {
    const other = shapeOf(path, header.cards);
    return (Object.keys(shape) as (keyof Shape)[]).every((key) => other[key] === shape[key]);
  } catch (error) {
    if (error instanceof CorellaError) return false;
    throw error;
  }
}

/** Samples per packet index; 0 if the header does not determine it. */
export function samplesPerIndex(path: string, cards: Cards, shape: Shape): number {
  const perBlock = numberOf(path, cards, 'PIPERBLK', 0);
  if (perBlock > 0) return (shape.blockSamples - shape.overlapSamples) / perBlock;
  const packetBytes = numberOf(path, cards, 'PKTSIZE', 0);
  return packetBytes / (shape.blockBytes / shape.blockSamples);
}
