/**
 * A KrakenSDR as a source of voltages. Frames are on one sample grid: those of version 1 by their counter, those of
 * version 2 one after the other. Frames without antenna signal (noise source, test pattern, another tuning,
 * unsynchronised channels) and lost frames are missing.
 */
import { voltagesAT } from '../../../core/axes.js';
import type { VoltageBlock } from '../../../core/blocks.js';
import { nothingToClose } from '../../../core/closing.js';
import { refuse } from '../../../core/errors.js';
import {
  addSamples,
  addSeconds,
  formatInstant,
  instant,
  secondsBetween,
  type Instant,
} from '../../../core/instant.js';
import type { VoltageSource } from '../../../core/sources.js';
import { formatHz, formatSeconds } from '../../../core/units.js';
import { takeNoSamples } from '../../recordings/no-samples.js';
import { KrakenClient, type ClientEvent, type KrakenAddress } from './client.js';
import type { FrameKind, KrakenFrame } from './frame.js';

export interface KrakenOptions {
  readonly address: KrakenAddress;
  readonly polarisations: 1 | 2;
  /** The user's description of the stream; version 2 needs the rate. */
  readonly inputs?: number;
  readonly sampleRateHz?: number;
  readonly frequencyHz?: number;
  /** Time of the first sample. */
  readonly start?: Instant;
  readonly say: (line: string) => void;
  /** Frames with the noise source on; 'off' when it ends. */
  readonly onNoise: (frame: KrakenFrame | 'off', at: Instant) => void;
}

/** Every frame is in one of these counts. */
export interface KrakenAccount {
  readonly version: 1 | 2;
  connections: number;
  /** Complete frames, by content. */
  readonly frames: Record<FrameKind, number>;
  /** Data in use: frames, and samples of each input. */
  usedFrames: number;
  usedSamples: number;
  /** Data frames that were not used, by reason. */
  unsynchronisedFrames: number;
  retunedFrames: number;
  /** From version 1's counter: lost frames, and those with damaged headers. Undefined if loss cannot be detected. */
  skippedFrames: number | undefined;
  damagedHeaders: number;
  cutFrames: number;
  /** Complete frames that contradict themselves or those before them; their samples are missing. */
  invalidFrames: number;
  /** overdriven : [a], data frames in which a channel's converter clipped. */
  overdrivenFrames: number[];
  retunings: number;
  /** How often the frame counter restarted. */
  restarts: number;
  /** Time of the first used sample, and its uncertainty. */
  start?: Instant;
  startUncertaintyS?: number;
  /** Version 2: how much longer the run lasted by the wall clock than by its samples. */
  behindClockS?: number;
}

const COUNTS = 2 ** 32;
/** A jump of the counter may differ from the receiver's clock by this much. */
const CLOCK_S = 10;
/** 2100-01-01: later times are invalid. */
const LATEST_S = 4_102_444_800;
/** Relative float32 precision of version 2's frequencies. */
const FLOAT_STEP = 1e-7;

interface Shape {
  readonly inputs: number;
  readonly sampleRateHz: number;
  readonly frequencyHz: number;
}

/** A used frame and its position. */
interface Placed {
  readonly frame: KrakenFrame;
  /** Changes when samples can no longer be counted from the previous ones. */
  readonly epoch: number;
  /** Of the first sample, counted within the epoch. */
  readonly sample: number;
}

export class KrakenStream {
  readonly account: KrakenAccount;
  private readonly client: KrakenClient;
  private readonly name: string;
  private shape: Shape | undefined;
  private epoch = 0;
  private frameSamples: number | undefined;
  private last: KrakenFrame | undefined;
  /** Counter of the first frame of the epoch; for version 2, samples so far. */
  private firstIndex: number | undefined;
  private nextSample = 0;
  /** The first used frame's time, and the wall clock then. */
  private firstTime: Instant | undefined;
  private firstArrivedMs: number | undefined;
  private isCut = false;
  private isSilent = false;
  /** The latest frame that departs from those before it; what a second one confirms is a change of the receiver. */
  private departed: KrakenFrame | undefined;
  private isStopped = false;
  private readonly state = { noise: false, synchronised: true, tuned: true, skipped: 0, changes: 0 };
  private wereOverdriven = 0;

  constructor(private readonly options: KrakenOptions) {
    const { host, port, version } = options.address;
    this.name = `KrakenSDR at ${host}:${port}`;
    this.client = new KrakenClient(options.address, (event) => {
      this.connectionEvent(event);
    });
    this.account = {
      version,
      connections: 0,
      frames: { data: 0, dummy: 0, ramp: 0, calibration: 0, 'trigger-wait': 0, empty: 0 },
      usedFrames: 0,
      usedSamples: 0,
      unsynchronisedFrames: 0,
      retunedFrames: 0,
      skippedFrames: version === 1 ? 0 : undefined,
      damagedHeaders: 0,
      cutFrames: 0,
      invalidFrames: 0,
      overdrivenFrames: [],
      retunings: 0,
      restarts: 0,
    };
  }

  stop(): void {
    this.isStopped = true;
    void this.client.stop();
  }

  async close(): Promise<void> {
    this.isStopped = true;
    await this.client.stop();
  }

  /** One source for each period of continuous counting. */
  async *sources(): AsyncGenerator<VoltageSource> {
    const frames = this.placed();
    const next = async (): Promise<Placed | undefined> => {
      const step: IteratorResult<Placed, undefined> = await frames.next();
      return step.value;
    };
    let first = await next();
    while (first) {
      const { epoch, frame } = first;
      const begun = first;
      const shape = this.known();
      const origin = this.startOf(frame);
      // Positions are relative to the first used frame.
      const base = begun.sample;
      let following: Placed | undefined;
      async function* blocks(blockSamples: number): AsyncGenerator<VoltageBlock> {
        for (let at: Placed | undefined = begun; at; at = await next()) {
          if (at.epoch !== epoch) {
            following = at;
            return;
          }
          yield* piecesOf(at.frame, blockSamples, (sample) =>
            addSamples(origin, at.sample - base + sample, shape.sampleRateHz),
          );
        }
      }
      yield {
        kind: 'voltages',
        type: this.account.version === 1 ? 'cf32' : 'ci8',
        inputs: shape.inputs,
        polarisations: this.options.polarisations,
        sampleRateHz: shape.sampleRateHz,
        centreFrequencyHz: shape.frequencyHz,
        start: origin,
        blocks,
        close: nothingToClose,
      };
      first = following;
    }
  }

  /** Valid after the first used frame. */
  private known(): Shape {
    if (!this.shape) throw new Error('no frame was used yet');
    return this.shape;
  }

  /** The time of an epoch's first sample. */
  private startOf(frame: KrakenFrame): Instant {
    const { say, start: given } = this.options;
    const { sampleRateHz } = this.known();
    const frameS = frame.samples / sampleRateHz;
    const arrived = instant(Math.floor(frame.arrivedMs / 1000), (frame.arrivedMs % 1000) / 1000);
    const measured = frame.time ?? addSeconds(arrived, -frameS);
    let start = measured;
    if (given !== undefined)
      start =
        this.firstTime === undefined ? given : addSeconds(given, secondsBetween(this.firstTime, measured));
    if (this.account.start === undefined) {
      this.account.start = start;
      this.account.startUncertaintyS = given === undefined ? frameS : 0;
      if (given === undefined)
        say(
          `the first sample was taken at ${formatInstant(start, 3)} by ${frame.time ? "the receiver's clock" : 'its arrival'}, to about ${formatSeconds(frameS)} (a frame), and the error of the receiver's clock; source.start gives it exactly`,
        );
    }
    this.firstTime ??= measured;
    this.firstArrivedMs ??= frame.arrivedMs;
    return start;
  }

  private connectionEvent(event: ClientEvent): void {
    const { say } = this.options;
    switch (event.kind) {
      case 'waiting':
        say(`${this.name}: no answer; trying again every second`);
        break;
      case 'connected':
        this.account.connections++;
        if (this.account.connections > 1) say(`${this.name}: connected again`);
        break;
      case 'silent':
        this.isSilent = true;
        say(`${this.name}: no data; waiting. It serves one client at a time`);
        break;
      case 'cut':
        this.isCut = true;
        if (event.within === 'frame') this.account.cutFrames++;
        say(
          `${this.name}: the connection ended${event.within === 'frame' ? ' within a frame' : ''}; connecting again`,
        );
        break;
      case 'damaged':
        if (this.account.damagedHeaders++ === 0)
          say(`${this.name}: a header without its sync word; ${event.bytes} bytes skipped`);
        break;
    }
  }

  private async *placed(): AsyncGenerator<Placed, undefined> {
    for await (const frame of this.client.frames()) {
      if (this.isStopped) return undefined;
      this.account.frames[frame.kind]++;
      const fault = this.faultOf(frame);
      if (fault !== undefined) {
        if (this.account.invalidFrames++ === 0)
          this.options.say(`${this.name}: a frame ${fault}; such frames are left out and counted`);
        continue;
      }
      this.checkShape(frame);
      const sample = this.placeOf(frame);
      if (!this.isUsed(frame)) continue;
      this.account.usedFrames++;
      this.account.usedSamples += frame.samples;
      yield { frame, epoch: this.epoch, sample };
      if (this.account.version === 2 && this.firstArrivedMs !== undefined && this.shape)
        this.account.behindClockS =
          (frame.arrivedMs - this.firstArrivedMs) / 1000 - (sample + frame.samples) / this.shape.sampleRateHz;
    }
  }

  /** Why a frame is not used; undefined for a good one. Another shape or count is one when the next frame confirms it. */
  private faultOf(frame: KrakenFrame): string | undefined {
    const { shape, last, departed } = this;
    const isSampled = frame.kind === 'data' || frame.kind === 'calibration';
    if (frame.time && frame.time.unixSeconds > LATEST_S) return 'has an impossible time';
    if (isSampled && frame.samples === 0) return 'has no samples';
    if (isSampled && !(frame.frequencyHz >= 0 && frame.frequencyHz < Infinity)) return 'has no frequency';
    if (isSampled && frame.sampleRateHz === 0) return 'has a sample rate of 0 Hz';
    const isOther =
      isSampled &&
      shape !== undefined &&
      (frame.channels !== shape.inputs ||
        (frame.sampleRateHz !== undefined && frame.sampleRateHz !== shape.sampleRateHz));
    const isElsewhere = last !== undefined && !this.isCut && this.restartOf(frame, last) !== undefined;
    this.departed = isOther || isElsewhere ? { ...frame, voltages: new Int8Array(0) } : undefined;
    if (!this.departed || (departed && follows(frame, departed))) return undefined;
    return isOther ? 'has another shape than those before it' : 'is out of order';
  }

  /** Checks what must not change during a run. */
  private checkShape(frame: KrakenFrame): void {
    if (frame.kind !== 'data' && frame.kind !== 'calibration') return;
    const { options, shape } = this;
    if (!shape) {
      const sampleRateHz =
        frame.sampleRateHz ??
        options.sampleRateHz ??
        refuse(this.name, 'version 2 does not carry the sample rate', 'give source.rate');
      const near =
        Math.abs(frame.frequencyHz - (options.frequencyHz ?? NaN)) <= FLOAT_STEP * frame.frequencyHz;
      const isRounded = this.account.version === 2;
      const frequencyHz =
        isRounded && near && options.frequencyHz !== undefined ? options.frequencyHz : frame.frequencyHz;
      const pairs = [
        ['source.inputs', options.inputs, frame.channels, String],
        ['source.rate', options.sampleRateHz, sampleRateHz, formatHz],
        ['source.frequency', options.frequencyHz, frequencyHz, formatHz],
      ] as const;
      for (const [field, given, own, words] of pairs)
        if (given !== undefined && given !== own)
          refuse(
            field,
            `is ${words(given)}, where the receiver has ${words(own)}`,
            'leave it out, or set the receiver',
          );
      this.shape = { inputs: frame.channels, sampleRateHz, frequencyHz };
      this.account.overdrivenFrames = new Array<number>(frame.channels).fill(0);
      return;
    }
    const changed = 'begin a new run for it; what was written is whole';
    if (frame.channels !== shape.inputs)
      refuse(this.name, `changed from ${shape.inputs} channels to ${frame.channels}`, changed);
    if (frame.sampleRateHz !== undefined && frame.sampleRateHz !== shape.sampleRateHz)
      refuse(
        this.name,
        `changed its sample rate from ${formatHz(shape.sampleRateHz)} to ${formatHz(frame.sampleRateHz)}`,
        changed,
      );
  }

  /** Counts skipped frames; returns the position of its first sample in the epoch. */
  private placeOf(frame: KrakenFrame): number {
    const { last } = this;
    this.last = { ...frame, voltages: new Int8Array(0) };
    return frame.index === undefined
      ? this.placeByArrival(frame, last)
      : this.placeByCount(frame, frame.index, last);
  }

  private placeByCount(frame: KrakenFrame, index: number, last: KrakenFrame | undefined): number {
    const { account } = this;
    const ahead = aheadOf(index, last);
    const restart = last ? this.restartOf(frame, last) : undefined;
    if (restart !== undefined) {
      this.options.say(
        `${this.name}: ${restart}; samples are counted anew, and phases must be calibrated again`,
      );
      account.restarts++;
      this.epoch++;
      this.firstIndex = undefined;
    } else if (ahead > 0) {
      if (account.skippedFrames === 0)
        this.options.say(
          `${this.name}: ${ahead} frame${ahead === 1 ? '' : 's'} skipped; samples of skipped frames are missing`,
        );
      account.skippedFrames = (account.skippedFrames ?? 0) + ahead;
    }
    this.isCut = false;
    if (frame.samples > 0) this.frameSamples = frame.samples;
    this.firstIndex ??= index;
    return ((index - this.firstIndex + COUNTS) % COUNTS) * (this.frameSamples ?? 0);
  }

  /** Why counting cannot continue; undefined if it can. */
  private restartOf(frame: KrakenFrame, last: KrakenFrame): string | undefined {
    if (frame.index === undefined) return undefined;
    const { shape } = this;
    const ahead = aheadOf(frame.index, last);
    const frameS =
      shape && this.frameSamples !== undefined ? this.frameSamples / shape.sampleRateHz : undefined;
    if (ahead >= COUNTS / 2) return 'its frame counter decreased';
    if (frame.samples > 0 && this.frameSamples !== undefined && frame.samples !== this.frameSamples)
      return `its frames changed from ${this.frameSamples} samples to ${frame.samples}`;
    if (frameS === undefined || (ahead === 0 && !this.isCut)) return undefined;
    const clockS =
      frame.time && last.time
        ? secondsBetween(last.time, frame.time)
        : (frame.arrivedMs - last.arrivedMs) / 1000;
    const countedS = (ahead + 1) * frameS;
    if (countedS - clockS > CLOCK_S) return 'its frame counter ran ahead of its clock';
    return this.isCut && clockS - countedS > CLOCK_S
      ? 'its frame counter stopped while its clock ran'
      : undefined;
  }

  private placeByArrival(frame: KrakenFrame, last: KrakenFrame | undefined): number {
    const rateHz = this.shape?.sampleRateHz ?? 1;
    const skipped = frame.skippedSamples ?? 0;
    const waitedS = last ? (frame.arrivedMs - last.arrivedMs) / 1000 : 0;
    const isSilent = this.isSilent || this.isCut;
    this.isSilent = false;
    // After a silence samples are counted by the clock.
    const missing = isSilent ? Math.max(skipped, Math.round(waitedS * rateHz) - frame.samples) : skipped;
    if (isSilent && missing > 0)
      this.options.say(
        `${this.name}: samples again after ${formatSeconds(waitedS)}, counted as missing by the clock`,
      );
    this.isCut = false;
    const place = this.nextSample + missing;
    this.nextSample = place + frame.samples;
    return place;
  }

  /** Reports changes. */
  private isUsed(frame: KrakenFrame): boolean {
    const { account, options, state, shape } = this;
    const { say } = options;
    const at = frame.time ?? instant(Math.floor(frame.arrivedMs / 1000), (frame.arrivedMs % 1000) / 1000);
    const utc = formatInstant(at, 3);
    const isNoise = frame.kind === 'calibration';
    if (isNoise !== state.noise && (isNoise || frame.kind === 'data')) {
      if (!isNoise) options.onNoise('off', at);
      state.noise = isNoise;
    }
    if (shape && frame.samples + frame.frequencyHz > 0) this.seeTuning(frame, utc);
    if (isNoise) options.onNoise(frame, at);
    if (frame.kind !== 'data' || !shape) return false;
    const newly = frame.overdriven & ~this.wereOverdriven;
    if (newly !== 0)
      say(
        `${this.name}: overdriven from ${utc}: channel ${channelsOf(newly).join(', ')}; lower the gain, clipped samples are not what the antennas received`,
      );
    this.wereOverdriven |= frame.overdriven;
    for (const a of channelsOf(frame.overdriven)) if (a < shape.inputs) account.overdrivenFrames[a]++;
    if (!state.tuned || frame.isRetuning) {
      account.retunedFrames++;
      return false;
    }
    if (frame.isSynchronised !== state.synchronised)
      say(
        frame.isSynchronised
          ? `${this.name}: synchronised again at ${utc}; phases between channels may be others than before: calibrate again`
          : `${this.name}: channels are not synchronised from ${utc} on; their samples are left out`,
      );
    state.synchronised = frame.isSynchronised;
    if (!frame.isSynchronised) account.unsynchronisedFrames++;
    return frame.isSynchronised;
  }

  private seeTuning(frame: KrakenFrame, utc: string): void {
    const { account, options, state } = this;
    const { frequencyHz } = this.known();
    const tolerance = account.version === 2 ? FLOAT_STEP * frequencyHz : 0;
    const tuned = Math.abs(frame.frequencyHz - frequencyHz) <= tolerance;
    const changed = frame.changes !== undefined && account.usedFrames > 0 && frame.changes !== state.changes;
    state.changes = frame.changes ?? 0;
    if (tuned === state.tuned && !changed) return;
    state.tuned = tuned;
    account.retunings++;
    options.say(
      tuned
        ? `${this.name}: tuned to ${formatHz(frequencyHz)} again at ${utc}; retuning lost the coherence of the channels: calibrate again`
        : `${this.name}: retuned to ${formatHz(frame.frequencyHz)} at ${utc}; its samples are left out until it is tuned to ${formatHz(frequencyHz)} again`,
    );
  }
}

/** Frames that the receiver's counter skipped since the last one. */
const aheadOf = (index: number, last: KrakenFrame | undefined): number =>
  last?.index === undefined ? 0 : (index - last.index - 1 + COUNTS) % COUNTS;

/** Whether the second of two frames is of the same shape and count as the first. */
const follows = (frame: KrakenFrame, before: KrakenFrame): boolean =>
  frame.channels === before.channels &&
  frame.sampleRateHz === before.sampleRateHz &&
  frame.samples === before.samples &&
  (frame.index === undefined || aheadOf(frame.index, before) === 0);

const channelsOf = (mask: number): number[] =>
  Array.from({ length: 32 }, (_, a) => a).filter((a) => ((mask >>> a) & 1) === 1);

/** A frame in blocks of limited length. */
function* piecesOf(
  frame: KrakenFrame,
  blockSamples: number,
  startOf: (sample: number) => Instant,
): Generator<VoltageBlock> {
  const { channels: inputs, samples, voltages } = frame;
  const type = voltages instanceof Float32Array ? 'cf32' : 'ci8';
  const most = Math.min(blockSamples, samples);
  const part = most === samples ? voltages : voltages.slice(0, 2 * inputs * most);
  for (let first = 0; first < samples; first += most) {
    const count = Math.min(most, samples - first);
    const here = part.subarray(0, 2 * inputs * count);
    if (part !== voltages)
      for (let a = 0; a < inputs; a++)
        here.set(
          voltages.subarray(2 * (a * samples + first), 2 * (a * samples + first + count)),
          2 * a * count,
        );
    yield {
      type,
      inputs,
      samples: count,
      gaps: takeNoSamples(here, { samples: count, inputs, partsPerSample: 2 }),
      voltages: voltagesAT(here, type, inputs, count),
      start: startOf(first),
    };
  }
}
