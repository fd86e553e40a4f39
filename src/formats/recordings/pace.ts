/**
 * The rate at which samples come, beside the stated one. A stream without times and counters shows in no other way that
 * its sender has another rate, changes it, or loses samples.
 */

/** Shorter ranges measure how data are held back on the way. */
const WINDOW_MS = 10_000;
const MOST_DIFFERENCE = 0.05;

export interface PaceEvent {
  readonly rateHz: number;
  /** Whether it is the stated rate again. */
  readonly isAsStated: boolean;
  /** How much later than its sample count states the latest sample came; negative if earlier. */
  readonly lateS: number;
}

export class StreamPace {
  private reportedHz: number;
  private firstMs: number | undefined;
  private began = { ms: 0, samples: 0 };

  constructor(
    private readonly statedHz: number,
    private readonly windowMs = WINDOW_MS,
  ) {
    this.reportedHz = statedHz;
  }

  /** Samples so far, missing ones included; an event where the rate has changed since the last one. */
  at(nowMs: number, samples: number): PaceEvent | undefined {
    if (this.firstMs === undefined) {
      this.firstMs = nowMs - (1000 * samples) / this.statedHz;
      this.began = { ms: nowMs, samples };
      return undefined;
    }
    const { ms, samples: before } = this.began;
    if (nowMs - ms < this.windowMs) return undefined;
    const rateHz = (1000 * (samples - before)) / (nowMs - ms);
    this.began = { ms: nowMs, samples };
    if (isAbout(rateHz, this.reportedHz)) return undefined;
    const isAsStated = isAbout(rateHz, this.statedHz);
    this.reportedHz = isAsStated ? this.statedHz : rateHz;
    return { rateHz, isAsStated, lateS: (nowMs - this.firstMs) / 1000 - samples / this.statedHz };
  }
}

const isAbout = (rateHz: number, otherHz: number): boolean =>
  Math.abs(rateHz - otherHz) <= MOST_DIFFERENCE * otherHz;
