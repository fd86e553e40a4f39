/**
 * Contents of a packet capture: formats, senders, and received and lost packets. Datagrams are grouped by destination;
 * the first of each group determine the format and a plan that decodes all of them.
 */
import type { Instant } from '../core/instant.js';
import { instantOfTick } from '../core/clock/tick-clock.js';
import { endpointText } from '../packets/addresses.js';
import { guessPlan, commonFormat } from '../packets/guess-plan.js';
import type { GuessHints, PacketFormat, RefusalReason, StreamPlan } from '../packets/packet-format.js';
import { readCapture, type Capture, type CaptureEnd } from '../packets/pcap.js';
import { parseFrame, type FrameFault } from '../packets/udp.js';
import { StreamAccount, type SenderTally } from './stream-account.js';

interface CaptureOptions {
  /** For packets that do not identify their format. */
  readonly format?: PacketFormat;
  readonly hints?: GuessHints;
  readonly onProgress?: (bytesRead: number) => void;
}

/** Datagrams sent to one destination. */
export interface StreamLook {
  readonly destination: string;
  readonly senders: readonly string[];
  readonly datagrams: number;
  readonly payloadBytes: number;
  readonly firstNs: bigint;
  readonly lastNs: bigint;
  /** Undefined if no format matches. */
  readonly format?: PacketFormat;
  /** The first datagram, for identifying an unknown format. */
  readonly firstBytes: Uint8Array;
  readonly plan?: StreamPlan;
  /** What the plan infers from the packets without an explicit statement in them. */
  readonly concluded?: string;
  /** Why there is no plan, and what would help. */
  readonly unknown?: { readonly what: string; readonly fix: string };
  readonly control: number;
  readonly refused: Readonly<Record<RefusalReason, number>>;
  /** The first reasons found. */
  readonly whys: readonly string[];
  readonly tallies: readonly SenderTally[];
  /** Time of tick 0, if the packets give it and agree. */
  readonly epoch?: Instant;
  /** Times of the earliest and the latest tick, if the rate is known too. */
  readonly start?: Instant;
  readonly end?: Instant;
}

export interface CaptureLook {
  readonly kind: Capture['kind'];
  readonly bytesRead: number;
  readonly frames: number;
  readonly firstNs: bigint;
  readonly lastNs: bigint;
  readonly frameFaults: Readonly<Record<FrameFault, number>>;
  readonly streams: readonly StreamLook[];
  readonly ended?: CaptureEnd;
}

/**
 * Datagrams of one destination used for a guess, doubled after each failure; bytes of all destinations kept for this.
 */
const FIRST_SURVEYED = 2048;
const MOST_KEPT_BYTES = 2 ** 27;
const MOST_WHYS = 3;

/** Keeps a few different reasons; those that differ only in numbers count as one. */
function remember(whys: Map<string, string>, why: string): void {
  const kind = why.replaceAll(/\d+/g, '#');
  if (whys.size < MOST_WHYS && !whys.has(kind)) whys.set(kind, why);
}

class Stream {
  readonly senders = new Set<string>();
  /** Undefined once there is a plan. */
  private survey: Uint8Array[] | undefined = [];
  private surveyed = FIRST_SURVEYED;
  private format: PacketFormat | undefined;
  private decided: Pick<StreamLook, 'plan' | 'unknown' | 'concluded'> = {};
  private account: StreamAccount | undefined;
  private datagrams = 0;
  private payloadBytes = 0;
  private control = 0;
  private readonly refused = { invalid: 0, unknown_source: 0, misaligned: 0 };
  private readonly whys = new Map<string, string>();
  private lastNs: bigint;
  private readonly firstBytes: Uint8Array;

  constructor(
    private readonly destination: string,
    first: Uint8Array,
    private readonly firstNs: bigint,
    private readonly options: CaptureOptions,
  ) {
    this.lastNs = firstNs;
    this.firstBytes = first.slice(0, 16);
  }

  /** Returns the change in the number of bytes kept. */
  add(datagram: Uint8Array, unixNs: bigint): number {
    this.datagrams++;
    this.payloadBytes += datagram.length;
    if (unixNs > this.lastNs) this.lastNs = unixNs;
    if (!this.survey) {
      this.decode(datagram);
      return 0;
    }
    this.survey.push(datagram);
    if (this.survey.length < this.surveyed) return datagram.length;
    this.surveyed *= 2;
    return datagram.length - this.decide('if known');
  }

  /**
   * Looks for the format and a plan, decodes the kept datagrams, and returns how many bytes they were. An undecided
   * stream may wait: SPEAD descriptors are sent every few seconds.
   */
  decide(when: 'now' | 'if known'): number {
    const { survey } = this;
    if (!survey) return 0;
    this.format = this.options.format ?? commonFormat(survey);
    this.decided = this.format ? guessPlan(this.format, survey, this.options.hints) : {};
    if (!this.decided.plan && when !== 'now') return 0;
    if (this.decided.plan) this.account = new StreamAccount(this.decided.plan);
    this.survey = undefined;
    for (const datagram of survey) this.decode(datagram);
    return survey.reduce((sum, datagram) => sum + datagram.length, 0);
  }

  look(): StreamLook {
    this.decide('now');
    const { destination, datagrams, payloadBytes, firstNs, lastNs, format, control, refused, firstBytes } =
      this;
    const tallies = this.account?.tallies() ?? [];
    return {
      destination,
      senders: [...this.senders],
      datagrams,
      payloadBytes,
      firstNs,
      lastNs,
      firstBytes,
      format,
      ...this.decided,
      control,
      refused,
      whys: [...this.whys.values()],
      tallies,
      ...this.times(tallies),
    };
  }

  private decode(datagram: Uint8Array): void {
    const { plan } = this.decided;
    if (!this.format || !plan) return;
    const facts = this.format.decode(datagram, plan);
    if (facts === 'control') this.control++;
    else if ('refused' in facts) {
      this.refused[facts.refused]++;
      remember(this.whys, facts.why);
    } else this.account?.add(facts);
  }

  private times(tallies: readonly SenderTally[]): Pick<StreamLook, 'epoch' | 'start' | 'end'> {
    const sessions = this.account?.sessionNumbers ?? [];
    if (tallies.length === 0 || this.format?.epoch.from !== 'packet' || sessions.length > 1) return {};
    const epoch = this.format.epoch.of(sessions.at(0));
    const tickRateHz = this.decided.plan?.tickRateHz;
    if (!tickRateHz) return { epoch };
    const { first, last } = tickSpan(tallies);
    const clock = { epoch, tickRateHz };
    return { epoch, start: instantOfTick(clock, first), end: instantOfTick(clock, last) };
  }
}

/** The earliest and the latest tick of some senders. */
export function tickSpan(tallies: readonly SenderTally[]): { readonly first: bigint; readonly last: bigint } {
  return {
    first: tallies.map(({ firstTick }) => firstTick).reduce((x, y) => (x < y ? x : y)),
    last: tallies.map(({ lastTick }) => lastTick).reduce((x, y) => (x > y ? x : y)),
  };
}

/** `chunks` are the capture's bytes from the start; the caller decides whether to read all of them. */
export async function lookAtCapture(
  name: string,
  chunks: AsyncIterable<Uint8Array>,
  options: CaptureOptions = {},
): Promise<CaptureLook> {
  const capture = await readCapture(name, chunks);
  const streams = new Map<string, Stream>();
  const frameFaults = { cut: 0, fragment: 0, other: 0 };
  let frames = 0;
  let kept = 0;
  let [firstNs, lastNs] = [0n, 0n];
  for await (const records of capture.batches) {
    for (const { frame, link, unixNs } of records) {
      if (frames++ === 0) [firstNs, lastNs] = [unixNs, unixNs];
      if (unixNs < firstNs) firstNs = unixNs;
      if (unixNs > lastNs) lastNs = unixNs;
      const datagram = parseFrame(frame, link);
      if ('refused' in datagram) {
        frameFaults[datagram.refused]++;
        continue;
      }
      const destination = endpointText(datagram.destination);
      const stream = streams.get(destination) ?? new Stream(destination, datagram.payload, unixNs, options);
      streams.set(destination, stream);
      stream.senders.add(endpointText(datagram.source));
      kept += stream.add(datagram.payload, unixNs);
      if (kept > MOST_KEPT_BYTES) for (const one of streams.values()) kept -= one.decide('now');
    }
    options.onProgress?.(capture.bytesRead());
  }
  const ended = capture.ended();
  return {
    kind: capture.kind,
    bytesRead: capture.bytesRead(),
    frames,
    firstNs,
    lastNs,
    frameFaults,
    streams: [...streams.values()].map((stream) => stream.look()),
    ended,
  };
}
