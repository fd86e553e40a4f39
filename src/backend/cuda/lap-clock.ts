/** Times of the steps on a card: events around each, read once they have passed. */
import type { CudaSession, CudaEvent, Stream } from './session.js';

interface Lap<Step> {
  readonly step: Step;
  readonly begun: CudaEvent;
  readonly ended: CudaEvent;
}

type Marks = readonly [begun: CudaEvent, ended: CudaEvent];

export class LapClock<Step extends string> {
  private readonly seconds = new Map<Step, number>();
  /** Laps in progress, oldest first. */
  private readonly laps: Lap<Step>[] = [];
  /** Free marks; a steady stream of blocks makes no new ones. */
  private readonly spare: CudaEvent[] = [];
  private readonly all: CudaEvent[] = [];
  private collected = 0;

  constructor(private readonly session: Pick<CudaSession, 'createEvent' | 'millisecondsBetween'>) {}

  /** A mark in the stream. */
  begin(stream: Stream): CudaEvent {
    let event = this.spare.pop();
    if (event === undefined) {
      event = this.session.createEvent({ timing: 'on' });
      this.all.push(event);
    }
    event.record(stream);
    return event;
  }

  end(step: Step, begun: CudaEvent, stream: Stream): void {
    this.lap(step, [begun, this.begin(stream)]);
  }

  /** For marks set before, in another stream than that of later laps. */
  lap(step: Step, [begun, ended]: Marks): void {
    this.laps.push({ step, begun, ended });
  }

  /** The number of laps begun and ended so far, the argument of `collect` once the last of them has passed. */
  get count(): number {
    return this.collected + this.laps.length;
  }

  /** Reads the laps up to the given count; all of them have passed. */
  collect(count: number): void {
    while (this.collected < count) {
      const lap = this.laps.shift();
      if (lap === undefined) return;
      this.collected++;
      const { step, begun, ended } = lap;
      const seconds = this.session.millisecondsBetween(begun, ended) / 1000;
      this.seconds.set(step, (this.seconds.get(step) ?? 0) + seconds);
      this.spare.push(begun, ended);
    }
  }

  /** Reads the laps that have passed, up to the first that has not. */
  collectPassed(): void {
    while (this.laps.at(0)?.ended.isPassed() === true) this.collect(this.collected + 1);
  }

  /** Seconds of each step among the laps collected since the start or the last reset. */
  get times(): Readonly<Partial<Record<Step, number>>> {
    return Object.fromEntries(this.seconds) as Partial<Record<Step, number>>;
  }

  reset(): void {
    this.seconds.clear();
  }

  async close(): Promise<void> {
    for (const event of this.all.splice(0)) await event.close();
  }
}
