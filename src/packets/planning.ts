/** Shared by the formats: the checks that every stream plan must pass, and how a stream to send is planned. */
import { refuse, wholeNumber } from '../core/errors.js';
import type { SpectraSource } from '../core/sources.js';
import { formatHz } from '../core/units.js';
import { bytesOfCell } from './cell.js';
import type { SpectraBand, StreamPlan } from './packet-format.js';

/** The longest payload of a UDP datagram over IPv4. */
const MOST_DATAGRAM_BYTES = 65_507;

export function checkedPlan<Names extends string>(plan: StreamPlan<Names>): StreamPlan<Names> {
  const { format, senders, sources, cell, cellBytes } = plan;
  wholeNumber(format, 'the number of senders', sources.length, 1, 2 ** 16);
  for (const source of sources) wholeNumber(format, "a sender's number", source, 0, 2 ** 48 - 1);
  const twice = sources.find((source, sender) => sources.indexOf(source) !== sender);
  if (twice !== undefined) refuse(format, `sender ${twice} is named twice`, 'name each once');
  if (senders.length !== sources.length)
    throw new Error(`${format}: ${senders.length} senders, ${sources.length} sources`);
  wholeNumber(format, 'fragments', plan.fragments, 1, 2 ** 16);
  wholeNumber(format, 'ticksPerSlot', plan.ticksPerSlot, 1, 2 ** 47);
  wholeNumber(format, 'samplesPerSlot', plan.samplesPerSlot, 1, 2 ** 31);
  wholeNumber(format, 'bytes of a cell', cellBytes, 1, MOST_DATAGRAM_BYTES);
  if (bytesOfCell(cell) !== cellBytes) {
    refuse(
      format,
      `a packet of ${cellBytes} bytes does not hold ${cell.sizes.c} channels × ${cell.sizes.t} samples × ${cell.sizes.a} inputs of ${cell.bits} bits`,
      'check how many of each a packet holds',
    );
  }
  if (plan.wrapBits < 64 && 2n ** BigInt(plan.wrapBits) % BigInt(plan.ticksPerSlot) !== 0n) {
    refuse(
      format,
      `${plan.ticksPerSlot} ticks a packet do not divide the turn of a ${plan.wrapBits}-bit clock: after it slots would lie elsewhere`,
      'give a power of two',
    );
  }
  for (const [name, value] of Object.entries<number>(plan.numbers)) {
    wholeNumber(format, name, value, -1, Number.MAX_SAFE_INTEGER);
  }
  return plan;
}

/** Fits a jumbo frame with the headers of any format. */
export const MOST_PAYLOAD = 8192;

/** The largest divisor that fits; 1 if none does. */
export function largestPart(whole: number, fits: (part: number) => boolean): number {
  const divisors: number[] = [];
  for (let part = 1; part * part <= whole; part++) if (whole % part === 0) divisors.push(part, whole / part);
  return divisors.filter(fits).reduce((most, part) => Math.max(most, part), 1);
}
export const upTo = (count: number, from = 0): number[] => Array.from({ length: count }, (_, k) => k + from);

/** The number of the first channel, in formats that count channels from 0 Hz. */
export function firstChannelOf({ frequenciesHz }: SpectraSource, format: string, widthHz: number): number {
  const first = Math.round(frequenciesHz[0] / widthHz);
  if (Math.abs(first * widthHz - frequenciesHz[0]) > 1e-3 * widthHz)
    refuse(
      format,
      `the first channel is at ${formatHz(frequenciesHz[0])}, which is no multiple of ${formatHz(widthHz)}`,
      'choose the middle of the band so that it is',
    );
  return first;
}

/** Channels numbered from 0 Hz. */
export const numberedBand = (channels: number, firstChannel: number, widthHz: number): SpectraBand => ({
  frequenciesHz: Float64Array.from({ length: channels }, (_, c) => firstChannel * widthHz + c * widthHz),
  channelWidthHz: widthHz,
});
