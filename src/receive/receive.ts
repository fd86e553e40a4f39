/** Packets in, sources out: a capture or a socket, the ring that fits, and one source for each session. */
import type { Closable } from '../core/closing.js';
import { preparing } from '../core/closing.js';
import { refuse } from '../core/errors.js';
import type { StreamPlan } from '../packets/packet-format.js';
import { packetFormatNamed } from '../packets/registry.js';
import type { Arrivals, SocketFacts } from './arrivals.js';
import { knownBand, type Band } from './band.js';
import { checkEpoch, epochOf, type EpochSetting } from './epoch.js';
import { arriveFromCapture, type CaptureOrigin } from './from-capture.js';
import { arriveByDgram } from './from-dgram.js';
import type { ListenSettings } from './listen.js';
import { liveSource, type LiveSource } from './live-source.js';
import { blockTicksOf, planRing, type RingOptions, type RingPlan } from './plan.js';
import { ReferenceRing } from './reference.js';
import type { ArrivedBlock, LaneAccount, RingAccount } from './ring.js';
import { turnCells } from './turn.js';

export type PacketOrigin = CaptureOrigin | ListenSettings;

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
  readonly onEvent?: (event: ReceiveEvent) => void;
}

/** What happened that an operator should hear of. */
export interface ReceiveEvent {
  /** `session`: the senders' clocks were followed to another place. `untold`: a session is left out, its time unknown. */
  readonly kind: 'session' | 'untold';
  readonly session: number;
  readonly startTick: bigint;
}

export interface SenderAccount extends LaneAccount {
  /** By which the packets name it. */
  readonly source: number;
  readonly name: string;
}

export interface ReceiveAccount extends Omit<RingAccount, 'lanes'> {
  readonly senders: readonly SenderAccount[];
  /** Blocks of sessions whose time nobody knew. */
  readonly untimedBlocks: number;
  /** Of a socket alone. */
  readonly socket?: SocketFacts;
}

export interface Reception extends Closable {
  readonly plan: RingPlan;
  readonly description: string;
  /** One after the other; the first comes with the first block. A session that is not read to its end is passed over. */
  sessions(): AsyncIterable<LiveSource>;
  /** Hears no more: what has begun is handed on, then blocks and sessions end. */
  stop(): void;
  account(): ReceiveAccount;
}

export const receivePackets = (settings: ReceiveSettings): Promise<Reception> =>
  preparing(async (closers) => {
    const { stream, epoch, from } = settings;
    const format = packetFormatNamed(stream.format);
    checkEpoch(format, epoch);
    const tickRateHz =
      stream.tickRateHz ?? refuse(stream.format, 'the packets do not tell their rate', 'give it with --rate');
    const band = knownBand(stream, settings.band);
    const polarisations = settings.polarisations ?? (stream.inputs % 2 === 0 ? 2 : 1);
    if (stream.inputs % polarisations !== 0) {
      refuse(stream.format, `${stream.inputs} inputs are no pairs`, 'say that there is one polarisation');
    }
    const plan = planRing(stream, settings.ring);
    const arrivals = closers.keep(await openArrivals(plan, from));
    const turn = turnCells(plan);
    let untimedBlocks = 0;
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
    async function* sessions(): AsyncGenerator<LiveSource> {
      let lastTick: bigint | undefined;
      for (let first = await nextBlock(); first; first = await nextBlock()) {
        const { session, startTick } = first;
        const known = epochOf(format, epoch, tickRateHz, {
          ...{ session, startTick, epoch: first.epoch, arrivedUnixNs: first.arrivedUnixNs },
          ...(lastTick === undefined ? {} : { lastTick }),
        });
        const note = (block: ArrivedBlock): void => {
          lastTick = block.startTick + blockTicksOf(plan);
        };
        note(first);
        if (session > 0) settings.onEvent?.({ kind: 'session', session, startTick });
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
          settings.onEvent?.({ kind: 'untold', session, startTick });
          untimedBlocks++;
          first.release();
        }
        // What of this session is left.
        for (let rest = await next(); rest; rest = await next()) {
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
      account: () => {
        const { lanes, ...rest } = arrivals.account();
        const socket = arrivals.socket?.();
        return {
          ...rest,
          senders: lanes.map((lane, n) => ({
            ...lane,
            source: stream.sources[n],
            name: format.senderName(stream.sources[n]),
          })),
          untimedBlocks,
          ...(socket && { socket }),
        };
      },
      close: () => closers.close(),
    };
  });

function openArrivals(plan: RingPlan, from: PacketOrigin): Promise<Arrivals> {
  const open = (one: RingPlan, onChange: () => void): ReferenceRing => new ReferenceRing(one, onChange);
  return 'capture' in from
    ? Promise.resolve(arriveFromCapture(plan, from, open))
    : arriveByDgram(plan, from, open);
}
