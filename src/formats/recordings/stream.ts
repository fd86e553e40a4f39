/**
 * Samples from a stream: endless plain binary, [t][a], fully described by the user. The stream contains no time: the
 * arrival of its first sample is taken as its time, and the others follow at the sample rate. A second or more without
 * data is a gap: that time is missing, and the stream continues after it.
 */
import { allocateVoltages, elementsPerVoltage, voltageSizeBytes, voltagesAT } from '../../core/axes.js';
import type { VoltageBlock } from '../../core/blocks.js';
import { refuse } from '../../core/errors.js';
import { addSamples, instant, type Instant } from '../../core/instant.js';
import type { VoltageSource } from '../../core/sources.js';
import { ByteFeed } from '../io/byte-feed.js';
import type { ByteStream } from '../io/byte-stream.js';
import { bytesOf, turn, type SampleBytes } from '../io/interleave.js';
import { takeNoSamples } from './no-samples.js';
import { isUnsigned, makeSigned, signedType, type StreamType } from './unsigned.js';

export type { StreamType } from './unsigned.js';

export interface StreamDescription {
  readonly type: StreamType;
  /** Interleaved inputs per stream. */
  readonly inputs: number;
  readonly polarisations: 1 | 2;
  readonly sampleRateHz: number;
  readonly centreFrequencyHz: number;
  /** Time of the first sample; by default its arrival. */
  readonly start?: Instant;
  /** Data that arrive later than this after the previous data were sampled later; by default one second. */
  readonly quietMs?: number;
  /** Over how long the rate is measured at which samples come; by default ten seconds. */
  readonly paceMs?: number;
}

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

/**
 * The rate at which samples come, beside the stated one. A stream without times and counters shows in no other way that
 * its sender has another rate, changes it, or loses samples.
 */
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

export type StreamEvent =
  | {
      readonly kind: 'silent' | 'again' | 'ended';
      readonly stream: string;
      /** Length of the silence. */
      readonly seconds: number;
    }
  | ({ readonly kind: 'pace'; readonly stream: string } & PaceEvent);

const USUAL_QUIET_MS = 1000;

/** One stream's samples on their way into blocks. */
class Feed extends ByteFeed {
  constructor(
    stream: ByteStream,
    quietMs: number,
    private readonly onEvent: (event: StreamEvent) => void,
  ) {
    super(stream, quietMs);
  }

  get heldBytes(): number {
    return this.rest.length;
  }

  /** Waits for the end of a silence; false if it does not end. */
  async wait(beganMs: number, until: () => boolean): Promise<boolean> {
    this.onEvent({ kind: 'silent', stream: this.stream.name, seconds: (performance.now() - beganMs) / 1000 });
    while (!until()) {
      const came = await this.stream.next(this.quietMs);
      if (came === 'ended') return false;
      if (came === 'quiet') continue;
      this.hold(came);
      this.onEvent({
        kind: 'again',
        stream: this.stream.name,
        seconds: (performance.now() - beganMs) / 1000,
      });
      return true;
    }
    return false;
  }
}

export interface SampleStream extends VoltageSource {
  /** Sampling time of the bytes that arrived first: the first of them is at least this old. */
  readonly heldS: number;
  /** Ends the stream after the current block. */
  stop(): void;
}

/** Waits for the first byte of a stream, and leaves it there. */
async function untilFirst(feed: Feed, quietMs: number): Promise<void> {
  const first = new Uint8Array(1);
  for (;;) {
    const { filled, then } = await feed.fill(first, 0);
    if (filled === 1) break;
    if (then === 'ended') refuse(feed.stream.name, 'ended before its first sample', 'check what sends it');
    if (!(await feed.wait(performance.now() - quietMs, () => false)))
      refuse(feed.stream.name, 'ended before its first sample', 'check what sends it');
  }
  feed.putBack(first);
}

/** Several streams give their inputs side by side; each is counted from its own first sample. */
export async function openSampleStream(
  streams: readonly ByteStream[],
  description: StreamDescription,
  onEvent: (event: StreamEvent) => void = () => undefined,
): Promise<SampleStream> {
  const { inputs: each, sampleRateHz, polarisations, quietMs = USUAL_QUIET_MS } = description;
  const type = signedType(description.type);
  const inputs = each * streams.length;
  const sampleBytes = voltageSizeBytes(type);
  const feeds = streams.map((stream) => new Feed(stream, quietMs, onEvent));
  const state = { isStopped: false };
  // The start is known when the first bytes arrive.
  try {
    for (const feed of feeds) await untilFirst(feed, quietMs);
  } catch (error) {
    // An open connection would keep the program from ending.
    await Promise.all(streams.map((stream) => stream.close()));
    throw error;
  }
  const start = description.start ?? instant(Date.now() / 1000);
  // Samples with a stated time need not come at the rate at which they were sampled.
  const pace = description.start ? undefined : new StreamPace(sampleRateHz, description.paceMs);
  pace?.at(performance.now(), 0);
  const heldS = Math.max(...feeds.map((feed) => feed.heldBytes)) / (each * sampleBytes * sampleRateHz);

  async function* blocks(blockSamples: number): AsyncGenerator<VoltageBlock> {
    const raw = feeds.map(() => new Uint8Array(blockSamples * each * sampleBytes));
    const voltages = allocateVoltages(type, inputs, blockSamples);
    const parts = elementsPerVoltage(type);
    let next = 0;
    let ended = false;
    while (!ended && !state.isStopped) {
      const came = await Promise.all(feeds.map((feed, n) => feed.fill(raw[n], 0)));
      const silentFromMs = performance.now() - quietMs;
      const bytes = Math.min(...came.map(({ filled }) => filled));
      const samples = Math.floor(bytes / (each * sampleBytes));
      // With several streams, the others' samples during a silence belong to the time after it.
      feeds.forEach((feed, n) => {
        feed.putBack(raw[n].subarray(samples * each * sampleBytes, came[n].filled));
      });
      if (samples > 0) {
        if (isUnsigned(description.type))
          for (const one of raw) makeSigned(one.subarray(0, samples * each * sampleBytes));
        raw.forEach((one, n) => {
          turn(
            { bytes: one, first: 0, stride: each },
            { bytes: bytesOf(voltages), first: n * each * samples, stride: samples },
            { rows: samples, columns: each, sampleBytes: sampleBytes as SampleBytes },
          );
        });
        const here = voltages.subarray(0, inputs * samples * parts);
        yield {
          type,
          inputs,
          samples,
          gaps: takeNoSamples(here, { samples, inputs, partsPerSample: parts }),
          voltages: voltagesAT(here, type, inputs, samples),
          start: addSamples(start, next, sampleRateHz),
        };
        next += samples;
        const changed = pace?.at(performance.now(), next);
        if (changed) onEvent({ kind: 'pace', stream: feeds[0].stream.name, ...changed });
      }
      ended = came.some(({ then }) => then === 'ended');
      const silent = came.findIndex(({ then }) => then === 'quiet');
      if (ended || silent < 0) continue;
      ended = !(await feeds[silent].wait(silentFromMs, () => state.isStopped));
      next += Math.round(((performance.now() - silentFromMs) / 1000) * sampleRateHz);
    }
    for (const { stream } of feeds) onEvent({ kind: 'ended', stream: stream.name, seconds: 0 });
  }

  return {
    kind: 'voltages',
    type,
    inputs,
    polarisations,
    sampleRateHz,
    centreFrequencyHz: description.centreFrequencyHz,
    start,
    heldS,
    blocks,
    stop: () => {
      state.isStopped = true;
    },
    close: async () => {
      await Promise.all(streams.map((stream) => stream.close()));
    },
  };
}
