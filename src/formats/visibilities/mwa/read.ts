/** Reads one integration of one file and adds its values. */
import type { Gathering } from '../../io/gather.js';
import { products, type Layout } from './layout.js';
import { phaseOf } from './phases.js';
import type { Piece } from './pieces.js';

interface PieceValues {
  readonly piece: Piece;
  /** values : in file order. */
  readonly values: Float32Array | Int32Array;
  /** weights : [baseline][product], all 1 if not in the file. */
  readonly weights: Float32Array | undefined;
}

/** Reads any of the files with a common layout into one memory: valid until the next; undefined without this time. */
export type PieceReader = (piece: Piece, millis: number) => Promise<PieceValues | undefined>;

export function pieceReader({ axes, pairs }: Layout): PieceReader {
  const bytes = new Uint8Array(4 * axes[0] * axes[1]);
  const weightBytes = new Uint8Array(16 * pairs.length);
  const fill = async (piece: Piece, target: Uint8Array, position: number): Promise<void> => {
    await piece.file.readExactly(target, position);
    // FITS is big-endian; every supported machine is little-endian.
    Buffer.from(target.buffer, 0, target.length).swap32();
  };
  const stored = { float32: new Float32Array(bytes.buffer), int32: new Int32Array(bytes.buffer) };
  const weights = new Float32Array(weightBytes.buffer);
  return async (piece, millis) => {
    const held = piece.held.get(millis);
    if (held === undefined) return undefined;
    await fill(piece, bytes, held.dataStart);
    const values = stored[piece.stored];
    if (held.weightsStart === undefined) return { piece, values, weights: undefined };
    await fill(piece, weightBytes, held.weightsStart);
    return { piece, values, weights };
  };
}

interface Placing {
  readonly layout: Layout;
  /** flagged : [a] */
  readonly flagged: readonly boolean[];
  /** Samples per integration of one channel. */
  readonly samples: number;
  readonly firstChannel: number;
  readonly frequenciesHz: Float64Array;
  /** lateM : [a], see phases.ts. */
  readonly lateM: Float64Array | undefined;
}

/**
 * Values that are not numbers, or have no weight, are missing; those of flagged inputs are kept, flagged. The loop is
 * channel by channel, in canonical order: pair by pair a large observation takes twice as long.
 */
export function addPiece(gathering: Gathering, read: PieceValues, placing: Placing): void {
  const { piece, values } = read;
  const { layout, firstChannel, frequenciesHz, lateM } = placing;
  const { pairs, channelStride } = layout;
  const counts = signedCounts(read, placing);
  for (let c = 0; c < piece.channels; c++) {
    const target = firstChannel + c;
    for (let pair = 0; pair < pairs.length; pair++) {
      const { s1, s2, at, sign } = pairs[pair];
      gathering.row(s1, s2);
      for (let k = 0; k < products.length; k++) {
        const product = products[k];
        const count = counts[4 * pair + k];
        const from = at[k] + c * channelStride;
        const re = piece.scale * values[from];
        const im = piece.scale * sign[k] * values[from + 1];
        if (count === 0) {
          // Zero weight: a product that is never added would count as absent from the file.
          gathering.add(target, product, 0, 0, 0);
          continue;
        }
        const pathM = lateM === undefined ? 0 : lateM[2 * s1 + product.p1] - lateM[2 * s2 + product.p2];
        if (pathM === 0) gathering.add(target, product, re, im, count);
        else {
          const phase = phaseOf(frequenciesHz[target], pathM);
          const cos = Math.cos(phase);
          const sin = Math.sin(phase);
          gathering.add(target, product, re * cos - im * sin, im * cos + re * sin, count);
        }
      }
    }
  }
}

/** [baseline][product]: samples integrated, negative if an input is flagged, 0 without data. */
function signedCounts({ weights }: PieceValues, { layout, flagged, samples }: Placing): Float64Array {
  const counts = new Float64Array(4 * layout.pairs.length);
  layout.pairs.forEach(({ s1, s2 }, pair) => {
    products.forEach(({ p1, p2 }, k) => {
      const count = Math.round(samples * (weights === undefined ? 1 : weights[4 * pair + k]));
      if (!(count > 0 && Number.isFinite(count))) return;
      counts[4 * pair + k] = flagged[2 * s1 + p1] || flagged[2 * s2 + p2] ? -count : count;
    });
  });
  return counts;
}
