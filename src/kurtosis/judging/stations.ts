/** How many stations can be judged, in every window's channel: all that are asked but in few. */
import type { KurtosisPlan } from '../plan.js';

export class JudgedStations {
  /** judged : [w][c] */
  judged = new Uint32Array(0);
  /** Rows in which some cannot, each as often as a station; and how many of a window, [w]. */
  private dropped: number[] = [];
  private droppedIn = new Uint32Array(0);
  /** Stations of which an input is asked. */
  private readonly asked: number;

  constructor(private readonly plan: KurtosisPlan) {
    const { stations, polarisations, flaggedInputs } = plan;
    this.asked = Array.from({ length: stations }, (_, s) =>
      flaggedInputs.subarray(s * polarisations, (s + 1) * polarisations),
    ).filter((mine) => mine.includes(0)).length;
  }

  /** All can, in a block of so many windows. */
  clear(windows: number): void {
    const rows = windows * this.plan.channels;
    if (this.judged.length < rows) this.judged = new Uint32Array(rows).fill(this.asked);
    else for (const row of this.dropped) this.judged[row] = this.asked;
    if (this.dropped.length > 0) this.dropped = [];
    if (this.droppedIn.length < windows) this.droppedIn = new Uint32Array(windows);
    else this.droppedIn.fill(0);
  }

  drop(window: number, row: number): void {
    this.judged[row]--;
    this.dropped.push(row);
    this.droppedIn[window]++;
  }

  /** Of all channels of a window. */
  cellsOf(window: number): number {
    return this.plan.channels * this.asked - this.droppedIn[window];
  }
}
