/** Checks that every stream plan must pass, whatever its format. */
import { refuse, wholeNumber } from '../core/errors.js';
import { bytesOfCell } from './cell.js';
import type { StreamPlan } from './packet-format.js';

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
