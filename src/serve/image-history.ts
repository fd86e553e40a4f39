/** The run's images, thinned to a memory limit: all of the latest, fewer of the older ones. */
import type { SkyHead } from './messages.js';

export interface Frame {
  readonly head: SkyHead;
  readonly unixS: number;
  /** plane : [m][l]. */
  readonly plane: Float32Array;
}

const MOST_BYTES = 48 * 2 ** 20;
/** Closer images are not needed: a run is viewed in minutes. */
const LEAST_APART_S = 1;

export class ImageHistory {
  private frames: Frame[] = [];
  private bytes = 0;
  /** Seconds between two frames; doubles when memory is full. */
  private apartS = LEAST_APART_S;

  constructor(private readonly mostBytes = MOST_BYTES) {}

  add(frame: Frame): void {
    const last = this.frames.at(-1);
    if (last && Math.abs(frame.unixS - last.unixS) < this.apartS - 1e-3) return;
    this.frames.push(frame);
    this.bytes += frame.plane.byteLength;
    while (this.bytes > this.mostBytes && this.frames.length > 2) this.thin();
  }

  /** Removes every other frame. */
  private thin(): void {
    this.frames = this.frames.filter((_, k) => k % 2 === 0);
    this.bytes = this.frames.reduce((sum, { plane }) => sum + plane.byteLength, 0);
    this.apartS *= 2;
  }

  get all(): readonly Frame[] {
    return this.frames;
  }

  /** The brightness at a position over the run, from the nearest pixel. */
  curve(l: number, m: number): { readonly unixS: number; readonly value: number | null }[] {
    return this.frames.flatMap(({ head, plane, unixS }) => {
      const value = pixelAt(plane, head, l, m);
      return value === undefined ? [] : [{ unixS, value: Number.isFinite(value) ? value : null }];
    });
  }
}

/** The pixel nearest to a position; undefined outside. */
function pixelAt(
  plane: Float32Array,
  { shape, pixelSize }: Pick<SkyHead, 'shape' | 'pixelSize'>,
  l: number,
  m: number,
): number | undefined {
  const [pixels] = shape;
  const [row, column] = [Math.round(m / pixelSize + pixels / 2), Math.round(l / pixelSize + pixels / 2)];
  if (row < 0 || column < 0 || row >= pixels || column >= pixels) return undefined;
  return plane[row * pixels + column];
}
