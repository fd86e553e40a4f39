/** What a flagger took, by input, channel and time, and what it should not take unseen: bursts and sweeps. */
import type { Judgement } from './judge.js';
import { summedOf } from './judging/summed.js';
import type { KurtosisPlan } from './plan.js';

/** Something that most inputs heard: in most channels at once, or in one channel after the other. */
export interface Episode {
  readonly kind: 'everywhere' | 'sweep';
  readonly firstSpectrum: number;
  readonly endSpectrum: number;
  /** How many channels heard it, and those it began and ended with. */
  readonly channels: number;
  readonly fromChannel: number;
  readonly toChannel: number;
  readonly fate: 'kept' | 'taken';
}

/** Samples are of inputs and channels, as the counts have them. */
export interface KurtosisAccount {
  readonly windows: number;
  /** Samples that came, and were looked at: none of flagged inputs. */
  readonly samples: number;
  readonly taken: number;
  /** Of what was taken, inputs' windows above the limits (pulses) and below (carriers). */
  readonly above: number;
  readonly below: number;
  /** Inputs' windows that were too short, too weak or silent. */
  readonly unjudged: number;
  /** byInput : [a], samples of windows in which the input itself offended; byChannel : [c], samples that were taken. */
  readonly byInput: Float64Array;
  readonly byChannel: Float64Array;
  /** Samples taken in each stretch of so many spectra, from the first on. */
  readonly byTime: { readonly spectraPerStretch: number; readonly taken: readonly number[] };
  /** The first of them, and how many there were. */
  readonly episodes: readonly Episode[];
  readonly episodeCount: number;
}

const MOST_EPISODES = 32;
const MOST_STRETCHES = 256;

export class KurtosisTally {
  private windows = 0;
  private samples = 0;
  private taken = 0;
  private above = 0;
  private below = 0;
  private unjudged = 0;
  private readonly byInput: Float64Array;
  private readonly byChannel: Float64Array;
  private stretch: number;
  private byTime: number[] = [];
  private readonly episodes: Episode[] = [];
  private episodeCount = 0;
  private readonly sweep: SweepWatch;
  /** Inputs that are not left out anyway. */
  private readonly asked: number;

  constructor(private readonly plan: KurtosisPlan) {
    this.asked = plan.flaggedInputs.filter((flag) => flag === 0).length;
    this.byInput = new Float64Array(plan.inputs);
    this.byChannel = new Float64Array(plan.channels);
    this.stretch = plan.spectraPerWindow;
    this.sweep = new SweepWatch(plan, (episode) => {
      this.tell(episode);
    });
  }

  /** A block whose first spectrum has this number in the stream. */
  add(judgement: Judgement, firstSpectrum: number): void {
    const { channels, inputs, bursts, flaggedInputs } = this.plan;
    const { edges, everywhere, common } = judgement;
    const { byWindow, byChannel, byInput, above, below } = judgement.summed ?? summedOf(this.plan, judgement);
    this.unjudged += judgement.unjudged;
    this.above += above;
    this.below += below;
    for (let c = 0; c < channels; c++) this.byChannel[c] += byChannel[c];
    for (let a = 0; a < inputs; a++) this.byInput[a] += byInput[a];
    this.samples += (edges[edges.length - 1] - edges[0]) * channels * this.asked;
    judgement.presence?.places.forEach((place, n) => {
      if (flaggedInputs[place % inputs] === 0) this.samples -= judgement.presence?.lost[n] ?? 0;
    });
    let row = 0;
    for (let w = 0; w + 1 < edges.length; w++) {
      this.windows++;
      this.taken += byWindow[w];
      this.addTime(firstSpectrum + edges[w], byWindow[w]);
      const heardFrom = row;
      while (row < common.length && common[row] < (w + 1) * channels) row++;
      const range = { firstSpectrum: firstSpectrum + edges[w], endSpectrum: firstSpectrum + edges[w + 1] };
      const heard = heardFrom === row ? NOTHING : common.subarray(heardFrom, row);
      const isEverywhere = everywhere.includes(w);
      if (isEverywhere) {
        const channelOf = (n: number): number => (heard.at(n) ?? w * channels - 1) - w * channels;
        this.tell({
          ...{ kind: 'everywhere', ...range, channels: heard.length },
          ...{ fromChannel: channelOf(0), toChannel: channelOf(-1) },
          fate: bursts === 'keep' ? 'kept' : 'taken',
        });
        this.sweep.everywhere(range);
      } else this.sweep.window(range, heard, w * channels);
    }
  }

  account(): KurtosisAccount {
    this.sweep.end();
    const { windows, samples, taken, above, below, unjudged, byInput, byChannel } = this;
    const { episodes, episodeCount } = this;
    return {
      ...{ windows, samples, taken, above, below, unjudged, byInput, byChannel },
      ...{ byTime: { spectraPerStretch: this.stretch, taken: this.byTime }, episodes, episodeCount },
    };
  }

  private tell(episode: Episode): void {
    this.episodeCount++;
    if (this.episodes.length < MOST_EPISODES) this.episodes.push(episode);
  }

  /** Stretches grow longer as the stream does, so that there are never many. */
  private addTime(spectrum: number, taken: number): void {
    while (spectrum >= this.stretch * MOST_STRETCHES) {
      const pairs = Math.ceil(this.byTime.length / 2);
      this.byTime = Array.from(
        { length: pairs },
        (_, n) => this.byTime[2 * n] + (this.byTime.at(2 * n + 1) ?? 0),
      );
      this.stretch *= 2;
    }
    const at = Math.floor(spectrum / this.stretch);
    while (this.byTime.length <= at) this.byTime.push(0);
    this.byTime[at] += taken;
  }
}

const NOTHING = new Int32Array(0);

/** Windows of quiet that end a sweep, and how long one may last. */
const QUIET_WINDOWS = 4;
const LONGEST_WINDOWS = 4096;
/** A sweep passes at least so many channels and this part of all, and keeps to its way by so much. */
const LEAST_CHANNELS = 4;
const LEAST_PART = 0.2;
const LEAST_CORRELATION = 0.8;
/** A channel heard in more than this part of so many windows keeps no sweep alive. */
const CHRONIC = 0.5;
const MEMORY_WINDOWS = 8;
/** So little is lost when anything is added: 0 is the same. */
const FORGOTTEN = 1e-18;

interface Range {
  readonly firstSpectrum: number;
  readonly endSpectrum: number;
}

/**
 * A dispersed pulse is heard by most inputs in one channel after the other, and so is a drifting carrier: both are told.
 * A channel that offends most of the time is a carrier of its own, and no part of a sweep.
 */
class SweepWatch {
  private readonly hits: Float64Array;
  private readonly times: Float64Array;
  /** How often each channel was heard of late, and those of which it is not 0. */
  private readonly habit: Float64Array;
  private habitual: number[] = [];
  private readonly heard: Uint8Array;
  private windows = 0;
  private quiet = 0;
  private firstSpectrum = 0;
  private endSpectrum = 0;

  constructor(
    private readonly plan: KurtosisPlan,
    private readonly tell: (episode: Episode) => void,
  ) {
    this.hits = new Float64Array(plan.channels);
    this.times = new Float64Array(plan.channels);
    this.habit = new Float64Array(plan.channels);
    this.heard = new Uint8Array(plan.channels);
  }

  /** rows : those channels that heard something, ascending, as rows from `firstRow` on. */
  window(range: Range, rows: Int32Array, firstRow: number): void {
    let any = false;
    for (const row of rows) {
      const c = row - firstRow;
      any ||= this.habit[c] < CHRONIC;
      this.heard[c] = 1;
      if (this.habit[c] === 0) this.habitual.push(c);
    }
    this.learn();
    if (this.windows > 0 || any)
      for (const row of rows) {
        this.hits[row - firstRow]++;
        this.times[row - firstRow] += this.windows;
      }
    for (const row of rows) this.heard[row - firstRow] = 0;
    this.pass(range, any);
  }

  /** A window of which nothing is said of single channels, and nothing learnt. */
  everywhere(range: Range): void {
    this.pass(range, false);
  }

  private pass(range: Range, any: boolean): void {
    if (this.windows === 0 && !any) return;
    if (this.windows === 0) this.firstSpectrum = range.firstSpectrum;
    this.windows++;
    if (any) this.endSpectrum = range.endSpectrum;
    this.quiet = any ? 0 : this.quiet + 1;
    if (this.quiet >= QUIET_WINDOWS || this.windows >= LONGEST_WINDOWS) this.end();
  }

  private learn(): void {
    const { habit, heard, habitual } = this;
    let forgotten = 0;
    for (const c of habitual) {
      habit[c] += (heard[c] - habit[c]) / MEMORY_WINDOWS;
      if (habit[c] >= FORGOTTEN) continue;
      habit[c] = 0;
      forgotten++;
    }
    if (forgotten > 0) this.habitual = habitual.filter((c) => habit[c] !== 0);
  }

  end(): void {
    if (this.windows > 1) this.look();
    this.windows = 0;
    this.quiet = 0;
    this.hits.fill(0);
    this.times.fill(0);
  }

  private look(): void {
    const { channels } = this.plan;
    const most = Math.max(1, (this.windows - this.quiet) / 2);
    const heard: { readonly channel: number; readonly time: number }[] = [];
    for (let c = 0; c < channels; c++)
      if (this.hits[c] > 0 && this.hits[c] <= most)
        heard.push({ channel: c, time: this.times[c] / this.hits[c] });
    if (heard.length < Math.max(LEAST_CHANNELS, LEAST_PART * channels)) return;
    const way = correlation(heard);
    if (Math.abs(way) < LEAST_CORRELATION) return;
    const [low, high] = [heard[0].channel, heard[heard.length - 1].channel];
    this.tell({
      ...{ kind: 'sweep', firstSpectrum: this.firstSpectrum, endSpectrum: this.endSpectrum },
      ...{ channels: heard.length, fate: 'taken' },
      ...(way > 0 ? { fromChannel: low, toChannel: high } : { fromChannel: high, toChannel: low }),
    });
  }
}

/** Of channel and time. */
function correlation(points: readonly { readonly channel: number; readonly time: number }[]): number {
  const mean = (key: 'channel' | 'time'): number =>
    points.reduce((sum, point) => sum + point[key], 0) / points.length;
  const [channel, time] = [mean('channel'), mean('time')];
  let [cc, tt, ct] = [0, 0, 0];
  for (const point of points) {
    cc += (point.channel - channel) ** 2;
    tt += (point.time - time) ** 2;
    ct += (point.channel - channel) * (point.time - time);
  }
  return tt === 0 ? 0 : ct / Math.sqrt(cc * tt);
}
