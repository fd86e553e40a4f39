/** A small stream of every format, with valid packets for any packet slot: input of the shared cases and the fuzzer. */
import { randomStream } from '../../core/random.js';
import type { ExampleStream, PacketPlace } from '../packet-format.js';
import { packetFormatNamed, packetFormats, type PacketFormatName } from '../registry.js';

export type TestStream = ExampleStream;

export const testStreams = Object.fromEntries(
  Object.entries(packetFormats).map(([name, { format }]) => [name, format.example()]),
) as Readonly<Record<PacketFormatName, TestStream>>;

export const allStreams: readonly TestStream[] = Object.values(testStreams);

/** Every packet of this many slots. */
export function placesOf({ plan, firstTick, session }: TestStream, slots: number): PacketPlace[] {
  const turn = 2n ** BigInt(plan.wrapBits);
  return Array.from(
    { length: slots },
    (_, slot) => (firstTick + BigInt(slot * plan.ticksPerSlot)) % turn,
  ).flatMap((tick) =>
    plan.sources.flatMap((_, sender) =>
      Array.from({ length: plan.fragments }, (_unused, fragment) => ({
        tick,
        sender,
        fragment,
        session,
      })),
    ),
  );
}

/** The payload of a packet: the same on every call. */
export function payloadOf({ plan }: TestStream, { tick, sender, fragment }: PacketPlace): Uint8Array {
  const random = randomStream(1, plan.format, String(tick), sender, fragment);
  return Uint8Array.from({ length: plan.cellBytes }, () => random.below(256));
}

export function soundPacket(stream: TestStream, place: PacketPlace): Uint8Array {
  return packetFormatNamed(stream.plan.format).encode(place, payloadOf(stream, place), stream.plan);
}
