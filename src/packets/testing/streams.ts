/** A small stream of every format, with sound packets of any cell: what shared cases and the fuzzer begin from. */
import { rational } from '../../core/clock/rational.js';
import { randomStream } from '../../core/random.js';
import { chips } from '../chips.js';
import { mwa } from '../mwa.js';
import type { PacketFormatName, PacketPlace, StreamPlan } from '../packet-format.js';
import { packetFormatNamed } from '../registry.js';
import { snap2 } from '../snap2.js';
import { speadDigitiser } from '../spead/digitiser.js';
import { speadFeng } from '../spead/feng.js';
import { vdif, vdifVtp, type VdifOptions } from '../vdif/vdif.js';

export interface TestStream {
  readonly plan: StreamPlan;
  /** A multiple of ticksPerSlot. */
  readonly firstTick: bigint;
  readonly session?: bigint;
}

const frames: VdifOptions = {
  threads: [
    { thread: 0, station: 0x436f },
    { thread: 3, station: 0x436f },
  ],
  channels: 2,
  parts: 2,
  bits: 8,
  frameBytes: 32 + 2 * 2 * 16,
  sampleRateHz: 16 * 1000,
};

export const testStreams: Readonly<Record<PacketFormatName, TestStream>> = {
  'spead-feng': {
    plan: speadFeng.plan({
      antennas: [0, 1, 5],
      firstChannel: 48,
      channelsPerHeap: 8,
      heaps: 2,
      spectraPerHeap: 4,
      ticksPerSpectrum: 2048,
      packetBytes: 64,
      clockRateHz: rational(1_712_000_000n),
    }),
    firstTick: 2n ** 48n - 4n * 2048n * 3n,
  },
  'spead-digitiser': {
    plan: speadDigitiser.plan({ digitisers: [0, 1, 6, 7], samplesPerHeap: 64 }),
    firstTick: 2n ** 48n - 64n * 3n,
  },
  chips: {
    plan: chips.plan({ boards: [1, 2, 4], channels: 3, firstChannel: 1128, subbands: 2 }),
    firstTick: 25_000n,
  },
  snap2: {
    plan: snap2.plan({
      signals: 12,
      signalsPerPacket: 4,
      channels: 6,
      channelsPerPacket: 3,
      firstChannel: 1000,
      spectrumRateHz: rational(196_000_000n, 8192n),
    }),
    firstTick: 9600n,
    session: 1_700_000_000n,
  },
  vdif: { plan: vdif.plan(frames), firstTick: 13_000_000n * 1000n + 998n, session: 50n },
  'vdif-vtp': { plan: vdifVtp.plan(frames), firstTick: 13_000_000n * 1000n + 998n, session: 50n },
  mwa: {
    plan: mwa.plan({ coarseChannel: 137, inputs: [22, 23, 24, 25] }),
    firstTick: 1_425_000_007n * 625n + 623n,
  },
};

export const allStreams: readonly TestStream[] = Object.values(testStreams);

/** Every cell of so many slots. */
export function placesOf({ plan, firstTick, session }: TestStream, slots: number): PacketPlace[] {
  const turn = 2n ** BigInt(plan.wrapBits);
  return Array.from(
    { length: slots },
    (_, slot) => (firstTick + BigInt(slot * plan.ticksPerSlot)) % turn,
  ).flatMap((tick) =>
    plan.sources.flatMap((_, lane) =>
      Array.from({ length: plan.fragments }, (_unused, fragment) => ({
        ...{ tick, lane, fragment },
        ...(session === undefined ? {} : { session }),
      })),
    ),
  );
}

/** The payload of a cell: the same wherever it is asked for. */
export function payloadOf({ plan }: TestStream, { tick, lane, fragment }: PacketPlace): Uint8Array {
  const random = randomStream(1, plan.format, String(tick), lane, fragment);
  return Uint8Array.from({ length: plan.cellBytes }, () => random.below(256));
}

export function soundPacket(stream: TestStream, place: PacketPlace): Uint8Array {
  return packetFormatNamed(stream.plan.format).encode(place, payloadOf(stream, place), stream.plan);
}
