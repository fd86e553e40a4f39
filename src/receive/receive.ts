/** Packets in, sources out: a capture or a socket, the ring that fits, and one source for each session. */
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
import type { ArrivedBlock, LaneAccount, RingAccount } from './ring.js';
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
  /** Where the packets' channel numbers do not tell it. */
  readonly band?: Band;
  /** 2 where inputs come in pairs unless said. */
  readonly polarisations?: 1 | 2;
  readonly ring?: RingOptions;
  /** The native ring where it is to be had unless said. */
  readonly by?: 'auto' | 'native' | 'typescript';
  readonly onEvent?: (event: ReceiveEvent) => void;
  /**
   * Awaited before a socket is opened, when everything is known but the packets themselves: memory is there of the
   * native ring alone.
   */
  readonly beforeListening?: (ready: ReadyToListen) => Promise<void>;
}

export interface ReadyToListen {
  readonly ring: RingPlan;
  readonly band: Band;
  readonly polarisations: 1 | 2;
  readonly memory: readonly RingMemory[];
}

/** What happened that an operator should hear of. */
export interface ReceiveEvent {
  /**
   * `session`: the senders' clocks were followed to another place. `untold`: a session is left out, its time unknown.
   * `undated`: its time is in no calendar, and it is left out. `far`: the first is over a day from the wall clock.
   */
  readonly kind: 'session' | 'untold' | 'undated' | 'far';
  readonly session: number;
  readonly startTick: bigint;
  /** Where its time is known. */
  readonly start?: Instant;
}

interface SenderAccount extends LaneAccount {
  /** By which the packets name it. */
  readonly source: number;
  readonly name: string;
}

export interface ReceiveAccount extends Omit<RingAccount, 'lanes'> {
  readonly senders: readonly SenderAccount[];
  /**
   * Of the missing cells, those of slots before a session's first packet and after its last, and of blocks that nobody
   * has taken: no loss of what was worked on.
   */
  readonly edgeCells: number;
  /** Blocks of sessions whose time nobody knew. */
  readonly untimedBlocks: number;
  /** Before the first of `packets`, of a socket that was surveyed: in no data. */
  readonly surveyed?: Surveyed;
  /** Of a socket alone. */
  readonly socket?: SocketFacts;
  readonly ring?: RingFill;
  /** Of a capture that is cut short or damaged, where whoever opened it heard of that. */
  readonly endsEarly?: CaptureEnd;
  /** Of a capture, frames that are no whole datagram, where whoever opened it heard of them. */
  readonly leftOut?: LeftOutFrames;
}

export interface Reception extends Closable {
  readonly plan: RingPlan;
  readonly description: string;
  /** One after the other; the first comes with the first block. A session that is not read to its end is passed over. */
  sessions(): AsyncIterable<LiveSource>;
  /** Hears no more: what has begun is handed on, then blocks and sessions end. */
  stop(): void;
  account(): ReceiveAccount;
  /** When a tick was, for a session that is left out since nobody knew; it begins with its next block. */
  tellEpoch(tick: bigint, time: Instant): { readonly at: Instant; readonly tick: bigint };
}

/** Packets of a socket or a capture as sources of blocks, one for each time the senders start; every packet accounted for. */
export const receivePackets = (settings: ReceiveSettings): Promise<Reception> =>
  preparing(async (closers) => {
    const { stream } = settings;
    let { epoch } = settings;
    const format = packetFormatNamed(stream.format);
    checkEpoch(format, epoch);
    const tickRateHz =
      stream.tickRateHz ??
      refuse(stream.format, 'the packets do not tell their rate', 'give it with source.rate');
    const band = knownBand(stream, settings.band);
    const polarisations = settings.polarisations ?? (stream.inputs % 2 === 0 ? 2 : 1);
    if (stream.inputs % polarisations !== 0) {
      refuse(stream.format, `${stream.inputs} inputs are no pairs`, 'say that there is one polarisation');
    }
    // A capture waits for the chain; a socket does not.
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
    /** Of the session that nobody knows the time of. */
    let waiting: { session: number; nextTick: bigint } | undefined;
    let said: Instant | undefined;
    const lost = new LostCells(cellsOf(plan));
    let pending: ArrivedBlock | undefined;
    const nextBlock = async (): Promise<ArrivedBlock | undefined> => {
      const block = pending ?? (await arrivals.next());
      pending = undefined;
      return block;
    };
    /** The next block of a session; one of another stays pending. */
    const nextOf = async (session: number): Promise<ArrivedBlock | undefined> => {
      const block = await nextBlock();
      if (block === undefined || block.session === session) return block;
      pending = block;
      return undefined;
    };
    const wasSaid = (): boolean => waiting !== undefined && said !== undefined;
    async function* sessions(): AsyncGenerator<LiveSource> {
      let lastTick: bigint | undefined;
      let before: Arrived | undefined;
      let heard = 0;
      for (let first = await nextBlock(); first; first = await nextBlock()) {
        const { session, startTick } = first;
        const epochKnown: KnownEpoch | undefined =
          said && waiting?.session === session
            ? { told: 'operator', at: said }
            : epochOf(format, epoch, tickRateHz, {
                ...{ session, startTick, epoch: first.epoch, arrivedUnixNs: first.arrivedUnixNs },
                isFirst: lastTick === undefined,
                ...(before && { before }),
              });
        const start = epochKnown && instantOfTick({ epoch: epochKnown.at, tickRateHz }, startTick);
        const known = start && isDate(start.unixSeconds) ? epochKnown : undefined;
        const isFar = (time: Instant): boolean =>
          Math.abs(secondsBetween(instantOfUnixNs(first.arrivedUnixNs), time)) > SECONDS_PER_DAY;
        if (lastTick === undefined && known && start && !('capture' in from) && isFar(start))
          settings.onEvent?.({ kind: 'far', session, startTick, start });
        // What was said holds as the start's own word did: until the clocks are set anew again.
        if (said && known) epoch = { ...epoch, told: 'operator', at: known.at };
        [waiting, said] = [undefined, undefined];
        const note = (block: ArrivedBlock): void => {
          lost.take(block);
          lastTick = block.startTick + blockTicksOf(plan);
          if (known?.told === 'operator') before = { tick: block.startTick, unixNs: block.arrivedUnixNs };
        };
        note(first);
        if (session > heard) settings.onEvent?.({ kind: 'session', session, startTick });
        heard = session;
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
          settings.onEvent?.({ kind: epochKnown ? 'undated' : 'untold', session, startTick });
          untimedBlocks++;
          first.release();
        }
        // What of this session is left; where someone says its time meanwhile, it begins.
        for (let rest = await next(); rest; rest = await next()) {
          if (wasSaid()) {
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
      tellEpoch: (tick, time) => {
        if (!waiting) {
          return refuse(
            'epoch',
            'no session waits for it: the time of what comes is known, and files hold it already',
            'end the night and begin again with source.epoch where it is wrong',
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
        said = epochAt;
        return { at, tick: waiting.nextTick };
      },
      account: () => {
        const { lanes, ...rest } = arrivals.account();
        const socket = arrivals.socket?.();
        const { surveyed } = arrivals;
        const ring = arrivals.fill?.();
        return {
          ...rest,
          senders: lanes.map((lane, n) => ({
            ...lane,
            source: stream.sources[n],
            name: format.senderName(stream.sources[n]),
          })),
          edgeCells: Math.max(0, rest.missingCells - lost.count),
          untimedBlocks,
          ...(surveyed && { surveyed }),
          ...(socket && { socket }),
          ...(ring && { ring }),
        };
      },
      close: () => closers.close(),
    };
  });

/** Of the memory that is available, for a ring of more than two seconds. */
const DEEPEN_SHARE = 0.25;

/** So much is asked of the kernel as the stream's rate needs, where nobody says otherwise. */
function withBuffer(from: PacketOrigin, stream: StreamPlan): PacketOrigin {
  const needs = needsOfStream(stream);
  return 'capture' in from || needs === undefined
    ? from
    : { receiveBufferBytes: needs.askedBufferBytes, ...from };
}

/** What cannot go well is refused before it starts. */
function checkBefore(plan: RingPlan, from: PacketOrigin): void {
  refuseAny(memoryRefusal(plan.blocks * blockBytesOf(plan), availableBytes()));
  if ('capture' in from) return;
  const { group, address, interfaceAddress } = planListening(from);
  const by = interfaceOf(networkFacts(), group ? interfaceAddress : address);
  if (by) refuseAny(mtuRefusal(datagramBytesOf(plan.stream), by));
}

/** Only once a socket is open does the kernel say what it gave. */
function checkBuffer({ from, stream }: ReceiveSettings, arrivals: Arrivals): void {
  const socket = arrivals.socket?.();
  if (!socket || 'capture' in from) return;
  refuseAny(bufferRefusal(socket.receiveBufferBytes, needsOfStream(stream), from.receiveBufferBytes));
}

/** Memory that could be had without swapping: what is free, and what the system would give up. */
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

/** The native ring where it can be had; Node's own for what that can carry. */
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

/** What Node's socket was seen to take without loss on a busy machine. */
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
