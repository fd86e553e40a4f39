/** Packets in, sources out: a capture or a socket, the matching ring, and one source per session. */
import { readFileSync } from 'node:fs';
import { freemem } from 'node:os';
import type { Closable } from '../core/closing.js';
import { preparing } from '../core/closing.js';
import { instantOfTick } from '../core/clock/tick-clock.js';
import { refuse } from '../core/errors.js';
import { secondsBetween, type Instant } from '../core/instant.js';
import { SECONDS_PER_DAY } from '../core/units.js';
import type { StreamPlan } from '../packets/packet-format.js';
import { packetFormatNamed } from '../packets/registry.js';
import type { Arrivals, RingFill, SocketFacts } from './arrivals.js';
import { knownBand, type Band } from './band.js';
import {
  checkEpoch,
  epochOf,
  epochOfTick,
  instantOfUnixNs,
  type Arrived,
  type EpochSetting,
  type KnownEpoch,
} from './epoch.js';
import { loadNative, type Absence } from '../backend/cpu/library.js';
import type { CaptureEnd } from '../packets/pcap.js';
import {
  arriveFromCapture,
  type CaptureOrigin,
  type LeftOutFrames,
  type OpenFedRing,
} from './from-capture.js';
import { arriveByDgram } from './from-dgram.js';
import { planListening, type Surveyed } from './listen.js';
import { LostCells } from './edges.js';
import { isDate } from './jumps.js';
import { liveSource, type LiveSource } from './live-source.js';
import {
  bitsPerSecond,
  blockBytesOf,
  blockTicksOf,
  cellsOf,
  planRing,
  type RingOptions,
  type RingPlan,
} from './plan.js';
import { networkFacts } from './network/facts.js';
import {
  bufferRefusal,
  datagramBytesOf,
  interfaceOf,
  memoryRefusal,
  mtuRefusal,
  needsOfStream,
  refuseAny,
} from './network/needs.js';
import { ReferenceRing } from './reference.js';
import type { ArrivedBlock, SenderCounts, RingAccount } from './ring.js';
import type { ListenOrigin } from './survey-socket.js';
import { turnCells } from './turn.js';
import { arriveByNative, type BeforeListening } from './native/arrivals.js';
import { openNativeRing, type RingMemory } from './native/native-ring.js';
import { nativeTurn } from './native/turn.js';

export type PacketOrigin = CaptureOrigin | ListenOrigin;

export interface ReceiveSettings {
  /** From the format's own `plan`, or from `guessPlan` of packets/guess-plan.ts. */
  readonly stream: StreamPlan;
  readonly from: PacketOrigin;
  readonly epoch: EpochSetting;
  /** Needed if the packets' channel numbers do not give it. */
  readonly band?: Band;
  /** By default 2 if the inputs come in pairs. */
  readonly polarisations?: 1 | 2;
  readonly ring?: RingOptions;
  /** By default the native ring where available. */
  readonly by?: 'auto' | 'native' | 'typescript';
  readonly onEvent?: (event: ReceiveEvent) => void;
  /**
   * Awaited before a socket is opened, when everything except the packets is known. Memory is listed for the native
   * ring only.
   */
  readonly beforeListening?: (ready: ReadyToListen) => Promise<void>;
}

export interface ReadyToListen {
  readonly ring: RingPlan;
  readonly band: Band;
  readonly polarisations: 1 | 2;
  readonly memory: readonly RingMemory[];
}

/** An event for the operator. */
export interface ReceiveEvent {
  /**
   * `session`: the senders' clocks jumped and were followed. `untimed`: a stream epoch is skipped because its time is
   * unknown. `undated`: a stream epoch is skipped because its time is outside the calendar. `far`: the first stream
   * epoch is over a day from the wall clock.
   */
  readonly kind: 'session' | 'untimed' | 'undated' | 'far';
  readonly session: number;
  readonly startTick: bigint;
  /** If its time is known. */
  readonly start?: Instant;
}

interface SenderAccount extends SenderCounts {
  /** The sender's ID in the packets. */
  readonly source: number;
  readonly name: string;
}

export interface ReceiveAccount extends Omit<RingAccount, 'senders'> {
  readonly senders: readonly SenderAccount[];
  /**
   * Missing packets before a stream epoch's first packet, after its last, and in blocks that were not taken: not losses
   * of the data in use.
   */
  readonly edgeCells: number;
  /** Blocks of stream epochs with unknown time. */
  readonly untimedBlocks: number;
  /** Datagrams of a surveyed socket before the first of `packets`: not in the data. */
  readonly surveyed?: Surveyed;
  /** Sockets only. */
  readonly socket?: SocketFacts;
  readonly ring?: RingFill;
  /** For a truncated or damaged capture, if the opener recorded that. */
  readonly endsEarly?: CaptureEnd;
  /** For a capture, frames that are not whole datagrams, if the opener recorded them. */
  readonly leftOut?: LeftOutFrames;
}

export interface Reception extends Closable {
  readonly plan: RingPlan;
  readonly description: string;
  /** One after the other; the first starts with the first block. The unread rest of a stream epoch is skipped. */
  sessions(): AsyncIterable<LiveSource>;
  /** Stops receiving: open blocks are delivered, then blocks and stream epochs end. */
  stop(): void;
  account(): ReceiveAccount;
  /** Whether the blocks that wait fill most of the ring; never for a capture. */
  isBehind(): boolean;
  /** Gives the time of a tick for a stream epoch skipped because its time is unknown; it begins with its next block. */
  setEpoch(tick: bigint, time: Instant): { readonly at: Instant; readonly tick: bigint };
}

/** Packets of a socket or a capture as sources, one per start of the senders' clocks; every packet is counted. */
export const receivePackets = (settings: ReceiveSettings): Promise<Reception> =>
  preparing(async (closers) => {
    const { stream } = settings;
    let { epoch } = settings;
    const format = packetFormatNamed(stream.format);
    checkEpoch(format, epoch);
    const tickRateHz =
      stream.tickRateHz ??
      refuse(stream.format, 'the packets do not carry their rate', 'give it with source.rate');
    const band = knownBand(stream, settings.band);
    const polarisations = settings.polarisations ?? (stream.inputs % 2 === 0 ? 2 : 1);
    if (stream.inputs % polarisations !== 0) {
      refuse(stream.format, `${stream.inputs} inputs are no pairs`, 'say that there is one polarisation');
    }
    // A capture waits for the pipeline; a socket does not.
    const deepenBytes = 'capture' in settings.from ? 0 : DEEPEN_SHARE * availableBytes();
    const plan = planRing(stream, { deepenBytes, ...settings.ring });
    const from = withBuffer(settings.from, stream);
    checkBefore(plan, from);
    const beforeListening = (memory: readonly RingMemory[]): Promise<void> =>
      settings.beforeListening?.({ ring: plan, band, polarisations, memory }) ?? Promise.resolve();
    const arrivals = closers.keep(await openArrivals(plan, { ...settings, from, beforeListening }));
    checkBuffer(settings, arrivals);
    const native = settings.by === 'typescript' ? undefined : nativeTurn(plan);
    const turn = native === undefined || 'what' in native ? turnCells(plan) : native;
    let untimedBlocks = 0;
    /** The stream epoch whose time is unknown. */
    let waiting: { session: number; nextTick: bigint } | undefined;
    let given: Instant | undefined;
    const lost = new LostCells(cellsOf(plan));
    let pending: ArrivedBlock | undefined;
    const nextBlock = async (): Promise<ArrivedBlock | undefined> => {
      const block = pending ?? (await arrivals.next());
      pending = undefined;
      return block;
    };
    /** The next block of a stream epoch; a block of another stream epoch stays pending. */
    const nextOf = async (session: number): Promise<ArrivedBlock | undefined> => {
      const block = await nextBlock();
      if (block === undefined || block.session === session) return block;
      pending = block;
      return undefined;
    };
    const isGiven = (): boolean => waiting !== undefined && given !== undefined;
    async function* sessions(): AsyncGenerator<LiveSource> {
      let lastTick: bigint | undefined;
      let before: Arrived | undefined;
      let reportedEpoch = 0;
      for (let first = await nextBlock(); first; first = await nextBlock()) {
        const { session, startTick } = first;
        const epochKnown: KnownEpoch | undefined =
          given && waiting?.session === session
            ? { from: 'operator', at: given }
            : epochOf(format, epoch, tickRateHz, {
                session,
                startTick,
                epoch: first.epoch,
                arrivedUnixNs: first.arrivedUnixNs,
                isFirst: lastTick === undefined,
                before,
              });
        const start = epochKnown && instantOfTick({ epoch: epochKnown.at, tickRateHz }, startTick);
        const known = start && isDate(start.unixSeconds) ? epochKnown : undefined;
        const isFar = (time: Instant): boolean =>
          Math.abs(secondsBetween(instantOfUnixNs(first.arrivedUnixNs), time)) > SECONDS_PER_DAY;
        if (lastTick === undefined && known && start && !('capture' in from) && isFar(start))
          settings.onEvent?.({ kind: 'far', session, startTick, start });
        // This time holds like one given at the start: until the clocks are reset again.
        if (given && known) epoch = { ...epoch, from: 'operator', at: known.at };
        [waiting, given] = [undefined, undefined];
        const note = (block: ArrivedBlock): void => {
          lost.take(block);
          lastTick = block.startTick + blockTicksOf(plan);
          if (known?.from === 'operator') before = { tick: block.startTick, unixNs: block.arrivedUnixNs };
        };
        note(first);
        if (session > reportedEpoch) settings.onEvent?.({ kind: 'session', session, startTick });
        reportedEpoch = session;
        const next = async (): Promise<ArrivedBlock | undefined> => {
          const block = await nextOf(session);
          if (block) note(block);
          return block;
        };
        if (known) {
          const clock = { epoch: known.at, tickRateHz };
          yield liveSource({ plan, band, polarisations, turn, first, epoch: known, clock, next });
          first.release();
        } else {
          waiting = { session, nextTick: lastTick ?? startTick };
          settings.onEvent?.({ kind: epochKnown ? 'undated' : 'untimed', session, startTick });
          untimedBlocks++;
          first.release();
        }
        // The rest of this stream epoch; if its time is given meanwhile, it begins.
        for (let rest = await next(); rest; rest = await next()) {
          if (isGiven()) {
            pending = rest;
            break;
          }
          if (waiting) waiting.nextTick = lastTick ?? startTick;
          if (!known) untimedBlocks++;
          rest.release();
        }
      }
    }
    return {
      plan,
      description: arrivals.description,
      sessions,
      stop: () => {
        arrivals.stop();
      },
      setEpoch: (tick, time) => {
        if (!waiting) {
          return refuse(
            'epoch',
            'no stream epoch waits for it: its time is known, and already in files',
            'stop and start again with source.epoch where it is wrong',
          );
        }
        const epochAt = epochOfTick(time, tick, tickRateHz);
        const at = instantOfTick({ epoch: epochAt, tickRateHz }, waiting.nextTick);
        if (!isDate(at.unixSeconds))
          refuse(
            'epoch',
            `tick ${waiting.nextTick}, the next to come, would be in no calendar`,
            'give a tick of the senders as they count now, and its time',
          );
        given = epochAt;
        return { at, tick: waiting.nextTick };
      },
      isBehind: () => arrivals.isBehind?.() ?? false,
      account: () => {
        const { senders, ...rest } = arrivals.account();
        const socket = arrivals.socket?.();
        const { surveyed } = arrivals;
        const ring = arrivals.fill?.();
        return {
          ...rest,
          senders: senders.map((sender, n) => ({
            ...sender,
            source: stream.sources[n],
            name: format.senderName(stream.sources[n]),
          })),
          edgeCells: Math.max(0, rest.missingCells - lost.count),
          untimedBlocks,
          surveyed,
          socket,
          ring,
        };
      },
      close: () => closers.close(),
    };
  });

/** Share of the available memory for a ring of more than two seconds. */
const DEEPEN_SHARE = 0.25;

/** By default requests the receive buffer that the stream's rate needs. */
function withBuffer(from: PacketOrigin, stream: StreamPlan): PacketOrigin {
  const needs = needsOfStream(stream);
  return 'capture' in from || needs === undefined
    ? from
    : { receiveBufferBytes: needs.askedBufferBytes, ...from };
}

/** Refuses settings that cannot work, before the start. */
function checkBefore(plan: RingPlan, from: PacketOrigin): void {
  refuseAny(memoryRefusal(plan.blocks * blockBytesOf(plan), availableBytes()));
  if ('capture' in from) return;
  const { group, address, interfaceAddress } = planListening(from);
  const by = interfaceOf(networkFacts(), group ? interfaceAddress : address);
  if (by) refuseAny(mtuRefusal(datagramBytesOf(plan.stream), by));
}

/** The kernel reports the granted size only after the socket is open. */
function checkBuffer({ from, stream }: ReceiveSettings, arrivals: Arrivals): void {
  const socket = arrivals.socket?.();
  if (!socket || 'capture' in from) return;
  refuseAny(bufferRefusal(socket.receiveBufferBytes, needsOfStream(stream), from.receiveBufferBytes));
}

/** Memory available without swapping: free, and reclaimable by the system. */
function availableBytes(): number {
  try {
    const kilobytes = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1];
    if (kilobytes !== undefined) return Number(kilobytes) * 1024;
  } catch {
    // Not Linux.
  }
  return freemem();
}

type OpenSettings = Pick<ReceiveSettings, 'from' | 'by'> & { readonly beforeListening?: BeforeListening };

/** The native ring where available, otherwise Node's for rates it can carry. */
export async function openArrivals(
  plan: RingPlan,
  { from, by = 'auto', beforeListening }: OpenSettings,
): Promise<Arrivals> {
  const library = loadNative();
  const absence =
    'what' in library
      ? library
      : process.platform === 'linux' || 'capture' in from
        ? undefined
        : { what: 'the native ring listens on Linux alone', fix: 'receive on a Linux machine' };
  if (by === 'native' && absence) refuse('receive', absence.what, absence.fix);
  const isNative = by === 'native' || (by === 'auto' && !absence);
  const open: OpenFedRing = (one, onChange) =>
    isNative ? openNativeRing(one, 0, onChange) : new ReferenceRing(one, onChange);
  if ('capture' in from) return arriveFromCapture(plan, from, open);
  if (isNative) return arriveByNative(plan, from, beforeListening);
  if (by === 'auto') checkNodeCanCarry(plan, absence);
  await beforeListening?.([]);
  return arriveByDgram(plan, from, open);
}

/** The measured rate of a Node socket without loss on a busy machine. */
const NODE_BITS_PER_S = 200e6;

function checkNodeCanCarry({ stream }: RingPlan, absence: Absence | undefined): void {
  const rate = bitsPerSecond(stream);
  if (rate === undefined || rate <= NODE_BITS_PER_S) return;
  refuse(
    'receive',
    `${(rate / 1e9).toFixed(2)} Gb/s without the native ring (${absence?.what ?? ''}); Node's socket takes ${NODE_BITS_PER_S / 1e6} Mb/s`,
    absence?.fix ?? 'npm run build',
  );
}
