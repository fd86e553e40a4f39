/**
 * How a cell, one packet's payload, becomes samples. The order is data; `unpackCell` follows it one number at a time,
 * slowly and simply: the reference for every corner turn. It does not deal with missing packets.
 */
import { refuse } from '../core/errors.js';
import { HIGH_LEVEL } from '../core/units.js';

/** `c` channel, `t` time, `a` input (including polarisations). */
type CellAxis = 'c' | 't' | 'a';
export type CellBits = 1 | 2 | 4 | 8 | 10 | 16;

export interface CellOrder {
  /** Slowest first. */
  readonly axes: readonly [CellAxis, CellAxis, CellAxis];
  readonly sizes: Readonly<Record<CellAxis, number>>;
  /** 2: each sample is (re, im). */
  readonly parts: 1 | 2;
  readonly bits: CellBits;
  /** `offset`: 0 is the lowest level; with one or two bits the levels are ±1 and ±3.3165. */
  readonly code: 'twos-complement' | 'offset';
  /**
   * Number k is bits k·bits … of the payload. Each byte is counted from its highest bit (4 + 4 bits with the real part
   * in the high nibble; 10 bits without padding) or from its lowest (VDIF; two bytes are then little-endian).
   */
  readonly bitsFrom: 'highest' | 'lowest';
  /** `symmetric`: the lowest two's-complement level becomes the next, as blocks of spectra require. */
  readonly levels: 'all' | 'symmetric';
}

export const cellNumbers = ({ sizes, parts }: CellOrder): number => sizes.c * sizes.t * sizes.a * parts;
/** NaN or a fraction if the numbers do not fill whole bytes. */
export const bytesOfCell = (order: CellOrder): number => (cellNumbers(order) * order.bits) / 8;

/** The position of a cell in a block of samples [c][a][t]; by default the block is the cell. */
interface CellCorner {
  readonly firstChannel: number;
  readonly firstInput: number;
  readonly firstSample: number;
  /** Of the whole block. */
  readonly inputs: number;
  readonly samples: number;
}

type CellTarget = Int8Array | Int16Array | Float32Array;

/** Writes one cell to target : [c][a][t], (re, im) or real; returns how many numbers `symmetric` changed. */
export function unpackCell(
  order: CellOrder,
  cell: Uint8Array,
  target: CellTarget,
  corner: CellCorner = wholeCell(order),
): number {
  const bytes = checkedBytes(order);
  if (cell.length !== bytes) refuse('cell', `${cell.length} bytes where its order makes ${bytes}`);
  const value = numberReader(order);
  let moved = 0;
  eachSample(order, corner, (index, at) => {
    for (let part = 0; part < order.parts; part++) {
      const number = value(cell, index * order.parts + part);
      const lowest = order.levels === 'symmetric' && number === -(2 ** (order.bits - 1));
      if (lowest) moved++;
      target[at + part] = lowest ? number + 1 : number;
    }
  });
  return moved;
}

/** The inverse, for senders: values : [c][a][t] as written by `unpackCell`. */
export function packCell(
  order: CellOrder,
  values: ArrayLike<number>,
  corner: CellCorner = wholeCell(order),
): Uint8Array {
  const cell = new Uint8Array(checkedBytes(order));
  eachSample(order, corner, (index, at) => {
    for (let part = 0; part < order.parts; part++) {
      writeBits(order, cell, index * order.parts + part, codeOf(order, values[at + part]));
    }
  });
  return cell;
}

const wholeCell = ({ sizes }: CellOrder): CellCorner => ({
  firstChannel: 0,
  firstInput: 0,
  firstSample: 0,
  inputs: sizes.a,
  samples: sizes.t,
});

function checkedBytes(order: CellOrder): number {
  const bytes = bytesOfCell(order);
  if (!Number.isInteger(bytes) || bytes < 1) {
    refuse('cell', `${cellNumbers(order)} numbers of ${order.bits} bits do not fill whole bytes`);
  }
  return bytes;
}

/** Samples in the cell's memory order, each with its place in the block. */
function eachSample(
  { axes, sizes, parts }: CellOrder,
  corner: CellCorner,
  see: (index: number, at: number) => void,
): void {
  const at: Record<CellAxis, number> = { c: 0, t: 0, a: 0 };
  const [slow, middle, fast] = axes;
  let index = 0;
  for (at[slow] = 0; at[slow] < sizes[slow]; at[slow]++) {
    for (at[middle] = 0; at[middle] < sizes[middle]; at[middle]++) {
      for (at[fast] = 0; at[fast] < sizes[fast]; at[fast]++) {
        const row = (corner.firstChannel + at.c) * corner.inputs + corner.firstInput + at.a;
        see(index++, (row * corner.samples + corner.firstSample + at.t) * parts);
      }
    }
  }
}

function readBits({ bits, bitsFrom }: CellOrder, cell: Uint8Array, k: number): number {
  let code = 0;
  for (let n = 0; n < bits; n++) {
    const bit = k * bits + n;
    const byte = cell[bit >>> 3];
    if (bitsFrom === 'highest') code = (code << 1) | ((byte >> (7 - (bit & 7))) & 1);
    else code |= ((byte >> (bit & 7)) & 1) << n;
  }
  return code;
}

function writeBits({ bits, bitsFrom }: CellOrder, cell: Uint8Array, k: number, code: number): void {
  for (let n = 0; n < bits; n++) {
    const bit = k * bits + n;
    if (bitsFrom === 'highest') cell[bit >>> 3] |= ((code >> (bits - 1 - n)) & 1) << (7 - (bit & 7));
    else cell[bit >>> 3] |= ((code >> n) & 1) << (bit & 7);
  }
}

const HIGH = Math.fround(HIGH_LEVEL);
const fewBitLevels: Readonly<Record<1 | 2, readonly number[]>> = { 1: [-1, 1], 2: [-HIGH, -1, 1, HIGH] };

function numberReader(order: CellOrder): (cell: Uint8Array, k: number) => number {
  const { bits, code } = order;
  if (code === 'twos-complement')
    return (cell, k) => (readBits(order, cell, k) << (32 - bits)) >> (32 - bits);
  if (bits === 1 || bits === 2) return (cell, k) => fewBitLevels[bits][readBits(order, cell, k)];
  return (cell, k) => readBits(order, cell, k) - 2 ** (bits - 1);
}

/** The code of a level; refused if there is none. */
function codeOf({ bits, code }: CellOrder, value: number): number {
  const half = 2 ** (bits - 1);
  if (code === 'offset' && (bits === 1 || bits === 2)) {
    const level = fewBitLevels[bits].indexOf(Math.fround(value));
    if (level >= 0) return level;
  } else if (Number.isInteger(value) && value >= -half && value < half) {
    return code === 'offset' ? value + half : value;
  }
  return refuse('cell', `${value} is no number of ${bits} bits`);
}
