/** Beams for the page: their directions, and their power over frequency, a few times per second. */
import { formatInstant } from '../core/instant.js';
import type { SeenBeams } from '../products/index.js';
import type { PhaseCentre } from '../sky/phase-centre.js';
import type { BeamsHead } from './messages.js';

/** Limits of the page's display; further beams and channels are only in files. */
const [MOST_BEAMS, MOST_CHANNELS] = [16, 256];
const LEAST_APART_MS = 250;

interface Begun {
  readonly targets: readonly PhaseCentre[];
  /** [b][c] and [c], since the last row. */
  readonly sums: Float64Array;
  readonly counts: Float64Array;
  time: string;
  sinceMs: number;
}

export class BeamLevels {
  /** By product number. */
  private readonly begun = new Map<number, Begun>();
  /** For coherent beams. */
  private readonly pointed = new Map<number, readonly PhaseCentre[]>();

  constructor(private readonly publish: (head: BeamsHead, values: Float32Array) => void) {}

  get hasRows(): boolean {
    return this.begun.size > 0;
  }

  get targets(): readonly PhaseCentre[] {
    return [...this.pointed.values()].flat();
  }

  /** The mean of |beam|² in each channel since the last row; missing data lower it as in files. */
  take(product: number, { item, start, isCoherent, planes }: SeenBeams, nowMs = performance.now()): void {
    const { targets } = item.beams;
    if (isCoherent) this.pointed.set(product, targets);
    if (item.kind !== 'powers') return;
    const beams = Math.min(MOST_BEAMS, targets.length);
    const channels = item.powers.length / (targets.length * planes * item.values);
    if (beams === 0) return;
    const each = Math.ceil(channels / MOST_CHANNELS);
    const columns = Math.ceil(channels / each);
    let row = this.begun.get(product);
    if (row?.targets !== targets || row.counts.length !== columns) {
      row = {
        targets,
        time: formatInstant(start, 3),
        sinceMs: nowMs,
        sums: new Float64Array(beams * columns),
        counts: new Float64Array(columns),
      };
      this.begun.set(product, row);
    }
    if (row.counts[0] === 0) row.time = formatInstant(start, 3);
    for (let v = 0; v < item.values; v++)
      for (let c = 0; c < channels; c++) {
        const column = Math.floor(c / each);
        row.counts[column]++;
        for (let b = 0; b < beams; b++)
          row.sums[b * columns + column] += item.powers[(b * planes * item.values + v) * channels + c];
      }
    if (nowMs - row.sinceMs < LEAST_APART_MS) return;
    const { sums, counts, time } = row;
    const names = targets.slice(0, beams).map(({ name }) => name);
    this.publish(
      { topic: 'beams', shape: [beams, columns], time, product, names, of: targets.length },
      Float32Array.from(sums, (sum, n) => sum / counts[n % columns]),
    );
    row.sinceMs = nowMs;
    sums.fill(0);
    counts.fill(0);
  }
}
