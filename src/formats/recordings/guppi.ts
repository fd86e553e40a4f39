/**
 * GUPPI RAW: blocks of an 80-column text header and BLOCSIZE bytes, [antenna][channel][time][pol] complex. Each part
 * has 8 bits; or 4, real in the high nibble; or 16, little-endian. Already channelised. A block may repeat the last OVERLAP samples of the one before; DIRECTIO headers are
 * padded to 512 bytes. Blocks are read piece by piece, never whole.
 */
import type { SpectraElements } from '../../core/axes.js';
import { CorellaError, refuse, wholeNumber } from '../../core/errors.js';
import { addSamples, instant } from '../../core/instant.js';
import { channelFrequencies, copyComplex, type PairBits } from './channelised.js';
import type { Format, OpenOptions, SpectraRecording } from '../format.js';
import { emptyTally, plausibleSamples } from './frames.js';
import type { InputFile } from '../io/input.js';
import { unixFromMjd } from '../../core/clock/epochs.js';
import { openOn, polarisationsFor, segmentedSpectra, type Segment, type Target } from './recording.js';

const CARD_BYTES = 80;
const MOST_HEADER_BYTES = 1 << 18;
const HEADER_STEP_BYTES = 8192;

type Cards = ReadonlyMap<string, string>;

interface Header {
  readonly cards: Cards;
  readonly offsetBytes: number;
  /** With its DIRECTIO padding. */
  readonly headerBytes: number;
}

/** A card's value without its quotes and comment. */
function cardValue(card: string): string {
  const text = card.slice(9).trim();
  const quoted = /^'([^']*)'/.exec(text);
  return quoted ? quoted[1].trim() : text.split('/')[0].trim();
}

async function readHeader(file: InputFile, offsetBytes: number): Promise<Header | undefined> {
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

/** A number from the header, or what to take where the card is absent. */
function numberOf(path: string, cards: Cards, key: string, otherwise?: number): number {
  const text = cards.get(key);
  const value = text === undefined ? otherwise : Number(text);
  if (value === undefined || !Number.isFinite(value)) {
    refuse(
      path,
      text === undefined ? `its header lacks ${key}` : `its header says ${key} = '${text}'`,
      'the header is damaged, or of another kind of file',
    );
  }
  return value;
}

/** What every block of a recording must agree on. */
interface Shape {
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

function shapeOf(path: string, cards: Cards): Shape {
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
  // 4 counts the products a detector would make of two polarisations.
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

/** Whether a later header is whole and tells the same shape. */
function sameAs(path: string, header: Header, shape: Shape): boolean {
  try {
    const other = shapeOf(path, header.cards);
    return (Object.keys(shape) as (keyof Shape)[]).every((key) => other[key] === shape[key]);
  } catch (error) {
    if (error instanceof CorellaError) return false;
    throw error;
  }
}

/** Samples per packet index, where the header lets them be known. */
function samplesPerIndex(path: string, cards: Cards, shape: Shape): number {
  const perBlock = numberOf(path, cards, 'PIPERBLK', 0);
  if (perBlock > 0) return (shape.blockSamples - shape.overlapSamples) / perBlock;
  const packetBytes = numberOf(path, cards, 'PKTSIZE', 0);
  return packetBytes / (shape.blockBytes / shape.blockSamples);
}

interface Block {
  readonly firstSample: number;
  readonly dataOffset: number;
  readonly whole: boolean;
}

async function findBlocks(
  file: InputFile,
  first: Header,
  shape: Shape,
): Promise<{ blocks: Block[]; damaged: number }> {
  const { path } = file;
  const scale = samplesPerIndex(path, first.cards, shape);
  const index0 = numberOf(path, first.cards, 'PKTIDX', 0);
  const advance = shape.blockSamples - shape.overlapSamples;
  const blocks: Block[] = [];
  let damaged = 0;
  let header: Header | undefined = first;
  let place = 0;
  let at = 0;
  while (header) {
    const dataOffset: number = header.offsetBytes + header.headerBytes;
    const index = Number(header.cards.get('PKTIDX') ?? Number.NaN);
    const told = (index - index0) * scale;
    const expected = blocks.length === 0 ? 0 : place;
    // A packet index that gives whole samples and does not go back is believed; else blocks follow each other.
    const firstSample = scale > 0 && Number.isInteger(told) && told >= expected ? told : expected;
    blocks.push({ firstSample, dataOffset, whole: dataOffset + shape.blockBytes <= file.sizeBytes });
    place = firstSample + advance;
    at = dataOffset + shape.blockBytes;
    header = undefined;
    // A block whose header is damaged is passed over: the next stands where an undamaged one would end.
    while (at < file.sizeBytes) {
      const found = await readHeader(file, at);
      header = found && sameAs(path, found, shape) ? found : undefined;
      if (header) break;
      const step = Math.min(first.headerBytes + shape.blockBytes, file.sizeBytes - at);
      damaged += step;
      at += step;
    }
  }
  return { blocks, damaged };
}

async function openBlocks(file: InputFile, options: OpenOptions): Promise<SpectraRecording> {
  const { path } = file;
  const first = await readHeader(file, 0);
  if (!first) refuse(path, 'has no whole GUPPI RAW header', 'it is damaged, cut short, or in another format');
  const { cards } = first;
  const shape = shapeOf(path, cards);
  const { antennas, channels, polarisations, blockSamples, bits, pairBytes } = shape;
  const { blocks, damaged } = await findBlocks(file, first, shape);
  // What was cut off a recording is missing; where there is no whole block, its size is the header's word alone.
  if (!blocks.some(({ whole }) => whole))
    refuse(
      path,
      `holds ${file.sizeBytes - first.headerBytes} bytes after its header, where a block has ${shape.blockBytes} (BLOCSIZE)`,
      'it was cut short or its header is damaged: copy it again',
    );
  const cutBytes = blocks.reduce(
    (sum, { whole, dataOffset }) => sum + (whole ? 0 : file.sizeBytes - dataOffset),
    0,
  );
  // Where blocks overlap, the earlier one gives the samples.
  const segments: Segment[] = [];
  let reached = 0;
  for (const { firstSample, dataOffset, whole } of blocks) {
    const leadSamples = Math.max(0, reached - firstSample);
    if (!whole || leadSamples >= blockSamples) continue;
    segments.push({
      firstSample: firstSample + leadSamples,
      samples: blockSamples - leadSamples,
      offsetBytes: dataOffset,
      leadSamples,
    });
    reached = firstSample + blockSamples;
  }
  const samples = plausibleSamples(
    path,
    (blocks.at(-1)?.firstSample ?? 0) + blockSamples,
    blocks.length * blockSamples,
  );

  const bandwidthHz = numberOf(path, cards, 'OBSBW') * 1e6;
  const band = channelFrequencies(path, {
    centreFrequencyHz: numberOf(path, cards, 'OBSFREQ') * 1e6,
    bandwidthHz,
    channels,
  });
  const binS = numberOf(path, cards, 'TBIN', 1 / band.channelWidthHz);
  if (!(binS > 0)) refuse(path, `a spectrum lasts ${binS} s (TBIN)`, 'the header is damaged');
  const spectrumRateHz = wholeIfNear(1 / binS);
  const scale = samplesPerIndex(path, cards, shape);
  const leadSamples = (numberOf(path, cards, 'PKTIDX', 0) - numberOf(path, cards, 'PKTSTART', 0)) * scale;
  const scanStart = instant(
    unixFromMjd(numberOf(path, cards, 'STT_IMJD')) + numberOf(path, cards, 'STT_SMJD'),
    numberOf(path, cards, 'STT_OFFS', 0),
  );
  const tally = emptyTally();
  const inputs = antennas * polarisations;
  const timeBytes = polarisations * pairBytes;
  const sideband = bandwidthHz < 0 ? 'lower' : 'upper';
  let scratch = new Uint8Array(0);

  const read = async (segment: Segment, after: number, target: Target<SpectraElements>): Promise<void> => {
    const from = after + (segment.leadSamples ?? 0);
    const bytes = target.count * timeBytes;
    if (scratch.length < bytes) scratch = new Uint8Array(bytes);
    const run = scratch.subarray(0, bytes);
    for (let s = 0; s < antennas; s++) {
      for (let k = 0; k < channels; k++) {
        const c = sideband === 'lower' ? channels - 1 - k : k;
        await file.readExactly(
          run,
          segment.offsetBytes + ((s * channels + k) * blockSamples + from) * timeBytes,
        );
        for (let p = 0; p < polarisations; p++) {
          const row = c * inputs + s * polarisations + p;
          copyComplex(
            {
              from: run,
              fromIndex: pairBytes * p,
              step: timeBytes,
              count: target.count,
              to: target.elements as Int8Array | Float32Array,
              toIndex: (row * target.stride + target.at) * 2,
            },
            { bits, sideband, tally },
          );
        }
      }
    }
  };
  return segmentedSpectra(
    {
      path,
      format: 'guppi',
      ...(options.telescope && { telescope: options.telescope }),
      details: {
        header: Object.fromEntries(cards),
        headerBytes: first.headerBytes,
        blocks: blocks.length,
        blockSamples,
        overlapSamples: shape.overlapSamples,
        truncatedBlocks: blocks.filter((block) => !block.whole).length,
      },
      // Spectra of whole numbers have eight bits; floats hold sixteen exactly.
      type: bits === 16 ? 'cf32' : 'ci8',
      bits,
      channels,
      inputs,
      polarisations: polarisationsFor(path, inputs, polarisations, options),
      samples,
      spectrumRateHz,
      ...band,
      start: leadSamples > 0 ? addSamples(scanStart, leadSamples, spectrumRateHz) : scanStart,
    },
    { file, segments, spareBytes: damaged + cutBytes, tally, read },
  );
}

/** 1/3.2e-7 is 3125000 but for the last bit: rates a hair from a whole number are meant to be it. */
function wholeIfNear(rateHz: number): number {
  const whole = Math.round(rateHz);
  return Math.abs(rateHz - whole) <= 1e-9 * rateHz && whole > 0 ? whole : rateHz;
}

export const guppi: Format = {
  name: 'guppi',
  title: 'GUPPI RAW',
  extensions: ['.raw', '.guppi'],
  kinds: [{ title: 'GUPPI RAW', holds: 'recordings', reads: ['polarisations'] }],
  recognise: (_path, head) => {
    const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1');
    return (
      /^[A-Z0-9_-]{1,8} *=/.test(text) &&
      !text.startsWith('SIMPLE') &&
      /(?:BLOCSIZE|OBSNCHAN|PKTFMT ) *=/.test(text)
    );
  },
  open: (path, options) => openOn(path, (file) => openBlocks(file, options ?? {})),
};
