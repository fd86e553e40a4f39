/** Histories of a run, thinned to a memory limit: all of the latest, fewer of the older ones. */
import type { SkyHead } from './messages.js';

export interface Frame {
  readonly head: SkyHead;
  readonly unixS: number;
  /** plane : [m][l]. */
  readonly plane: Float32Array;
}

const MOST_BYTES = 48 * 2 ** 20;
/** However small: memory is the same after some minutes. */
const MOST_ITEMS = 600;
/** Closer images are not needed: a run is viewed in minutes. */
const LEAST_APART_S = 1;

/** By time, in seconds since 1970, of each file apart. */
export class Thinned<Item extends { readonly unixS: number }> {
  private readonly items: Item[] = [];
  private bytes = 0;

  constructor(
    private readonly bytesOf: (item: Item) => number,
    private readonly mostBytes: number,
    /** Seconds between two items, at least. */
    private readonly apartS = 0,
    private readonly fileOf: (item: Item) => string | undefined = () => undefined,
  ) {}

  add(item: Item): void {
    const file = this.fileOf(item);
    const last = this.items.findLast((one) => this.fileOf(one) === file);
    if (last && Math.abs(item.unixS - last.unixS) < this.apartS - 1e-3) return;
    this.items.push(item);
    this.bytes += this.bytesOf(item);
    while ((this.bytes > this.mostBytes || this.items.length > MOST_ITEMS) && this.items.length > 2) {
      const [dropped] = this.items.splice(this.leastMissed(), 1);
      this.bytes -= this.bytesOf(dropped);
    }
  }

  /**
   * The oldest of those whose neighbours, of their own file, are closest: one is dropped for each that is added, so that
   * memory is constant.
   */
  private leastMissed(): number {
    const { items } = this;
    /** Of each file the latest, and the one before it. */
    const latest = new Map<string | undefined, { readonly at: number; readonly before?: number }>();
    let [best, leastS] = [0, Infinity];
    for (const [k, item] of items.entries()) {
      const file = this.fileOf(item);
      const own = latest.get(file);
      latest.set(file, { at: k, before: own?.at });
      if (own?.before === undefined) continue;
      const gapS = Math.abs(item.unixS - items[own.before].unixS);
      // Rounding of times makes no gap smaller.
      if (gapS < leastS - 1e-3) [best, leastS] = [own.at, gapS];
    }
    return best;
  }

  get all(): readonly Item[] {
    return this.items;
  }

  /** The nearest, of a file where one is named. */
  at(unixS: number, file?: string): Item | undefined {
    const items = file === undefined ? this.items : this.items.filter((one) => this.fileOf(one) === file);
    return items.reduce<Item | undefined>(
      (best, one) => (best && Math.abs(best.unixS - unixS) <= Math.abs(one.unixS - unixS) ? best : one),
      undefined,
    );
  }
}

export class ImageHistory extends Thinned<Frame> {
  constructor(mostBytes = MOST_BYTES) {
    super(
      ({ plane }) => plane.byteLength,
      mostBytes,
      LEAST_APART_S,
      ({ head }) => head.file,
    );
  }

  /** The brightness at a position over the run, or in the images of a file, from the nearest pixel. */
  curve(l: number, m: number, file?: string): { readonly unixS: number; readonly value: number | null }[] {
    return this.all.flatMap((frame) => {
      const { unixS, head } = frame;
      const value = head.file === file ? pixelAt(frame, l, m) : undefined;
      return value === undefined ? [] : [{ unixS, value: Number.isFinite(value) ? value : null }];
    });
  }
}

/** The pixel nearest to a position; undefined outside. */
export function pixelAt(
  { plane, head: { shape, pixelSize } }: Pick<Frame, 'plane' | 'head'>,
  l: number,
  m: number,
): number | undefined {
  const [pixels] = shape;
  const [row, column] = [Math.round(m / pixelSize + pixels / 2), Math.round(l / pixelSize + pixels / 2)];
  if (row < 0 || column < 0 || row >= pixels || column >= pixels) return undefined;
  return plane[row * pixels + column];
}
