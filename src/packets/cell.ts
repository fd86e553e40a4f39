/**
 * How a cell, one packet's payload, becomes samples. The order is data; `unpackCell` follows it one number at a time,
 * slow and obviously right: the oracle of every corner turn. What never arrived is not its concern.
 */
import { refuse } from '../core/errors.js';
import { HIGH_LEVEL } from '../core/units.js';

/** `c` channel, `t` time, `a` input (polarisations among them). */
type CellAxis = 'c' | 't' | 'a';
export type CellBits = 1 | 2 | 4 | 8 | 10 | 16;

export interface CellOrder {
  /** Slowest first. */
  readonly axes: readonly [CellAxis, CellAxis, CellAxis];
  readonly sizes: Readonly<Record<CellAxis, number>>;
  /** 2: each sample is (re, im). */
  readonly parts: 1 | 2;
  readonly bits: CellBits;
  /** `offset`: 0 is the lowest level; of one and two bits the levels are ±1 and ±3.3165. */
  readonly code: 'twos-complement' | 'offset';
  /**
   * Number k takes bits k·bits … of the payload, counted in each byte from its highest bit (4 + 4 bits with the real part
   * in the high nibble; 10 bits without padding) or from its lowest (VDIF; two bytes are then little-endian).
   */
  readonly bitsFrom: 'highest' | 'lowest';
  /** `symmetric`: the lowest level of two's complement becomes the next, as blocks of spectra want it. */
  readonly levels: 'all' | 'symmetric';
}

export const cellNumbers = ({ sizes, parts }: CellOrder): number => sizes.c * sizes.t * sizes.a * parts;
/** NaN or a fraction where the numbers do not fill whole bytes. */
export const bytesOfCell = (order: CellOrder): number => (cellNumbers(order) * order.bits) / 8;

/** A corner of a block of samples [c][a][t]; without, the block is the cell. */
interface CellCorner {
  readonly firstChannel: number;
  readonly firstInput: number;
  readonly firstSample: number;
  /** In the whole block. */
  readonly inputs: number;
  readonly samples: number;
}

type CellTarget = Int8Array | Int16Array | Float32Array;

/** Writes one cell to target : [c][a][t], (re, im) or real; returns how many numbers `symmetric` moved. */
export function unpackCell(
  order: CellOrder,
  cell: Uint8Array,
  target: CellTarget,
  corner: CellCorner = wholeCell(order),
): number {
  checkCell(order, cell);
  const value = numberReader(order);
  let moved = 0;
  eachSample(order, (index, c, t, a) => {
    const row = (corner.firstChannel + c) * corner.inputs + corner.firstInput + a;
    const at = (row * corner.samples + corner.firstSample + t) * order.parts;
    for (let part = 0; part < order.parts; part++) {
      const number = value(cell, index * order.parts + part);
      const lowest = order.levels === 'symmetric' && number === -(2 ** (order.bits - 1));
      if (lowest) moved++;
      target[at + part] = lowest ? number + 1 : number;
    }
  });
  return moved;
}

/** The other way, for senders: values : [c][a][t] as `unpackCell` leaves them. */
export function packCell(
  order: CellOrder,
  values: ArrayLike<number>,
  corner: CellCorner = wholeCell(order),
): Uint8Array {
  const cell = new Uint8Array(checkedBytes(order));
  eachSample(order, (index, c, t, a) => {
    const row = (corner.firstChannel + c) * corner.inputs + corner.firstInput + a;
    const at = (row * corner.samples + corner.firstSample + t) * order.parts;
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

function checkCell(order: CellOrder, cell: Uint8Array): void {
  const bytes = checkedBytes(order);
  if (cell.length !== bytes) refuse('cell', `${cell.length} bytes where its order makes ${bytes}`);
}

/** Samples in the order they lie in the cell. */
function eachSample(
  { axes, sizes }: CellOrder,
  see: (index: number, c: number, t: number, a: number) => void,
): void {
  const at: Record<CellAxis, number> = { c: 0, t: 0, a: 0 };
  const [slow, middle, fast] = axes;
  let index = 0;
  for (at[slow] = 0; at[slow] < sizes[slow]; at[slow]++) {
    for (at[middle] = 0; at[middle] < sizes[middle]; at[middle]++) {
      for (at[fast] = 0; at[fast] < sizes[fast]; at[fast]++) see(index++, at.c, at.t, at.a);
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

/** The code of a level, refused where there is none. */
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
