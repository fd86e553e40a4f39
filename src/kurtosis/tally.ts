/** What a flagger flagged, by input, channel and time, and what it should report: bursts and sweeps. */
import { BURST, type Decision } from './decision.js';
import type { KurtosisPlan } from './plan.js';

/** A signal that most inputs received: in most channels at once, or in one channel after the other. */
export interface Episode {
  readonly kind: 'everywhere' | 'sweep';
  readonly firstSpectrum: number;
  readonly endSpectrum: number;
  /** How many channels received it, and the first and last. */
  readonly channels: number;
  readonly fromChannel: number;
  readonly toChannel: number;
  readonly fate: 'kept' | 'flagged';
}

/** Samples are counted per input and channel, as elsewhere. */
export interface KurtosisAccount {
  readonly windows: number;
  /** Samples that arrived and were tested: none of flagged inputs. */
  readonly samples: number;
  readonly flagged: number;
  /** Of the flagged ones, inputs' windows above the limits (pulses) and below (carriers). */
  readonly above: number;
  readonly below: number;
  /** Inputs' windows that were too short, too weak or silent. */
  readonly untested: number;
  /**
   * byInput : [a], samples of windows in which the input itself was outside its limits; byChannel : [c], flagged
   * samples.
   */
  readonly byInput: Float64Array;
  readonly byChannel: Float64Array;
  /** Samples flagged in each time range of so many spectra, from the first on. */
  readonly byTime: { readonly spectraPerRange: number; readonly flagged: readonly number[] };
  /** The first of them, and their number. */
  readonly episodes: readonly Episode[];
  readonly episodeCount: number;
}

const [MOST_EPISODES, MOST_RANGES] = [32, 256];

export class KurtosisTally {
  private readonly sums = { windows: 0, samples: 0, flagged: 0, above: 0, below: 0, untested: 0 };
  private readonly byInput: Float64Array;
  private readonly byChannel: Float64Array;
  private spectraPerRange: number;
  private byTime: number[] = [];
  private readonly episodes: Episode[] = [];
  private episodeCount = 0;
  private readonly sweep: SweepWatch;

  constructor(private readonly plan: KurtosisPlan) {
    this.byInput = new Float64Array(plan.inputs);
    this.byChannel = new Float64Array(plan.channels);
    this.spectraPerRange = plan.spectraPerWindow;
    this.sweep = new SweepWatch(plan.channels, (episode) => {
      this.addEpisode(episode);
    });
  }

  /** A block whose first spectrum has this number in the stream. */
  add(decision: Decision, firstSpectrum: number): void {
    const { sums, plan } = this;
    const { channels } = plan;
    const { edges, bursts, common, byWindow } = decision;
    for (const key of ['samples', 'above', 'below', 'untested'] as const) sums[key] += decision[key];
    for (const [c, samples] of decision.byChannel.entries()) this.byChannel[c] += samples;
    for (const [a, samples] of decision.byInput.entries()) this.byInput[a] += samples;
    let row = 0;
    for (let w = 0; w + 1 < edges.length; w++) {
      sums.windows++;
      sums.flagged += byWindow[w];
      this.addTime(firstSpectrum + edges[w], byWindow[w]);
      const found: number[] = [];
      while (row < common.length && common[row] < (w + 1) * channels)
        found.push(common[row++] - w * channels);
      const range = { firstSpectrum: firstSpectrum + edges[w], endSpectrum: firstSpectrum + edges[w + 1] };
      if (bursts[w] === 0) this.sweep.window(range, found);
      else {
        // Single channels are unknown, so the sweep detector is not updated.
        this.sweep.pass(range, false);
        const [fromChannel, toChannel] = [found.at(0) ?? -1, found.at(-1) ?? -1];
        const fate = bursts[w] === BURST && plan.bursts === 'keep' ? 'kept' : 'flagged';
        this.addEpisode({
          kind: 'everywhere',
          ...range,
          channels: found.length,
          fromChannel,
          toChannel,
          fate,
        });
      }
    }
  }

  account(): KurtosisAccount {
    this.sweep.end();
    const { sums, byInput, byChannel, episodes, episodeCount } = this;
    const byTime = { spectraPerRange: this.spectraPerRange, flagged: this.byTime };
    return { ...sums, byInput, byChannel, byTime, episodes, episodeCount };
  }

  private addEpisode(episode: Episode): void {
    this.episodeCount++;
    if (this.episodes.length < MOST_EPISODES) this.episodes.push(episode);
  }

  /** Time ranges grow with the stream, so that there are never many. */
  private addTime(spectrum: number, flagged: number): void {
    while (spectrum >= this.spectraPerRange * MOST_RANGES) {
      const { byTime } = this;
      this.byTime = byTime.flatMap((one, n) => (n % 2 === 0 ? [one + (byTime.at(n + 1) ?? 0)] : []));
      this.spectraPerRange *= 2;
    }
    const at = Math.floor(spectrum / this.spectraPerRange);
    while (this.byTime.length <= at) this.byTime.push(0);
    this.byTime[at] += flagged;
  }
}

/** Quiet windows that end a sweep, and the longest sweep. */
const [QUIET_WINDOWS, LONGEST_WINDOWS] = [4, 4096];
/** A sweep covers at least so many channels and this fraction of all, with this correlation of time and channel. */
const [LEAST_CHANNELS, LEAST_PART, LEAST_CORRELATION] = [4, 0.2, 0.8];
/** A channel flagged in more than this fraction of so many windows does not continue a sweep. */
const [CHRONIC, MEMORY_WINDOWS] = [0.5, 8];

type Range = Pick<Episode, 'firstSpectrum' | 'endSpectrum'>;

/**
 * A dispersed pulse is received by most inputs in one channel after the other, and so is a drifting carrier: both are
 * reported. A channel that is flagged most of the time is a carrier of its own, and not part of a sweep.
 */
class SweepWatch {
  private readonly hits: Float64Array;
  private readonly times: Float64Array;
  /** How often each channel was flagged recently. */
  private readonly habit: Float64Array;
  private windows = 0;
  private quiet = 0;
  private firstSpectrum = 0;
  private endSpectrum = 0;

  constructor(
    private readonly channels: number,
    private readonly onEpisode: (episode: Episode) => void,
  ) {
    [this.hits, this.times, this.habit] = Array.from({ length: 3 }, () => new Float64Array(channels));
  }

  /** found : channels in which most inputs are flagged. */
  window(range: Range, found: readonly number[]): void {
    const any = found.some((c) => this.habit[c] < CHRONIC);
    // Very small values become 0: denormal numbers would be slow.
    this.habit.forEach((part, c) => (this.habit[c] = part < 1e-9 ? 0 : part * (1 - 1 / MEMORY_WINDOWS)));
    for (const c of found) this.habit[c] += 1 / MEMORY_WINDOWS;
    if (this.windows > 0 || any)
      for (const c of found) {
        this.hits[c]++;
        this.times[c] += this.windows;
      }
    this.pass(range, any);
  }

  pass(range: Range, any: boolean): void {
    if (this.windows === 0 && !any) return;
    if (this.windows === 0) this.firstSpectrum = range.firstSpectrum;
    this.windows++;
    if (any) this.endSpectrum = range.endSpectrum;
    this.quiet = any ? 0 : this.quiet + 1;
    if (this.quiet >= QUIET_WINDOWS || this.windows >= LONGEST_WINDOWS) this.end();
  }

  end(): void {
    if (this.windows > 1) this.look();
    this.windows = this.quiet = 0;
    for (const one of [this.hits, this.times]) one.fill(0);
  }

  private look(): void {
    const most = Math.max(1, (this.windows - this.quiet) / 2);
    const found = [...this.hits.keys()].filter((c) => this.hits[c] > 0 && this.hits[c] <= most);
    if (found.length < Math.max(LEAST_CHANNELS, LEAST_PART * this.channels)) return;
    const way = correlation(
      found,
      found.map((c) => this.times[c] / this.hits[c]),
    );
    if (Math.abs(way) < LEAST_CORRELATION) return;
    const ends = [found[0], found[found.length - 1]];
    const [fromChannel, toChannel] = way > 0 ? ends : ends.reverse();
    const { firstSpectrum, endSpectrum } = this;
    const range = { firstSpectrum, endSpectrum };
    this.onEpisode({
      kind: 'sweep',
      ...range,
      channels: found.length,
      fromChannel,
      toChannel,
      fate: 'flagged',
    });
  }
}

function correlation(x: readonly number[], y: readonly number[]): number {
  const mean = (of: (n: number) => number): number => x.reduce((sum, _, n) => sum + of(n), 0) / x.length;
  const [mx, my] = [mean((n) => x[n]), mean((n) => y[n])];
  const xy = mean((n) => (x[n] - mx) * (y[n] - my));
  const yy = mean((n) => (y[n] - my) ** 2);
  return yy === 0 ? 0 : xy / Math.sqrt(mean((n) => (x[n] - mx) ** 2) * yy);
}
