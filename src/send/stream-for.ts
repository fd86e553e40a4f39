/** How a source is sent in packets of a format: the stream's plan, and the tick of its first sample. */
import { rational } from '../core/clock/rational.js';
import { instantOfTick, tickOfInstant, type TickClock } from '../core/clock/tick-clock.js';
import { refuse } from '../core/errors.js';
import { instant, secondsBetween, type Instant } from '../core/instant.js';
import type { Source } from '../core/sources.js';
import type { StreamPlan } from '../packets/packet-format.js';
import { anyPacketFormats, packetFormatNamed } from '../packets/registry.js';

export function streamFor(name: string, source: Source): StreamPlan {
  const { sends } = packetFormatNamed(name);
  if ('spectra' in sends) {
    if (source.kind !== 'spectra') throw new Error(`${name}: voltages were not channelised`);
    if (!sends.spectra.includes(source.type))
      refuse(
        name,
        `spectra of type ${source.type}`,
        `channelise to ${sends.spectra.join(' or ')} with front.bits`,
      );
    return sends.plan(source);
  }
  if (source.kind !== 'voltages') {
    const others = anyPacketFormats.filter((format) => 'spectra' in format.sends);
    refuse(
      name,
      'holds voltages, and the recording is channelised',
      `choose ${others.map((format) => format.name).join(' or ')}`,
    );
  }
  if (!sends.voltages.includes(source.type))
    refuse(name, `samples of type ${source.type}`, `record or simulate ${sends.voltages.join(' or ')}`);
  return sends.plan(source);
}

export interface FirstTick {
  readonly tick: bigint;
  readonly session?: bigint;
  /** The time of tick 0. */
  readonly epoch: Instant;
  /** How much later than its true time the first sample is marked. */
  readonly roundedS: number;
}

/** `startTick` replaces the time since the last whole second (or since the packets' epoch). */
export function firstTickOf(plan: StreamPlan, start: Instant, startTick?: bigint): FirstTick {
  const format = packetFormatNamed(plan.format);
  const tickRateHz = plan.tickRateHz ?? rational(1n);
  const slot = BigInt(plan.ticksPerSlot);
  const session = format.epoch.from === 'packet' ? format.epoch.sessionAt?.(start.unixSeconds) : undefined;
  if (startTick !== undefined) {
    if (format.epoch.from === 'packet')
      refuse(plan.format, 'its packets carry the time', 'leave --start-tick out');
    if (startTick % slot !== 0n)
      refuse('--start-tick', `${startTick} is no multiple of ${slot}`, 'packets lie on such ticks');
    const before = instantOfTick({ epoch: start, tickRateHz }, -startTick);
    return { tick: startTick, epoch: before, roundedS: 0 };
  }
  const epoch = format.epoch.from === 'packet' ? format.epoch.of(session) : instant(start.unixSeconds);
  const clock: TickClock = { epoch, tickRateHz };
  const nearest = tickOfInstant(clock, start);
  const tick = ((nearest + slot / 2n) / slot) * slot;
  return {
    tick,
    epoch,
    session,
    roundedS: secondsBetween(start, instantOfTick(clock, tick)),
  };
}
