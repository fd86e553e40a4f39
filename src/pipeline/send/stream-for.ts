/** How a source goes into packets of a format: the stream's plan, and which tick its first sample has. */
import { rational, rationalOf } from '../../core/clock/rational.js';
import { instantOfTick, tickOfInstant, type TickClock } from '../../core/clock/tick-clock.js';
import { vdifEpochUnixSeconds } from '../../core/clock/epochs.js';
import { refuse } from '../../core/errors.js';
import { instant, secondsBetween, type Instant } from '../../core/instant.js';
import { powerOfTwoFrom } from '../../core/round-up.js';
import type { Source, SpectraSource, VoltageSource } from '../../core/sources.js';
import { formatHz } from '../../core/units.js';
import { chips, CHIPS_CHANNEL_HZ } from '../../packets/chips.js';
import { mwa } from '../../packets/mwa.js';
import type { PacketFormatName, StreamPlan } from '../../packets/packet-format.js';
import { packetFormatNamed } from '../../packets/registry.js';
import { snap2 } from '../../packets/snap2.js';
import { speadDigitiser } from '../../packets/spead/digitiser.js';
import { speadFeng } from '../../packets/spead/feng.js';
import { vdif, vdifVtp } from '../../packets/vdif/vdif.js';

const MOST_PAYLOAD = 8192;
const INPUTS_A_BOARD = 32;
const MWA_COARSE_HZ = 1_280_000;
/** As MeerKAT's. */
const HEAP_SPECTRA = 256;
const DIGITISER_SAMPLES = 4096;

const divisors = (whole: number): number[] =>
  Array.from({ length: whole }, (_, k) => k + 1).filter((part) => whole % part === 0);
const largest = (whole: number, fits: (part: number) => boolean): number =>
  divisors(whole).filter(fits).at(-1) ?? 1;
const upTo = (count: number, from = 0): number[] => Array.from({ length: count }, (_, k) => k + from);

/** What a format wants its samples to be. */
export const wantedSpectra = (name: PacketFormatName): 'ci4' | 'ci8' | undefined =>
  name === 'chips' || name === 'snap2' ? 'ci4' : name === 'spead-feng' ? 'ci8' : undefined;

function spectraOf(source: Source, name: PacketFormatName, ...types: readonly string[]): SpectraSource {
  if (source.kind !== 'spectra') throw new Error(`${name}: voltages were not channelised`);
  if (!types.includes(source.type))
    refuse(name, `spectra of type ${source.type}`, `channelise to ${types.join(' or ')} with --bits`);
  return source;
}
function voltagesOf(source: Source, name: PacketFormatName, ...types: readonly string[]): VoltageSource {
  if (source.kind !== 'voltages')
    refuse(name, 'holds voltages, and the recording is channelised', 'choose chips, snap2 or spead-feng');
  if (!types.includes(source.type))
    refuse(name, `samples of type ${source.type}`, `record or simulate ${types.join(' or ')}`);
  return source;
}

/** The number of the first channel, where a format counts them from 0 Hz. */
function firstChannelOf({ frequenciesHz }: SpectraSource, name: string, widthHz: number): number {
  const first = Math.round(frequenciesHz[0] / widthHz);
  if (Math.abs(first * widthHz - frequenciesHz[0]) > 1e-3 * widthHz)
    refuse(
      name,
      `the first channel is at ${formatHz(frequenciesHz[0])}, which is no multiple of ${formatHz(widthHz)}`,
      'choose the middle of the band so that it is',
    );
  return first;
}

export function streamFor(name: PacketFormatName, source: Source): StreamPlan {
  const { inputs, polarisations } = source;
  switch (name) {
    case 'chips': {
      const spectra = spectraOf(source, name, 'ci4');
      if (spectra.spectrumRateHz !== CHIPS_CHANNEL_HZ)
        refuse(
          name,
          `channels of ${formatHz(spectra.spectrumRateHz)}`,
          'choose --rate and --channels so that they are 25 kHz wide',
        );
      if (inputs % INPUTS_A_BOARD !== 0)
        refuse(
          name,
          `${inputs} inputs are no whole boards of 32`,
          'choose 16, 32 … stations of two polarisations',
        );
      const channels = largest(
        spectra.channels,
        (part) => part <= 255 && part * INPUTS_A_BOARD <= MOST_PAYLOAD,
      );
      return chips.plan({
        boards: upTo(inputs / INPUTS_A_BOARD, 1),
        channels,
        subbands: spectra.channels / channels,
        firstChannel: firstChannelOf(spectra, name, CHIPS_CHANNEL_HZ),
      });
    }
    case 'snap2': {
      const spectra = spectraOf(source, name, 'ci4');
      const signals = largest(inputs, (part) => part <= 64);
      return snap2.plan({
        signals: inputs,
        signalsPerPacket: signals,
        channels: spectra.channels,
        channelsPerPacket: largest(spectra.channels, (part) => part * signals <= MOST_PAYLOAD),
        firstChannel: firstChannelOf(spectra, name, spectra.spectrumRateHz),
        spectrumRateHz: rationalOf(spectra.spectrumRateHz),
      });
    }
    case 'spead-feng': {
      const spectra = spectraOf(source, name, 'ci8', 'ci4');
      const bits = spectra.type === 'ci8' ? 8 : 4;
      const ticksPerSpectrum = powerOfTwoFrom(2 * spectra.channels);
      const bytesOfChannel = (HEAP_SPECTRA * polarisations * 2 * bits) / 8;
      const channels = largest(spectra.channels, (part) => part * bytesOfChannel <= MOST_PAYLOAD);
      return speadFeng.plan({
        antennas: upTo(inputs / polarisations),
        firstChannel: 0,
        channelsPerHeap: spectra.channels,
        spectraPerHeap: HEAP_SPECTRA,
        ticksPerSpectrum,
        packetBytes: channels * bytesOfChannel,
        polarisations,
        bits,
        clockRateHz: rationalOf(spectra.spectrumRateHz * ticksPerSpectrum),
      });
    }
    case 'vdif':
    case 'vdif-vtp': {
      const { type, sampleRateHz } = voltagesOf(source, name, 'i8', 'ci8');
      const parts = type === 'ci8' ? 2 : 1;
      const samples = largest(
        sampleRateHz,
        (part) => (part * parts) % 8 === 0 && part * parts <= MOST_PAYLOAD,
      );
      return (name === 'vdif' ? vdif : vdifVtp).plan({
        threads: upTo(inputs).map((input) => ({
          station: 1 + Math.floor(input / polarisations),
          thread: input % polarisations,
        })),
        parts,
        bits: 8,
        frameBytes: 32 + samples * parts,
        sampleRateHz,
      });
    }
    case 'spead-digitiser': {
      const { sampleRateHz } = voltagesOf(source, name, 'i16', 'i8');
      return speadDigitiser.plan({
        digitisers: upTo(inputs),
        samplesPerHeap: DIGITISER_SAMPLES,
        sampleRateHz: rationalOf(sampleRateHz),
      });
    }
    case 'mwa': {
      const { sampleRateHz, centreFrequencyHz } = voltagesOf(source, name, 'ci8');
      const coarseChannel = centreFrequencyHz / MWA_COARSE_HZ;
      if (sampleRateHz !== MWA_COARSE_HZ || !Number.isInteger(coarseChannel))
        refuse(
          name,
          `${formatHz(sampleRateHz)} around ${formatHz(centreFrequencyHz)}`,
          'its coarse channels are 1.28 MHz wide, around multiples of 1.28 MHz',
        );
      return mwa.plan({ coarseChannel, inputs: upTo(inputs) });
    }
  }
}

export interface FirstTick {
  readonly tick: bigint;
  readonly session?: bigint;
  /** When tick 0 is. */
  readonly epoch: Instant;
  /** By how much the first sample is told to be later than it was. */
  readonly roundedS: number;
}

/** The session whose epoch lies just before a moment, where packets tell it. */
function sessionBefore(name: PacketFormatName, { unixSeconds }: Instant): bigint | undefined {
  if (name === 'snap2') return BigInt(unixSeconds);
  if (name !== 'vdif' && name !== 'vdif-vtp') return undefined;
  let half = 0;
  while (vdifEpochUnixSeconds(half + 1) <= unixSeconds) half++;
  return BigInt(half);
}

/** `startTick` instead of the time since the last whole second (or since what packets count from). */
export function firstTickOf(plan: StreamPlan, start: Instant, startTick?: bigint): FirstTick {
  const format = packetFormatNamed(plan.format);
  const tickRateHz = plan.tickRateHz ?? rational(1n);
  const slot = BigInt(plan.ticksPerSlot);
  const session = sessionBefore(plan.format, start);
  if (startTick !== undefined) {
    if (format.epoch.told === 'packet')
      refuse(plan.format, 'its packets tell the time', 'leave --start-tick out');
    if (startTick % slot !== 0n)
      refuse('--start-tick', `${startTick} is no multiple of ${slot}`, 'packets lie on such ticks');
    const before = instantOfTick({ epoch: start, tickRateHz }, -startTick);
    return { tick: startTick, epoch: before, roundedS: 0 };
  }
  const epoch = format.epoch.told === 'packet' ? format.epoch.of(session) : instant(start.unixSeconds);
  const clock: TickClock = { epoch, tickRateHz };
  const nearest = tickOfInstant(clock, start);
  const tick = ((nearest + slot / 2n) / slot) * slot;
  return {
    tick,
    epoch,
    ...(session === undefined ? {} : { session }),
    roundedS: secondsBetween(start, instantOfTick(clock, tick)),
  };
}
